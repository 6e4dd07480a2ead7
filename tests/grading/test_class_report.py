# SPDX-License-Identifier: Apache-2.0
"""What a submission showed, in words and with halves; and what a teacher gets of it."""

import csv
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import nbformat
import pytest

from fedlearn_edu.course import grading
from fedlearn_edu.course.class_report import ClassReport
from tests.grading.course import Course
from tests.grading.toy import DOUBLE, write_lesson

new: Any = nbformat.v4


def refused(passed: int, count: int) -> tuple[str, str]:
    said = f"double: not right yet, {passed} of {count} checks pass: you added one"
    return "NotRightYetError", said


@pytest.mark.parametrize(
    ("error", "points", "cause"),
    [
        (refused(4, 6), "2", "you added one"),
        (refused(4, 7), None, "you added one"),
        (refused(1, 1), None, "you added one"),
        (("AssertionError", "a hidden test"), None, "a hidden test"),
        (("NotRightYetError", "`double` is not answered yet: …"), None, "not answered"),
    ],
)
def test_who_passes_most_of_the_cases_has_half_of_the_points(
    error: tuple[str, str], points: str | None, cause: str
) -> None:
    """The first check is about what kind of thing it is: no case."""
    cell = new.new_code_cell(metadata={"nbgrader": {"grade": True, "points": 5}})
    cell.outputs = [new.new_output("error", ename=error[0], evalue=error[1])]
    grading.InWords().preprocess(new.new_notebook(cells=[cell]), {})
    assert cell.outputs[0].get("data", {}).get("text/plain") == points
    assert grading.verdict_in(cell) == cause


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.thorough
def test_report_has_the_cause_that_each_was_told(tmp_path: Path) -> None:
    course = Course.release(write_lesson(tmp_path / "lesson"), tmp_path / "course")
    course.enrol(["ada", "bob", "eve"])
    course.hand_in("ada", {"double": DOUBLE})
    course.hand_in("bob", {"double": "def double(number):\n    return number + 1"})
    course.grade_all()
    assert "not answered" in str(course.grade("ada").cell("square").outputs)
    folder = course.report(ClassReport)
    with (folder / "causes.csv").open(newline="") as file:
        rows = [tuple(row.values())[1:] for row in csv.DictReader(file)]
    assert rows == [
        ("ada", "double", "5.0", "5.0", ""),
        ("ada", "square", "0.0", "10.0", "not answered"),
        ("bob", "double", "0.0", "5.0", "you added one"),
        ("bob", "square", "0.0", "10.0", "not answered"),
        ("eve", "double", "", "5.0", "nothing handed in"),
        ("eve", "square", "", "10.0", "nothing handed in"),
    ]
    assert "you added one" in (folder / "causes.html").read_text()
    zips = {file.name for file in (folder / "feedback").iterdir()}
    assert zips == {"ada.zip", "bob.zip"}, "eve handed in nothing"
    with ZipFile(folder / "feedback" / "bob.zip") as archive:
        assert archive.namelist() == ["00_toy/00_toy.html"]
