# SPDX-License-Identifier: Apache-2.0
"""Which notebooks there are, for the tests of this folder."""

from pathlib import Path

import pytest

from tools.release import INDEX, SOURCE

LESSONS = sorted(SOURCE.glob("*/*.ipynb"))
EXPLORERS = sorted((SOURCE.parent / "explorers").glob("*.ipynb"))
NOTEBOOKS = [INDEX, *EXPLORERS, *LESSONS]


def _each(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=[path.stem for path in paths])


each_notebook = _each(NOTEBOOKS)
each_lesson = _each(LESSONS)
# Lesson 00 is there to be liked: ten minutes, and no exercise before something learns.
each_full_lesson = _each([path for path in LESSONS if path.stem[:2] != "00"])
