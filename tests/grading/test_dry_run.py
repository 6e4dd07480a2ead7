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
    outcome = run(HELLO, class_of(HELLO, len(KINDS)), tmp_path)
    lines = [*table(outcome)]
    assert not [line for line in lines if "<-" in line]
    assert "\n".join(lines).count("nothing handed in") == 2
    assert "two_files/01_hello (1).ipynb: older: two_files/" in outcome.collected
    assert "12 new, 1 left" in outcome.collected, "and one handed in nothing"
