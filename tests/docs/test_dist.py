# SPDX-License-Identifier: Apache-2.0
"""`make dist` ends with what failed; the whole trial is run by hand."""

import sys
from pathlib import Path

import pytest

from tools import dist


def test_interpreter_is_there_or_not() -> None:
    here = "{}.{}".format(*sys.version_info)
    assert dist.interpreter(here) is not None
    assert dist.interpreter("2.6") is None


def test_step_that_fails_is_told_with_its_output(tmp_path: Path) -> None:
    dist.run([sys.executable, "-c", ""], tmp_path)
    with pytest.raises(SystemExit, match="No module named 'not_installed'"):
        dist.run([sys.executable, "-c", "import not_installed"], tmp_path)


def test_lesson_has_to_say_that_it_is_not_answered(tmp_path: Path) -> None:
    lesson = tmp_path / "lessons" / dist.LESSON
    lesson.parent.mkdir(parents=True)
    lesson.write_text("3 of 3", encoding="utf-8")
    with pytest.raises(SystemExit, match="not with 'is not answered yet'"):
        list(dist.steps(sys.executable, tmp_path / "a.whl", tmp_path))
