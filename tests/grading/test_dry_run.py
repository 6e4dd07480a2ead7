# SPDX-License-Identifier: Apache-2.0
"""A small class goes the whole way; other marks than deserved are pointed at."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.grading.dry_run import KINDS, Lesson, Outcome, Row, class_of, run, table

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


def test_class_has_every_kind_and_known_marks() -> None:
    students = class_of(HELLO, 2 * len(KINDS))
    assert len({student.name for student in students}) == 2 * len(KINDS)
    totals = {s.name: sum(s.deserved.values()) for s in students}
    known = ("right", "half_right", "wrong", "ends_the_kernel", "loops_forever_1")
    assert [totals[name] for name in known] == [40, 25, 0, 25, 35]


def test_other_marks_than_deserved_are_pointed_at() -> None:
    [right] = class_of(HELLO, 1)
    row = Row(right, "graded", {**right.deserved, "share_warm": 0.0}, has_feedback=True)
    for wrong in (row, replace(row, points=right.deserved, status="did not run")):
        assert not wrong.is_as_deserved
        assert "<-" in [*table(Outcome([wrong], ""))][1]
    assert replace(row, points=right.deserved).is_as_deserved
