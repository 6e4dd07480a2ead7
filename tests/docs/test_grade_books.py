# SPDX-License-Identifier: Apache-2.0
"""Grades find their rows in what Moodle and Canvas export, and nobody else's."""

import csv
import doctest
import io

import pytest

from tools import grade_books
from tools.grade_books import Row, grades, students

MOODLE = """\
First name,Last name,ID number,Institution,Department,Email address,Course total
Ada,Lovelace,71,,,ada@example.org,-
Ada,Lovelace-King,72,,,king@example.org,-
Alan,Turing,,,,turing@example.org,-
"""
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,01_hello (4711)
    Points Possible,,,,,40
"Lovelace, Ada",12,,ada,A,
"Turing, Alan",123,,turing,A,7
"""


def rows_of(text: str) -> list[Row]:
    return list(csv.DictReader(io.StringIO(text)))


def points(student: str, score: str, lesson: str = "01_hello") -> Row:
    row = {"assignment": lesson, "student_id": student, "status": "graded"}
    return {**row, "score": score, "max_score": "40.0"}


def test_examples_hold() -> None:
    assert doctest.testmod(grade_books) == (0, 1)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("Ada_Lovelace_123_assignsubmission_file", 0),
        ("ada", 0),
        ("71", 0),
        ("king@example.org", 1),
        ("Ada_Lovelace-King_9_assignsubmission_file", 1),
        ("Alan_Turing_7_assignsubmission_file", 2),
    ],
)
def test_name_is_found_in_moodle(name: str, row: int) -> None:
    filled, unknown = grades(rows_of(MOODLE), [points(name, "25.0")])
    assert [each["01_hello"] for each in filled] == [
        "25.0" * (n == row) for n in (0, 1, 2)
    ]
    assert not unknown


@pytest.mark.parametrize(
    "name", ["lovelaceada_12_345", "lovelaceada_LATE_12_345", "ada"]
)
def test_name_is_found_in_canvas_and_its_column_filled(name: str) -> None:
    filled, unknown = grades(rows_of(CANVAS), [points(name, "25.0")])
    assert [each["01_hello (4711)"] for each in filled] == ["40.0", "25.0", "7"]
    assert "01_hello" not in filled[0]
    assert not unknown


def test_new_lesson_gets_a_column() -> None:
    filled, _ = grades(rows_of(CANVAS), [points("turing", "3", "04_intrinsics")])
    assert [each["04_intrinsics"] for each in filled] == ["40.0", "", "3"]


@pytest.mark.parametrize("status", ["did not run", "to be graded by hand"])
def test_what_has_no_mark_stays_as_it_is(status: str) -> None:
    row = points("turing", "0.0") | {"status": status}
    filled, _ = grades(rows_of(CANVAS), [row])
    assert filled[2]["01_hello (4711)"] == "7"


def test_nothing_from_the_class_list_does_not_hide_what_was_handed_in() -> None:
    nothing = points("ada", "0.0") | {"status": "nothing handed in"}
    both = [points("lovelaceada_12_345", "25.0"), nothing]
    for graded in (both, both[::-1]):
        assert grades(rows_of(CANVAS), graded)[0][1]["01_hello (4711)"] == "25.0"


def test_who_cannot_be_told_is_named_and_gets_nothing() -> None:
    names = ("eve", "Ada", "lovelaceada_1_2")
    filled, unknown = grades(rows_of(CANVAS), [points(name, "9") for name in names])
    assert unknown == list(names)
    assert filled == rows_of(CANVAS)


def test_class_list_is_what_nbgrader_imports() -> None:
    assert [each["id"] for each in students(rows_of(CANVAS))] == ["ada", "turing"]
    assert students(rows_of(MOODLE))[1] == {
        "id": "king",
        "first_name": "Ada",
        "last_name": "Lovelace-King",
        "email": "king@example.org",
    }
