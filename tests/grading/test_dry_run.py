# SPDX-License-Identifier: Apache-2.0
"""A small class goes the whole way, and whoever gets other marks is pointed at."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.grading.dry_run import NAMES, Lesson, Outcome, Row, class_of, run, table

HELLO = Lesson.named("01_hello")


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.thorough
def test_everybody_gets_the_marks_they_deserve(tmp_path: Path) -> None:
    outcome = run(HELLO, class_of(HELLO, 12), tmp_path)
    lines = [*table(outcome)]
    assert not [line for line in lines if "<-" in line]
    assert "\n".join(lines).count("nothing handed in") == 2
    assert "cynthia/01_hello (1).ipynb: older: cynthia/" in outcome.collected
    assert "10 new, 1 left" in outcome.collected, "and one handed in nothing"


def test_class_has_every_kind_and_known_marks() -> None:
    students = class_of(HELLO, 30)
    assert len(students) == len(NAMES) == 30
    assert len({student.kind for student in students[:14]}) == 14
    totals = {s.kind: sum(s.deserved.values()) for s in students}
    assert (totals["right"], totals["half right"], totals["wrong"]) == (40, 25, 0)
    assert (totals["ends the kernel"], totals["loops forever"]) == (25, 35)


def test_other_marks_than_deserved_are_pointed_at() -> None:
    [ada] = class_of(HELLO, 1)
    row = Row(ada, "graded", {**ada.deserved, "share_warm": 0.0}, has_feedback=True)
    for wrong in (row, replace(row, points=ada.deserved, status="did not run")):
        assert not wrong.is_as_deserved
        assert "<-" in [*table(Outcome([wrong], "", {}))][1]
    assert replace(row, points=ada.deserved).is_as_deserved
