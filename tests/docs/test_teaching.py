# SPDX-License-Identifier: Apache-2.0
"""The teacher's page has the lessons as they are, and the settings it speaks of."""

import re
from itertools import chain

from fedlearn_edu.course.exercise import by_path
from fedlearn_edu.course.lessons import LESSONS
from tests.docs.pages import read, section
from tools.lesson_table import PAGE, README, lesson_table, short_table, with_table
from tools.release import ROOT, course_config


def test_table_of_lessons_is_up_to_date() -> None:
    assert with_table(read(PAGE)) == read(PAGE), "run `make release`"


def test_table_has_a_row_for_each_lesson_and_the_points_of_all() -> None:
    _, _, *rows, last = lesson_table().splitlines()
    heads = [row for row in rows if row.startswith("| **")]
    assert [head.split("**")[1] for head in heads] == list(by_path(LESSONS))
    lessons = chain(*by_path(LESSONS).values())
    below = [row for row in rows if row not in heads]
    for lesson, row in zip(lessons, below, strict=True):
        assert lesson.title in row
        assert f"| {lesson.minutes} |" in row
        for exercise in lesson.exercises:
            assert f"`{exercise.name}` {exercise.points}" in row
    assert f"**{sum(lesson.points for lesson in LESSONS)}**" in last


def test_folders_and_times_of_the_page_are_those_of_the_course() -> None:
    config = course_config(ROOT)
    page = read(PAGE)
    for folder in ("source", "release", "submitted", "feedback", "solution"):
        assert f"`{config.CourseDirectory[f'{folder}_directory']}" in page
    assert config.Execute.timeout == 120
    assert "interrupted after two minutes" in section(PAGE, "## Running a course")


def test_commands_of_the_page_exist() -> None:
    from nbgrader.apps.nbgraderapp import NbGraderApp

    named = set(re.findall(r"^\s*(?:IMAGE )?nbgrader (\w+)", read(PAGE), re.MULTILINE))
    assert "autograde" in named
    assert named <= {name.replace("-", "_") for name in NbGraderApp.subcommands}


def test_readme_has_the_table_of_lessons_as_it_is() -> None:
    assert with_table(read(README), short_table()) == read(README), "run `make release`"
