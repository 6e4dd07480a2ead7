# SPDX-License-Identifier: Apache-2.0
"""`notebooks/release` is what `make release` writes, and gives nothing away."""

import os
import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest

from tests.grading.leaks import leaks, unmarked_answers
from tests.grading.toy import DOUBLE, write_lesson
from tools.cells import code_cells, read
from tools.release import (
    EXPLORERS,
    INDEX,
    LANGUAGE,
    RELEASE,
    ROOT,
    SOURCE,
    generate,
    lesson_names,
    write_index,
)

LESSONS = lesson_names()
each_lesson = pytest.mark.parametrize("lesson", LESSONS)


def _notebook(folder: Path, lesson: str) -> Path:
    return folder / lesson / f"{lesson}.ipynb"


def _files(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.slow
def test_release_is_what_make_release_writes(tmp_path: Path) -> None:
    generate(SOURCE, tmp_path / "release")
    write_index(tmp_path / "release")
    written, committed = _files(tmp_path / "release"), _files(RELEASE)
    differing = [
        name
        for name in sorted(written | committed)
        if written.get(name) != committed.get(name)
    ]
    assert not differing, f"run `make release` and commit: {differing}"


@pytest.mark.slow
@pytest.mark.thorough
def test_command_line_of_nbgrader_writes_the_same(tmp_path: Path) -> None:
    source = write_lesson(tmp_path / "source")
    generate(source.parent, tmp_path / "ours")
    shutil.copy(ROOT / "notebooks" / "nbgrader_config.py", tmp_path)
    bin_ = str(Path(sys.executable).parent)
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", "generate_assignment", source.name],
        cwd=tmp_path,
        env=os.environ | {"PATH": os.pathsep.join([bin_, os.environ["PATH"]])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert _files(tmp_path / "release") == _files(tmp_path / "ours")


@each_lesson
def test_release_gives_nothing_away(lesson: str) -> None:
    source, release = read(_notebook(SOURCE, lesson)), read(_notebook(RELEASE, lesson))
    assert list(leaks(source, release)) == []
    assert list(unmarked_answers(source)) == []


@each_lesson
def test_release_is_a_clean_notebook(lesson: str) -> None:
    source, release = read(_notebook(SOURCE, lesson)), read(_notebook(RELEASE, lesson))
    nbformat.validate(release)
    assert [cell.id for cell in release.cells] == [cell.id for cell in source.cells]
    assert release.metadata == {**source.metadata, "language_info": LANGUAGE}
    assert {cell.execution_count for cell in code_cells(release)} == {None}


@pytest.mark.slow
@pytest.mark.thorough
def test_leak_is_found(tmp_path: Path) -> None:
    unmarked = DOUBLE.replace("### BEGIN SOLUTION", "### BEGIN SOLUTIONS")
    hinted = "# a hint: return 2 * number"
    folder = write_lesson(tmp_path / "source", ungraded=hinted)
    generate(folder.parent, tmp_path / "release")
    source, release = (
        read(_notebook(tmp_path / step, folder.name)) for step in ("source", "release")
    )
    assert list(leaks(source, release)) == []
    assert release.cells[1].source.endswith(
        '    # your code here\n    raise NotImplementedError("write your answer here")'
    )
    assert release.cells[2].source == "check.double(double)"
    release.cells[5].source = "return 2 * number  "
    assert list(leaks(source, release)) == ["the release has 'return 2 * number'"]
    assert next(leaks(source, source)) == "the release has 'return 2 * number'"
    source.cells[1].source = unmarked
    assert list(unmarked_answers(source)) == ["double: needs ['SOLUTION'], has none"]


def test_map_is_seen_before_anything_runs() -> None:
    page = read(RELEASE / INDEX.name)
    (cell,) = code_cells(page)
    (output,) = cell.outputs
    html = output.data["text/html"]
    for lesson in lesson_names():
        assert f'href="{lesson}/{lesson}.ipynb"' in html
    assert "Next: lesson 00" in html


def test_map_leads_to_each_explorer() -> None:
    pairs = pairwise(read(RELEASE / EXPLORERS.name).cells)
    shown = re.compile(r"^fl\.viz\.explore_.*\)$", re.M)
    before = [
        a.id for a, b in pairs if b.cell_type == "code" and shown.search(b.source)
    ]
    text = read(RELEASE / INDEX.name).cells[-1].source
    assert "(explorers.ipynb)" in text
    assert re.findall(r"\(explorers\.ipynb#cell-id=(\S+)\)", text) == before
