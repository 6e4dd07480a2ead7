# SPDX-License-Identifier: Apache-2.0
"""The tables of lessons are as checks know them; the teachers' page names what is."""

import re

from fedlearn_edu.course.lessons import LESSONS
from tests.docs.pages import read
from tools.lesson_table import PAGE, README, lesson_table, short_table, with_table
from tools.release import ROOT, course_config


def test_tables_of_lessons_are_up_to_date() -> None:
    for page, table in ((PAGE, lesson_table()), (README, short_table())):
        assert with_table(read(page), table) == read(page), "run `make release`"
    for lesson in LESSONS:
        assert f"| {lesson.minutes} | {lesson.points} |" in lesson_table()


def test_folders_times_and_commands_of_the_page_are_those_of_nbgrader() -> None:
    from nbgrader.apps.nbgraderapp import NbGraderApp

    config, page = course_config(ROOT / "notebooks"), read(PAGE)
    for step in ("submitted", "feedback", "solution"):
        assert f"`{config.CourseDirectory[f'{step}_directory']}`" in page
    assert config.Execute.timeout == 120
    assert "interrupted after two minutes, `c.Execute.timeout`" in page
    named = set(re.findall(r"^(?:.* fedlearn-grading )?nbgrader (\w+)", page, re.M))
    known = {name.replace("-", "_") for name in NbGraderApp.subcommands}
    assert {"autograde", "export"} <= named <= known
