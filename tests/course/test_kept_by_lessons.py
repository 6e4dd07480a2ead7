# SPDX-License-Identifier: Apache-2.0
"""What a learner does in a lesson is kept: checks, hints, and what they lead to."""

from pathlib import Path

import pytest

import fedlearn_edu as fl
from fedlearn_edu import course
from fedlearn_edu.course import NotRightYetError, checkpoint, checks, records
from fedlearn_edu.course.records import Record

WRONG, RIGHT = (fl.parse_type(text) for text in ("{float32}@CLIENTS", "float32@SERVER"))


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(records.VARIABLE, str(tmp_path / "progress.json"))
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setattr(records, "_listeners", [])
    monkeypatch.setattr(checks, "_taken", {})


def test_checks_are_kept_until_one_passes() -> None:
    for _ in range(2):
        with pytest.raises(NotRightYetError):
            course.check.type_of_mean(WRONG)
    assert records.read().of("type_of_mean") == Record(tries=2)
    course.check.type_of_mean(RIGHT)
    record = records.read()["type_of_mean"]
    assert (record.tries, record.passed is None) == (3, False)


def test_hints_are_kept() -> None:
    course.hint.type_of_mean()
    course.hint.type_of_mean()
    assert records.read()["type_of_mean"] == Record(hints=2)


def test_checkpoint_is_no_try() -> None:
    checkpoint("type_of_mean", WRONG)
    assert len(records.read()) == 0


def test_progress_of_all_lessons_follows_a_check() -> None:
    shown = course.progress()
    assert "Next: lesson 1" in shown.text
    before = shown.value
    course.check.type_of_mean(RIGHT)
    assert shown.value != before
    assert "5 of" in shown.text
