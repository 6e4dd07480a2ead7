# SPDX-License-Identifier: Apache-2.0
"""The browser edition needs no TensorFlow, and its hand-ins are graded like others."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.grading.course import Course
from tests.grading.toy import write_lesson
from tests.notebooks.notebooks import each_lesson
from tests.programs import in_another_process
from tools import edition
from tools.cells import (
    answer_cells,
    check_cells,
    code_cells,
    read,
    runs_in_browser,
    write,
)
from tools.edition import browser_release, browser_source, needs_tensorflow
from tools.release import SOURCE, lesson_names

LESSONS = [name for name in lesson_names() if runs_in_browser(browser_source(name))]
IN_EVERY_RUN = ["06_executor_stack", "08_non_iid_mnist"]

# Everything but what the tag leaves out, where nothing is installed; training is short.
IN_A_BROWSER = """
import os
import sys

_, folder, *lessons = sys.argv
os.environ |= {"FEDLEARN_EDU_PLATFORM": "emscripten", "FEDLEARN_EDU_DATA": folder}
os.environ |= {"KERAS_HOME": folder, "NBGRADER_EXECUTION": "validate"}
sys.modules |= dict.fromkeys(["tensorflow", "dp_accounting", "distributed"])
from IPython.core.interactiveshell import InteractiveShell

from tools.cells import code_cells, is_to_fail
from tools.edition import browser_source, needs_tensorflow

shell = InteractiveShell.instance()
for lesson in lessons:
    shell.reset()
    cells = code_cells(browser_source(lesson))
    for cell in (cell for cell in cells if not needs_tensorflow(cell)):
        done = shell.run_cell(cell.source)
        assert done.success or is_to_fail(cell), (lesson, cell.id, done)
"""


@pytest.mark.slow
def test_lessons_run_without_tensorflow(tmp_path: Path) -> None:
    """Two of them; tests/lite runs all."""
    in_another_process(IN_A_BROWSER, str(tmp_path), *IN_EVERY_RUN)


@pytest.mark.parametrize("lesson", LESSONS)
def test_only_tagged_cells_speak_of_tensorflow(lesson: str) -> None:
    """Read off the source; what `fl.learning` does behind it needs a run."""
    cells = code_cells(browser_source(lesson))
    said = [c.id for c in cells if re.search(r"\btf\b|tf_comp|tensorflow", c.source)]
    assert said == [cell.id for cell in cells if needs_tensorflow(cell)]


@each_lesson
def test_cells_of_a_browser_have_the_marks_of_those_they_replace(path: Path) -> None:
    """So that nbgrader knows the cells of a notebook that was saved in a browser."""
    theirs = browser_source(path.stem).cells
    for cell, there in zip(read(path).cells, theirs, strict=True):
        assert (cell.id, cell.cell_type) == (there.id, there.cell_type)
        assert cell.metadata.get("nbgrader") == there.metadata.get("nbgrader")


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.thorough
def test_what_was_saved_in_a_browser_is_graded(tmp_path: Path) -> None:
    """Where TensorFlow is, nbgrader puts its own cells back, and answers stay."""
    lesson = "09a_local_training"
    course = Course.release(SOURCE / lesson, tmp_path)
    written = browser_source(lesson)
    write(written, course.submitted("browser"))
    graded = course.grade("browser")
    checks = check_cells(written)
    assert graded.points == {n: c.metadata.nbgrader.points for n, c in checks.items()}
    for name, cell in answer_cells(written).items():
        assert graded.cell(name).source == cell.source


@pytest.mark.slow
def test_browser_gets_its_own_cells_without_solutions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_lesson(tmp_path / "source")
    [lesson] = source.glob("*.ipynb")
    answer = answer_cells(read(lesson))["double"]
    answer.source = "### BEGIN SOLUTION\nthere = 2\n### END SOLUTION"
    new: Any = nbformat.v4.new_notebook
    write(new(cells=[answer]), tmp_path / "browser" / lesson.name)
    monkeypatch.setattr(edition, "SOURCE", tmp_path / "source")
    monkeypatch.setattr(edition, "BROWSER", tmp_path / "browser")
    assert "there = 2" in answer_cells(browser_source(source.name))["double"].source
    browser_release(tmp_path / "release")
    [released] = (tmp_path / "release").glob("*/*.ipynb")
    answers = answer_cells(read(released))
    assert list(answers) == ["double", "square"]
    assert not re.search("there|# twice", answers["double"].source)
