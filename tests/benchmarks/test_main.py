# SPDX-License-Identifier: Apache-2.0
"""The command line measures and keeps what it found; the page shows what is kept."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import __main__ as command
from tests.architecture.repository import ROOT
from tests.docs.pages import DOCS, read

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

PAGE = DOCS / "performance.md"
KEPT = ROOT / "benchmarks" / "results.json"


def kept() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(KEPT.read_text("utf-8"))
    return found


def test_without_mnist_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FEDLEARN_EDU_DATA", str(tmp_path))
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    assert command.main(["--out", str(tmp_path)]) == 2
    assert "FEDLEARN_EDU_DATA" in capsys.readouterr().err


@pytest.mark.parametrize("less", [["--quick"], ["--only", "W1"], ["--data", "digits"]])
def test_only_a_whole_run_is_committed(less: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        command.main(["--write", *less])
    assert stopped.value.code == 2


@pytest.mark.parametrize("right", [True, False])
def test_whole_run_is_written_if_all_rows_are_right(
    right: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results, page, record = kept(), tmp_path / "page.md", tmp_path / "kept.json"
    for entry in results["workloads"]["W7"]["rows"].values():
        entry["right"] = right
    page.write_text(read(PAGE).replace("(1.00)", "old"), encoding="utf-8")
    monkeypatch.setattr(command, "_PAGE", page)
    monkeypatch.setattr(command, "_RESULTS", record)
    monkeypatch.setattr(command, "run", lambda *_, **__: results)
    assert command.main(["--write", "--out", str(tmp_path)]) == (0 if right else 1)
    assert json.loads(read(tmp_path / "results.json")) == results
    assert record.exists() == right
    assert (page.read_text(encoding="utf-8") == read(PAGE)) == right


def test_page_shows_the_kept_results_and_all_options() -> None:
    from benchmarks.learning.page import figures, written
    from benchmarks.report import put_into, report, wrong_rows

    page, results = read(PAGE), kept()
    assert (results["data"], results["quick"]) == ("mnist", False)
    assert wrong_rows(results["workloads"]) == []
    assert page == put_into(page, report(results)), "--write writes both"
    learned = json.loads(read(ROOT / "benchmarks" / "learning" / "results.json"))
    assert page == written(page, learned)
    assert [what for what, reached in figures(learned) if not reached] == []
    learned["paper"]["IID"][0] = None
    assert [r for _, r in figures(learned)].count(False) == 1
    for action in command._build_parser()._actions:
        assert action.dest in {"help", "out"} or f"`{action.option_strings[0]}" in page
