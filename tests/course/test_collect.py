# SPDX-License-Identifier: Apache-2.0
"""`fedlearn-edu collect`: what browsers and platforms renamed gets its names back."""

import json
import os
from pathlib import Path

import pytest

from fedlearn_edu.__main__ import main
from fedlearn_edu.course.collect import SUBMITTED

HELLO = "01_hello/01_hello.ipynb"


def hand_in(
    file: Path, work: str = "", *, lesson: str = "01_hello", day: int = 1
) -> str:
    """Writes a notebook as it comes back; gives its text."""
    sources = [f'begin("{lesson}", globals())', work]
    cells = [{"cell_type": "code", "source": source} for source in sources]
    text = json.dumps({"cells": cells})
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    os.utime(file, (86_400 * day, 86_400 * day))
    return text


def collected(folder: Path, *options: str) -> tuple[int, dict[str, str]]:
    """The exit status, and the files that are then in `to`."""
    to = folder.with_name("to")
    status = main(["collect", str(folder), "--to", str(to), *options])
    files = [file for file in to.rglob("*") if file.is_file()]
    return status, {f.relative_to(to).as_posix(): f.read_text() for f in files}


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("ada/01_hello (1).ipynb", "ada"),
        ("ada/01_hello-Copy1.ipynb", "ada"),
        ("ada/01_hello (2)/01_hello.ipynb", "ada"),
        ("ada/anything.ipynb.txt", "ada"),
        ("Ada Lovelace_123_assignsubmission_file_/x.ipynb", None),
        ("01_hello/ada/01_hello.ipynb", "ada"),
        ("ada_01_hello (1).ipynb", "ada"),
        ("01_hello_ada.ipynb", "ada"),
        ("lovelaceada_12_345_01_hello-1.ipynb", "lovelaceada_12_345"),
    ],
)
def test_name_is_put_right(tmp_path: Path, name: str, student: str | None) -> None:
    text = hand_in(tmp_path / "from" / name)
    student = student or "Ada_Lovelace_123_assignsubmission_file"
    expected = {f"{student}/{HELLO}": text}
    assert collected(tmp_path / "from") == (0, {})
    assert collected(tmp_path / "from", "--apply") == (0, expected)
    assert (tmp_path / "from" / name).is_file()


def test_cells_that_were_copied_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["average_of", None, "check-average_of", "average_of", "share_warm"]
    cells = [
        {"source": HELLO, "metadata": {"nbgrader": name and {"grade_id": name}}}
        for name in names
    ]
    hand_in(file := tmp_path / "from" / "ada" / HELLO)
    file.write_text(
        json.dumps({"cells": [*json.loads(file.read_text())["cells"], *cells]})
    )
    collected(tmp_path / "from")
    told = "2 cells are 'average_of', the last one counts"
    assert f"01_hello.ipynb: {told}\n" in capsys.readouterr().out


def test_notebook_says_itself_which_lesson_it_is(tmp_path: Path) -> None:
    hand_in(tmp_path / "from" / "ada" / "01_hello.ipynb", lesson="04_intrinsics")
    _, files = collected(tmp_path / "from", "--apply")
    assert list(files) == ["ada/04_intrinsics/04_intrinsics.ipynb"]


def test_newest_counts_and_nothing_is_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "from"
    first = hand_in(folder / "ada" / "01_hello (1).ipynb", "first", day=1)
    second = hand_in(folder / "ada" / "01_hello.ipynb", "second", day=2)
    _, files = collected(folder, "--apply")
    assert files == {f"ada/{HELLO}": second}
    [line] = [ln for ln in capsys.readouterr().out.splitlines() if "older" in ln]
    assert line.startswith("new  ada")
    assert "ada/01_hello.ipynb: older: ada/01_hello (1).ipynb (1970-01-0" in line

    third = hand_in(folder / "ada" / "01_hello (2).ipynb", "third", day=3)
    assert collected(folder)[1] == files
    _, files = collected(folder, "--apply")
    assert files == {f"ada/{HELLO}": third, "ada/01_hello/01_hello.old": second}
    assert collected(folder, "--apply") == (0, files), "there is nothing more to do"
    assert first in [file.read_text() for file in folder.rglob("*.ipynb")]


def test_names_are_put_right_where_they_are(tmp_path: Path) -> None:
    """In `build/submitted` itself."""
    old = hand_in(tmp_path / "ada" / HELLO, "old", day=1)
    new = hand_in(tmp_path / "ada" / "01_hello" / "01_hello (1).ipynb", "new", day=2)
    for _ in range(2):
        assert main(["collect", str(tmp_path), "--to", str(tmp_path), "--apply"]) == 0
    assert (tmp_path / "ada" / HELLO).read_text() == new
    assert (tmp_path / "ada" / HELLO).with_suffix(".old").read_text() == old


def test_what_cannot_be_told_is_left_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "from"
    hand_in(folder / "ada" / "exam.ipynb", lesson="exam")
    hand_in(folder / "01_hello (1).ipynb")
    hand_in(folder / "Bob B" / "01_hello.ipynb")
    hand_in(folder / "Bob_b" / "01_hello.ipynb")
    for name in ("a", "b"):
        hand_in(folder / "eve" / f"{name}.ipynb", name)
    (folder / "eve" / "damaged.ipynb").write_text("{")
    (folder / "eve" / "all.zip").write_bytes(b"")
    hand_in(folder / "eve" / ".ipynb_checkpoints" / "01_hello.ipynb")
    assert collected(folder, "--apply") == (1, {})
    printed = capsys.readouterr().out
    for line in (
        "exam.ipynb: not a lesson of this course",
        "01_hello (1).ipynb: whose? Put it into a folder with the student's name",
        "Bob B/01_hello.ipynb: not told apart: Bob B, Bob_b",
        "as old as another, eve/",
        "damaged.ipynb: not a notebook, or a damaged one",
        "all.zip: an archive: unpack it first",
        "7 left",
    ):
        assert line in printed, printed


def test_folder_with_nothing_in_it_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["collect", str(tmp_path)]) == 1
    assert capsys.readouterr().out == f"no notebooks in {tmp_path}\n"
    assert main(["collect", str(tmp_path / "nowhere")]) == 2
    assert "collect: error: there is nothing to collect" in capsys.readouterr().err


def test_they_go_where_nbgrader_looks() -> None:
    from tests.architecture.repository import ROOT
    from tools.release import course_config

    assert course_config(ROOT).CourseDirectory.submitted_directory == str(SUBMITTED)
