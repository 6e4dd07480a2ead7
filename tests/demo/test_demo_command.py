# SPDX-License-Identifier: Apache-2.0
"""`python -m fedlearn_edu demo`: what it says, writes and refuses."""

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from fedlearn_edu.__main__ import main
from tests.patience import PATIENCE_S

PICTURES = ("clients.png", "curves.png", "templates.png")


@pytest.mark.tensorflow
@pytest.mark.parametrize("below", ["", "deeper/still"])
def test_file_instead_of_folder_is_refused_before_anything_runs(
    tmp_path: Path, below: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "occupied"
    file.write_text("mine")
    assert main(["demo", "--data", "digits28", "--out", str(file / below)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert f"no folder for the pictures can be made at {file}" in printed.err
    assert "choose another place with --out" in printed.err
    assert file.read_text() == "mine"


@pytest.mark.tensorflow
@pytest.mark.slow
def test_demo_reports_a_run_and_saves_the_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "folder"
    status = main(["demo", "--data", "digits28", "--rounds", "2", "--out", str(out)])
    printed = capsys.readouterr()
    assert status == 0
    assert printed.err == ""
    text = printed.out
    assert "digits28" in text
    assert "2.302585" in text
    assert re.search(r"^ +2 +0\.0900 +21\.3269\d\d +77\.0% +80\.0% ", text, re.M)
    assert re.search(r"all clients, test images +loss +6\.907755 ", text)
    assert re.search(r"^   client 5 +loss +0\.0646\d\d +accuracy 100\.0%", text, re.M)
    assert re.search(
        r"^   all clients +loss +61\.309\d\d\d +accuracy +10\.0%", text, re.M
    )
    assert "from 44.4% of the 1s to 100.0% of the 0s" in " ".join(text.split())
    assert "published" not in text
    assert sorted(path.name for path in out.iterdir()) == list(PICTURES)
    for name in PICTURES:
        assert str(out / name) in text
        with Image.open(out / name) as image:
            assert image.width == 1500
            assert image.info["Description"]
    told = [line for line in text.splitlines() if str(out) not in line]
    assert max(map(len, told)) <= 80
    sentences = text.rsplit("templates.png", 1)[1].split()
    assert sum(word.endswith(".") for word in sentences) == 3


@pytest.mark.tensorflow
@pytest.mark.slow
def test_mnist_reproduces_the_published_numbers(
    tmp_path: Path,
    mnist_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("FEDLEARN_EDU_DATA", str(mnist_folder))
    arguments = ["demo", "--data", "mnist", "--rounds", "5", "--out", str(tmp_path)]
    assert main(arguments) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "\nreproduced: the largest difference is" in printed.out
    table = printed.out.split("rel. difference\n")[1].split("\nreproduced")[0]
    rows = [line.split() for line in table.splitlines()]
    assert len(rows) == 18
    for *_, published, ours, difference in rows:
        assert float(ours) == pytest.approx(float(published), rel=2e-5)
        assert float(difference) <= 1e-5


@pytest.mark.tensorflow
@pytest.mark.slow
def test_run_in_a_terminal_shows_progress_and_repeats_its_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    termios = pytest.importorskip("termios")
    arguments = ["demo", "--data", "digits28", "--rounds", "2", "--seed", "7"]
    arguments += ["--out", str(tmp_path)]
    controller, terminal = os.openpty()
    termios.tcsetwinsize(terminal, (24, 80))
    run = subprocess.Popen(
        [sys.executable, "-m", "fedlearn_edu", *arguments],
        stdout=terminal,
        stderr=subprocess.PIPE,
    )
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # how Linux says that the other end is gone
        while piece := os.read(controller, 4096):
            shown += piece
    _, errors = run.communicate(timeout=PATIENCE_S)
    os.close(controller)
    assert (run.returncode, errors) == (0, b"")
    assert b"rounds:  50%|" in shown
    assert b"\rrounds" not in shown.split(b"picture")[1]
    assert main(arguments) == 0
    again = capsys.readouterr().out
    assert "drawn with seed 7" in again
    numbers = [line.rsplit(maxsplit=1)[0] for line in again.splitlines() if line]
    assert [line for line in numbers if line not in shown.decode()] == []
