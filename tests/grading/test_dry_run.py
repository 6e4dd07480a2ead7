# SPDX-License-Identifier: Apache-2.0
"""A small class goes the whole way, and whoever gets other marks is pointed at."""

import doctest
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.grading.dry_run import NAMES, Lesson, Outcome, Row, class_of, run, table
from tools import alike
from tools.cells import read
from tools.release import RELEASE

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
    told, *_ = outcome.shared.splitlines()
    assert told.endswith(f"ada, edsger: {', '.join(HELLO.points)}")


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
        assert "<-" in [*table(Outcome([wrong], "", "", {}))][1]
    assert replace(row, points=ada.deserved).is_as_deserved


def test_same_answers_are_found_whatever_their_layout() -> None:
    assert doctest.testmod(alike) == (0, 1)
    released = read(RELEASE / "01_hello" / "01_hello.ipynb")

    def handed_in(source: str) -> Any:
        notebook = read(RELEASE / "01_hello" / "01_hello.ipynb")
        [answer] = [c for c in notebook.cells if c.id == "answer-type-of-mean"]
        answer.source = source
        return notebook

    long = "type_of_mean = fl.parse_type( 'float32@SERVER' )  # mine"
    short = "type_of_mean = 1"
    sources = {"a": long, "b": f"\n{long}\n# yours", "c": short, "d": "type_of_mean ="}
    sources |= {"e": "type_of_mean  =", "f": short, "g": "x = 1", "h": "x = 1"}
    sources |= {"i": "x = 1", "j": "x = 1"}
    submitted = {name: handed_in(source) for name, source in sources.items()}
    shared, common = alike.find_shared(released, submitted)
    assert [each.students for each in shared] == [("a", "b"), ("c", "f"), ("d", "e")]
    assert common == 1, "four of them have x = 1; nobody shares what was released"
    assert "d, e: type_of_mean" in alike.report(shared, common)
