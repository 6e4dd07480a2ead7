# SPDX-License-Identifier: Apache-2.0
"""The proofs find what is wrong with a lesson, and are silent about a sound one."""

import copy
from pathlib import Path
from typing import Any

import nbformat
import pytest

from fedlearn_edu.course import grading
from tests.grading import proofs
from tests.grading.answers import Answer, parse, rounds
from tests.grading.course import CATCHES_ALL, ENDLESS, Course
from tests.grading.proofs import prove
from tests.grading.toy import ANSWERS, DOUBLE, SQUARE, write_lesson
from tests.grading.try_lesson import quick
from tools.cells import check_cells, grade_id, read, what_it_says, write


@pytest.mark.notebook
@pytest.mark.thorough
@pytest.mark.slow
def test_every_kind_of_fault_is_found(tmp_path: Path) -> None:
    """A solution that is broken, a loud cell, misjudged answers, missing words."""
    source = write_lesson(
        tmp_path / "lesson",
        double=DOUBLE.replace("2 * number", "2 * number + 1"),
        ungraded="import warnings\nwarnings.warn('loud')\nsquare(2)",
    )
    answers = ANSWERS.replace("wrong: only", "right: only").replace("> Assertion", "")
    answers = answers.replace("> number", "> words that nobody says")
    answers = answers.replace("return number + 1", "return undefined")
    proof = prove(source, list(parse(answers)), tmp_path / "course")
    faults = {find.__name__: list(find(proof)) for find in proofs.ALL}

    [fault] = faults["missing_points"]
    assert fault.startswith("double: its solution gets 0.0: ")
    assert "expected another number" in fault
    [fault] = faults["misjudged"]
    assert fault.startswith("double, right: only right for three: 0.0 of 5.0 points")
    first, second = faults["unnamed_misconceptions"]
    assert first.startswith("double, wrong: adds one: 'you added one' is not in: ")
    assert second.startswith("square, wrong: doubles: 'words that nobody says' is")
    assert any("prints on stderr" in fault for fault in faults["stumbles"])
    assert any("untouched, cell ungraded fails" in f for f in faults["stumbles"])


@pytest.mark.notebook
@pytest.mark.thorough
@pytest.mark.slow
def test_endless_loop_and_deleted_check_cost_their_own_points_only(
    tmp_path: Path,
) -> None:
    source = write_lesson(tmp_path / "lesson")
    course = Course.release(source, tmp_path / "course")
    changed = {"double": ENDLESS, "square": SQUARE, "check-square": None}
    course.hand_in("eve", changed)
    graded = course.grade("eve")
    assert graded.points == {"double": 0, "square": 10}
    assert "KeyboardInterrupt" in what_it_says(graded.cell("double"))
    assert "was missing" in graded.check("square").source


DIES = "import os\nos._exit(1)"
DIES_WHEN_CALLED = "import os\ndef double(number):\n    os._exit(1)"


@pytest.mark.notebook
@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "points", "blamed"),
    [
        ({"double": DOUBLE, "square": DIES}, [5, 0], ["square"]),
        ({"double": DIES_WHEN_CALLED, "square": SQUARE}, [0, 10], ["double"]),
        ({"double": DIES_WHEN_CALLED, "square": DIES}, [0, 0], ["double", "square"]),
    ],
)
def test_answer_that_ends_the_kernel_costs_its_own_points_only(
    tmp_path: Path,
    answers: dict[str, str | None],
    points: list[float],
    blamed: list[str],
) -> None:
    course = Course.release(write_lesson(tmp_path / "lesson"), tmp_path / "course")
    course.hand_in("eve", answers)
    graded = course.grade("eve")
    assert list(graded.points.values()) == points
    for name in answers:
        told = "ended the kernel" in what_it_says(graded.cell(name))
        assert told == (name in blamed)


@pytest.mark.notebook
@pytest.mark.thorough
@pytest.mark.slow
def test_answer_that_cannot_be_interrupted_costs_its_own_points_only(
    tmp_path: Path,
) -> None:
    course = Course.release(write_lesson(tmp_path / "lesson"), tmp_path / "course")
    course.hand_in("eve", {"double": CATCHES_ALL, "square": SQUARE})
    graded = course.grade("eve")
    assert list(graded.points.values()) == [0, 10]
    assert "could not be interrupted" in what_it_says(graded.cell("double"))


@pytest.mark.notebook
@pytest.mark.thorough
@pytest.mark.slow
def test_cells_that_were_copied_or_split_cost_nothing(tmp_path: Path) -> None:
    """Nor do those of another lesson, or with what other programs have noted there."""
    course = Course.release(write_lesson(tmp_path / "lesson"), tmp_path / "course")
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


@pytest.mark.notebook
@pytest.mark.thorough
@pytest.mark.slow
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


@pytest.mark.notebook
@pytest.mark.thorough
@pytest.mark.slow
def test_check_that_is_told_not_to_run_is_run(tmp_path: Path) -> None:
    course = Course.release(write_lesson(tmp_path / "lesson"), tmp_path / "course")
    course.hand_in("eve", {})
    notebook = read(course.submitted("eve"))
    for cell in check_cells(notebook).values():
        cell.metadata.tags += ["skip-execution"]
    write(notebook, course.submitted("eve"))
    assert course.grade("eve").points == {"double": 0, "square": 0}


@pytest.mark.notebook
@pytest.mark.thorough
@pytest.mark.slow
def test_answers_can_be_tried_quickly_in_one_kernel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right = Answer(
        "type_of_mean", True, "by a function", (), "type_of_mean = fl.SERVER"
    )
    wrong = Answer(
        "type_of_mean", False, "a slip", ("this is a text",), "type_of_mean = typo"
    )
    faults = quick("01_hello", [right, wrong], tmp_path)
    assert faults == [
        "type_of_mean, right: by a function: 0 points",
        "type_of_mean, wrong: a slip: 'this is a text' is not said",
    ]
    shown = capsys.readouterr().out
    assert "0 of 5 points: type_of_mean, right: by a function\n" in shown
    assert "NameError: name 'typo' is not defined" in shown


def test_answers_are_read_with_their_words() -> None:
    added, *_, doubled = parse(ANSWERS)
    assert str(added) == "double, wrong: adds one"
    assert added.words == ("you added one",)
    assert added.source == "def double(number):\n    return number + 1"
    assert doubled.words == ("expected another", "number")


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        ("# x\n## right: a\n", "the last answer has no complete"),
        ("# x\n## right: a\n## wrong: b\n", "answers:3: 'right: a' has no"),
        ("# x\n## almost: a\n```python\n1\n```\n", "found 'almost: a'"),
        ("## right: a\n```python\n1\n```\n", "answers:4: above a block"),
        ("# x\n## wrong: a\n```python\n1\n```\n", "a wrong answer quotes"),
    ],
)
def test_page_that_breaks_the_format_is_named_with_its_line(
    page: str, complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        list(parse(page))


def test_one_submission_answers_all_exercises_wrong_ones_first() -> None:
    planned = [
        [answer.title for answer in tried] for tried in rounds([*parse(ANSWERS)])
    ]
    assert planned == [["adds one", "doubles"], ["only right for three"], ["adds"]]
