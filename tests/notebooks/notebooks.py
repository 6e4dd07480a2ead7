# SPDX-License-Identifier: Apache-2.0
"""Which notebooks there are, for the tests of this folder."""

from pathlib import Path

import pytest

from tools.release import SOURCE

LESSONS = sorted(SOURCE.glob("*/*.ipynb"))
EXPLORERS = sorted((SOURCE.parent / "explorers").glob("*.ipynb"))
NOTEBOOKS = EXPLORERS + LESSONS


def _each(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=[path.stem for path in paths])


each_notebook = _each(NOTEBOOKS)
each_lesson = _each(LESSONS)
