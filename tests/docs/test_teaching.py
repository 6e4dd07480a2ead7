# SPDX-License-Identifier: Apache-2.0
"""The page for teachers names what nbgrader does."""

import re

from tests.docs.pages import read
from tools.lesson_table import PAGE
from tools.release import ROOT, course_config


def test_folders_times_and_commands_of_the_page_are_those_of_nbgrader() -> None:
    from nbgrader.apps.nbgraderapp import NbGraderApp

    config, page = course_config(ROOT / "notebooks"), read(PAGE)
    for step in ("submitted", "feedback", "solution"):
        assert f"`{config.CourseDirectory[f'{step}_directory']}`" in page
    pattern = "".join(re.findall(r'^\.{3} +r"(.*)"$', page, re.M))
    assert pattern == config.FileNameCollectorPlugin.named_regexp
    assert config.Execute.timeout == 120
    assert "interrupted after two minutes, `c.Execute.timeout`" in page
    named = set(re.findall(r"^(?:.* fedlearn-grading )?nbgrader (\w+)", page, re.M))
    known = {name.replace("-", "_") for name in NbGraderApp.subcommands}
    assert {"autograde", "export"} <= named <= known
