# SPDX-License-Identifier: Apache-2.0
"""Two lessons in JupyterLab, start to finish, without a mouse.

A learner opens the release, walks from cell to cell with Shift+Enter, and where an
answer is asked for presses Enter, selects what stands there, and writes.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.browser.conftest import PICTURES, ROOT, THOROUGH
from tests.browser.notebook_page import NotebookPage, opened_notebook

pytestmark = THOROUGH

LESSONS = ("01_hello", "04_intrinsics")


def file_of(stage: str, lesson: str) -> Path:
    return ROOT / "notebooks" / stage / lesson / f"{lesson}.ipynb"


def cells_of(stage: str, lesson: str) -> list[Any]:
    file = file_of(stage, lesson)
    notebook: Any = nbformat.read(file, as_version=4)  # type: ignore[no-untyped-call]
    return list(notebook.cells)


def solutions(lesson: str) -> dict[str, str]:
    """The answers of the source notebook, by cell."""
    return {
        cell.id: "\n".join(
            line for line in cell.source.splitlines() if line.strip()[:4] != "### "
        )
        for cell in cells_of("source", lesson)
        if cell.metadata.get("nbgrader", {}).get("solution")
    }


@pytest.fixture(scope="module", params=LESSONS)
def lesson(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def walked(
    lesson: str, browser: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[NotebookPage]:
    """The release of the lesson after a learner has walked through it."""
    home = tmp_path_factory.mktemp(lesson)
    with opened_notebook(browser, "lab", home, file_of("release", lesson)) as page:
        walk(page, lesson)
        yield page


def walk(page: NotebookPage, lesson: str) -> None:
    answers = solutions(lesson)
    page.page.keyboard.press("Escape")
    for number, cell in enumerate(cells_of("release", lesson)):
        assert page.active_cell() == number
        if cell.id in answers:
            page.page.keyboard.press("Enter")
            page.page.keyboard.press("Control+a")
            page.page.keyboard.insert_text(answers[cell.id])
        page.page.keyboard.press("Shift+Enter")
        page.wait_until_idle(60)


def test_every_exercise_is_right(walked: NotebookPage, lesson: str) -> None:
    for name in solutions(lesson):
        exercise = name.removeprefix("answer-").replace("-", "_")
        told = walked.output_with(f"check.{exercise}(").inner_text()
        assert "Right." in told, (exercise, told)


def test_only_what_is_meant_to_fail_fails(walked: NotebookPage, lesson: str) -> None:
    meant = [
        cell.source
        for cell in cells_of("source", lesson)
        if "raises-exception" in cell.metadata.get("tags", [])
    ]
    assert len(walked.failures()) == len(meant) >= 1


def test_nothing_broke_and_nobody_else_was_asked(walked: NotebookPage) -> None:
    assert walked.errors == []
    assert walked.strangers == set()


@pytest.mark.parametrize("width", [1280, 480])
def test_feedback_fits_its_column(
    walked: NotebookPage, lesson: str, width: int
) -> None:
    walked.resize(width)
    for name in solutions(lesson):
        exercise = name.removeprefix("answer-").replace("-", "_")
        output = walked.output_with(f"check.{exercise}(")
        assert walked.sticks_out(output) == [], exercise
        walked.save(output, Path(PICTURES / f"{lesson}_{exercise}_{width}.png"))


def test_who_skips_every_exercise_gets_to_the_end(browser: Any, tmp_path: Path) -> None:
    """Also after a restart, with what the menu *Run* offers to bring all back."""
    release = file_of("release", LESSONS[0])
    with opened_notebook(browser, "lab", tmp_path, release) as page:
        page.run_all(60)
        page.restart()
        page.run_all(60, "run-all-above")
        drawn = page.output_with("draw_graph(mean_fahrenheit)")
        assert drawn.locator("img:visible").count() == 1
