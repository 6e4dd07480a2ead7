# SPDX-License-Identifier: Apache-2.0
"""The proofs find what is wrong with a lesson; what goes wrong costs its own points."""

import copy
from pathlib import Path
from typing import Any

import nbformat
import pytest

from fedlearn_edu.course import grading
from tests.grading.course import CATCHES_ALL, ENDLESS, Course
from tests.grading.toy import DOUBLE, SQUARE, write_lesson
from tools.cells import check_cells, grade_id, read, what_it_says, write

pytestmark = [pytest.mark.notebook, pytest.mark.thorough, pytest.mark.slow]

DIES = "import os\nos._exit(1)"
DIES_WHEN_CALLED = "import os\ndef double(number):\n    os._exit(1)"
ENDED, CANNOT = "ended the kernel", "could not be interrupted"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    folder = tmp_path_factory.mktemp("harness")
    return Course.release(write_lesson(folder / "lesson"), folder / "course")


@pytest.mark.parametrize(
    ("name", "double", "square", "points", "told"),
    [
        ("loops", ENDLESS, SQUARE, [0, 10], {"double": "KeyboardInterrupt"}),
        ("catches", CATCHES_ALL, SQUARE, [0, 10], {"double": CANNOT}),
        ("dies", DOUBLE, DIES, [5, 0], {"square": ENDED}),
        ("called", DIES_WHEN_CALLED, SQUARE, [0, 10], {"double": ENDED}),
        (
            "both",
            DIES_WHEN_CALLED,
            DIES,
            [0, 0],
            dict.fromkeys(("double", "square"), ENDED),
        ),
    ],
)
def test_answer_that_does_not_end_well_costs_its_own_points_only(
    name: str,
    double: str,
    square: str,
    points: list[float],
    told: dict[str, str],
    course: Course,
) -> None:
    course.hand_in(name, {"double": double, "square": square, "check-square": None})
    graded = course.grade(name)
    assert list(graded.points.values()) == points
    assert "was missing" in graded.check("square").source, "the check was deleted"
    for answer in ("double", "square"):
        said = what_it_says(graded.cell(answer))
        assert told.get(answer, "") in said
        assert any(words in said for words in told.values()) == (answer in told)


def test_cells_that_were_copied_split_or_not_to_run_cost_nothing(
    course: Course,
) -> None:
    """Nor do those of another lesson, or with what other programs have noted there."""
    course.hand_in("eve", {"double": "left = 2", "square": SQUARE})
    notebook = read(course.submitted("eve"))
    cells = {grade_id(cell): cell for cell in notebook.cells}
    second, check, foreign = map(
        copy.deepcopy, (cells["double"], cells["check-square"], cells["check-square"])
    )
    second.source, check.source = DOUBLE, "pass"
    foreign.metadata.nbgrader.grade_id = "check-elsewhere"
    cells["check-double"].metadata.nbgrader.more = 1
    at = notebook.cells.index(cells["double"]) + 1
    notebook.cells[at:at] = [second]
    notebook.cells += [check, foreign]
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    write(notebook, course.submitted("eve"))
    assert list(course.grade("eve").points.values()) == [5, 10]

    course.hand_in("skips", {})
    notebook = read(course.submitted("skips"))
    for cell in check_cells(notebook).values():
        cell.metadata.tags += ["skip-execution"]
    write(notebook, course.submitted("skips"))
    assert course.grade("skips").points == {"double": 0, "square": 0}


def test_submission_that_does_not_run_has_no_points_instead_of_none_earned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file has another name, or it ends the kernel again and again."""
    monkeypatch.setattr(grading, "MOST_DEATHS", 1)
    course = Course.release(write_lesson(tmp_path / "lesson"), tmp_path / "course")
    for student in ("named", "dies", "ada"):
        course.hand_in(student, {"double": DOUBLE})
    file = course.submitted("named")
    file.rename(file.with_name("00_toy (1).ipynb"))
    notebook = read(course.submitted("dies"))
    new_cell: Any = nbformat.v4.new_code_cell
    notebook.cells += [new_cell(DIES) for _ in range(2)]
    write(notebook, course.submitted("dies"))
    for student in ("named", "dies"):
        with pytest.raises(RuntimeError, match="error processing assignment"):
            course.grade(student)
    course.grade("ada")
    told = {row["student_id"]: (row["score"], row["status"]) for row in course.export()}
    assert told == {
        "named": ("", "did not run"),
        "dies": ("", "did not run"),
        "ada": ("5.0", "graded"),
    }
