# SPDX-License-Identifier: Apache-2.0
"""What the cells of a lesson call: `check`, `hint`, `checkpoint`.

What they refuse is in `tests/refusals/course.txt`.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import fedlearn_edu as fl
from fedlearn_edu.course import (
    NotRightYetError,
    check,
    checkpoint,
    checks,
    hint,
    records,
)
from fedlearn_edu.course.exercise import Exercise, Lesson, Unanswered
from fedlearn_edu.course.lessons import load_all
from fedlearn_edu.course.records import Record
from tests.course.examples import doubles, right

Read = Callable[[], str]


@pytest.fixture(autouse=True)
def exercise(monkeypatch: pytest.MonkeyPatch) -> Exercise:
    """The exercise of `examples`, as if a lesson had it."""
    made = doubles()
    _teach(made, monkeypatch)
    monkeypatch.setattr(checks, "_taken", {})
    monkeypatch.setattr(checks, "_last", {})
    return made


def _teach(exercise: Exercise, monkeypatch: pytest.MonkeyPatch) -> None:
    lesson = Lesson("00_small", "What is twice a number?", 1, exercises=(exercise,))
    known = (lesson, *load_all())
    monkeypatch.setattr(checks, "loaded_first", lambda: iter(known))


@pytest.fixture
def read(capfd: pytest.CaptureFixture[str]) -> Read:
    """Gives what was printed so far; a grader gives no points to stderr."""

    def read() -> str:
        out, err = capfd.readouterr()
        assert err == ""
        return out

    return read


def wrong(numbers: list[float]) -> list[float]:
    return [n * n for n in numbers]


def test_check_shows_the_verdict_and_raises_if_it_is_wrong(read: Read) -> None:
    assert check.doubles(right) is None
    assert read().endswith("Right. All 3 checks pass.\n")
    with pytest.raises(
        AssertionError, match=r"not right yet, 2 of 3.*you squared"
    ) as caught:
        check.doubles(wrong)
    assert "likely cause: you squared" in read()
    error: Any = caught.value
    assert error._render_traceback_() == ["doubles: not right yet (see above)"]
    frames = [str(entry.path) for entry in caught.traceback]
    assert not [file for file in frames if "fedlearn_edu/course" in file][1:]


def test_right_answer_gets_its_reward_and_keeps_its_points_without(
    exercise: Exercise, monkeypatch: pytest.MonkeyPatch, read: Read
) -> None:
    for reward in (lambda answer: f"{answer([21])}!", lambda answer: answer.missing):
        _teach(replace(exercise, reward=reward), monkeypatch)
        check.doubles(right)
    assert read().count("[42]!") == 1


def test_hints_climb_and_stay_on_the_last_rung(read: Read) -> None:
    assert {"doubles"} <= {*dir(check)} & {*dir(hint)}
    for _ in range(4):
        assert hint.doubles() is None
    assert [line for line in read().splitlines() if "Hint" in line] == [
        "Hint 1 of 3: a nudge",
        "Hint 2 of 3: 2 · `x`",
        "Hint 3 of 3, the last: Complete:",
        "Hint 3 of 3, the last: Complete:",
    ]


@pytest.mark.parametrize("answer", [wrong, None, "text", Unanswered("doubles")])
def test_checkpoint_takes_the_reference_for_others_and_says_so(
    answer: Any, exercise: Exercise, read: Read
) -> None:
    taken = checkpoint("doubles", answer)
    how = "right" if answer is wrong or answer == "text" else "answered"
    assert f"`doubles` is not {how} yet" in read()
    assert taken is checkpoint("doubles", taken) is exercise.solution
    assert read().count("the reference") == 1, "run twice, it still says so"


def test_checkpoint_does_not_try_again_what_was_just_checked() -> None:
    calls = []

    def counted(numbers: list[float]) -> list[float]:
        calls.append(numbers)
        return right(numbers)

    check.doubles(counted)
    tried = len(calls)
    assert checkpoint("doubles", counted) is counted
    assert len(calls) == tried
    check.doubles(right)
    checkpoint("doubles", counted)
    assert len(calls) == 2 * tried


def test_check_does_not_trust_what_was_seen_before() -> None:
    """A function may use another one that was defined anew."""
    factor = 3.0

    def scaled(numbers: list[float]) -> list[float]:
        return [factor * n for n in numbers]

    with pytest.raises(NotRightYetError):
        check.doubles(scaled)
    factor = 2.0
    check.doubles(scaled)


@pytest.mark.usefixtures("kept")
def test_checks_and_hints_are_kept_until_one_passes() -> None:
    checkpoint("doubles", wrong)
    assert len(records.read()) == 0, "a checkpoint is no try"
    check.type_of_mean(fl.parse_type("float32@SERVER"))
    hint.doubles()
    hint.doubles()
    for answer in (wrong, wrong):
        with pytest.raises(NotRightYetError):
            check.doubles(answer)
    assert records.read()["doubles"] == Record(tries=2, hints=2)
    check.doubles(right)
    record = records.read()["doubles"]
    assert (record.tries, record.passed is None) == (3, False)
