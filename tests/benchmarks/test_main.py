# SPDX-License-Identifier: Apache-2.0
"""The command line measures, keeps what it found, and answers for wrong rows."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import main

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

QUICK = ["--quick", "--data", "digits", "--only", "W3", "--out"]


@pytest.mark.thorough
def test_one_workload_is_measured_and_kept(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([*QUICK, str(tmp_path / "new")]) == 0
    printed = capfd.readouterr()
    assert printed.err == ""
    assert "| W3, placed ÷ two threads by hand |" in printed.out
    kept = json.loads((tmp_path / "new" / "results.json").read_text(encoding="utf-8"))
    assert list(kept["tables"]) == ["W3"]
    for row in kept["tables"]["W3"]["rows"].values():
        assert row["losses"] == pytest.approx(
            kept["tables"]["W3"]["expected"], rel=1e-4
        )
        assert "train_s" in row
    assert (tmp_path / "new" / "report.md").read_text(encoding="utf-8") == printed.out
    picture = (tmp_path / "new" / "performance.png").read_bytes()
    assert picture.startswith(b"\x89PNG")


def test_wrong_rows_end_in_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from benchmarks import suite
    from tests.benchmarks.results import made_up

    def run(*_: Any, **__: Any) -> dict[str, Any]:
        results = made_up(lambda _table, _key: 1.0)
        results["growth"][0]["right"] = False
        return results

    monkeypatch.setattr(suite, "run", run)
    assert main([*QUICK, str(tmp_path)]) == 1
    assert capsys.readouterr().err == "wrong: W5: 10 clients\n"


def test_without_mnist_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FEDLEARN_EDU_DATA", str(tmp_path))
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    assert main(["--out", str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert "FEDLEARN_EDU_DATA" in printed.err
    assert printed.out == ""


@pytest.mark.parametrize("less", [["--quick"], ["--only", "W1"], ["--data", "digits"]])
def test_only_a_whole_run_is_committed(
    less: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--write", *less])
    assert stopped.value.code == 2
    assert "a whole run on MNIST" in capsys.readouterr().err


def test_whole_run_writes_what_is_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks import __main__ as command
    from benchmarks import suite
    from benchmarks.report import END, START
    from tests.benchmarks.results import made_up

    page, picture = tmp_path / "page.md", tmp_path / "images" / "picture.png"
    page.write_text(f"before {START} {END} after", encoding="utf-8")
    monkeypatch.setattr(command, "_PAGE", page)
    monkeypatch.setattr(command, "_PICTURE", picture)
    monkeypatch.setattr(command, "_RESULTS", tmp_path / "kept.json")
    results = made_up(lambda _table, _key: 1.0)
    monkeypatch.setattr(suite, "run", lambda *_, **__: results)
    assert main(["--write", "--out", str(tmp_path / "out")]) == 0
    assert "figure to reach" in page.read_text(encoding="utf-8")
    assert json.loads((tmp_path / "kept.json").read_text(encoding="utf-8")) == results
    assert picture.exists()
