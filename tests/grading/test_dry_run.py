# SPDX-License-Identifier: Apache-2.0
"""A small class goes the whole way; other marks than deserved are pointed at."""

from pathlib import Path

import pytest

from tests.grading.dry_run import KINDS, Lesson, class_of, run, table

HELLO = Lesson.named("01_hello")


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.thorough
def test_everybody_gets_the_marks_they_deserve(tmp_path: Path) -> None:
    lines = [*table(run(HELLO, class_of(HELLO, len(KINDS)), tmp_path))]
    assert not [line for line in lines if "<-" in line]
    assert "\n".join(lines).count("nothing handed in") == 2
