# SPDX-License-Identifier: Apache-2.0
"""What the cells of a lesson call: `check`, `hint`, `checkpoint`."""

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
    progress,
    records,
)
from fedlearn_edu.course.exercise import Exercise, Unanswered
from fedlearn_edu.course.lessons import EXERCISES
from fedlearn_edu.course.records import Record
from fedlearn_edu.errors import ArgumentsError, FedLearnError
from tests.course.examples import doubles, right


@pytest.fixture
def exercise(monkeypatch: pytest.MonkeyPatch) -> Exercise:
    """The exercise of `examples`, as if a lesson had it."""
    made = doubles()
    monkeypatch.setitem(EXERCISES, "doubles", made)
    monkeypatch.setattr(checks, "_taken", {})
    monkeypatch.setattr(checks, "_last", {})
    monkeypatch.setattr(records, "_listeners", [])
    return made


pytestmark = pytest.mark.usefixtures("exercise")


def wrong(numbers: list[float]) -> list[float]:
    return [n * n for n in numbers]


def test_check_of_a_right_answer_shows_it_and_returns_nothing(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert check.doubles(right) is None
    out, err = capfd.readouterr()
    assert out.endswith("Right. All 3 checks pass.\n")
    assert err == ""


def test_check_of_a_wrong_answer_shows_it_and_raises(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(AssertionError, match=r"not right yet, 2 of 3.*you squared"):
        check.doubles(wrong)
    out, err = capfd.readouterr()
    assert "likely cause: you squared" in out
    assert err == ""


def test_failed_check_shows_one_line_in_a_notebook() -> None:
    with pytest.raises(NotRightYetError) as caught:
        check.doubles(wrong)
    shown = caught.value._render_traceback_()
    assert shown == ["doubles: not right yet (see the table above)"]
    frames = [str(entry.path) for entry in caught.traceback]
    assert not [file for file in frames if "fedlearn_edu/course" in file][1:]


def test_right_answer_gets_its_reward_and_keeps_its_points_without(
    exercise: Exercise,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for reward in (lambda answer: f"{answer([21])}!", lambda answer: answer.missing):
        monkeypatch.setitem(EXERCISES, "doubles", replace(exercise, reward=reward))
        check.doubles(right)
    assert capfd.readouterr().out.count("[42]!") == 1


def test_unknown_exercise_gets_near_names() -> None:
    for door in (check, hint):
        with pytest.raises(FedLearnError, match="no exercise `double`") as caught:
            door.double  # noqa: B018 (asking for it is what fails)
        assert "doubles" in str(caught.value.expected)
    with pytest.raises(AttributeError):
        check.something_else_entirely  # noqa: B018
    with pytest.raises(FedLearnError, match="no exercise `double`"):
        checkpoint("double", right)


@pytest.mark.parametrize(
    ("call", "expected", "found"),
    [
        (lambda: check.doubles(), "check.doubles(doubles)", "missing a required"),
        (lambda: check.doubles(right, 2), "check.doubles(doubles)", "too many"),
        (lambda: check.doubles(anwser=right), "check.doubles(doubles)", "missing a"),
        (lambda: check.doubles(right, all=1), "check.doubles(doubles)", "got an une"),
        (lambda: hint.doubles(4), "hint.doubles()", "too many"),
        (lambda: hint.doubles(rung=4), "hint.doubles()", "got an unexpected"),
    ],
)
def test_other_arguments_than_the_answer_are_refused(
    call: Callable[[], None], expected: str, found: str
) -> None:
    with pytest.raises(ArgumentsError, match="was called in another way") as caught:
        call()
    assert caught.value.expected == expected
    assert str(caught.value.found).startswith(found)
    assert caught.value.do == f"write {expected}"


def test_exercise_that_is_not_named_is_asked_for() -> None:
    with pytest.raises(FedLearnError, match=r"expected: check\.\w+\(answer\)"):
        check(right)
    with pytest.raises(TypeError, match=r"found: +hint\(\)"):
        hint()


def test_hints_climb_and_stay_on_the_last_rung(
    capfd: pytest.CaptureFixture[str],
) -> None:
    for _ in range(4):
        assert hint.doubles() is None
    lines = [line for line in capfd.readouterr().out.splitlines() if "Hint" in line]
    assert lines == [
        "Hint 1 of 3: a nudge",
        "Hint 2 of 3: 2 · `x`",
        "Hint 3 of 3, the last: Complete:",
        "Hint 3 of 3, the last: Complete:",
    ]


@pytest.mark.parametrize("answer", [wrong, None, "text", Unanswered("doubles")])
def test_checkpoint_takes_the_reference_for_others_and_says_so(
    answer: Any, exercise: Exercise, capfd: pytest.CaptureFixture[str]
) -> None:
    assert checkpoint("doubles", answer) is exercise.solution
    how = "right" if answer is wrong or answer == "text" else "answered"
    assert f"`doubles` is not {how} yet" in capfd.readouterr().out


def test_checkpoint_run_twice_still_says_so(
    exercise: Exercise, capfd: pytest.CaptureFixture[str]
) -> None:
    taken = checkpoint("doubles", wrong)
    assert checkpoint("doubles", taken) is exercise.solution
    assert capfd.readouterr().out.count("the reference") == 2


def test_checkpoint_does_not_try_again_what_was_just_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []

    def counted(numbers: list[float]) -> list[float]:
        calls.append(numbers)
        return right(numbers)

    check.doubles(counted)
    assert {"doubles"} <= {*dir(check)} & {*dir(hint)}
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


def test_polymorphic_computation_is_told_what_is_missing() -> None:
    @fl.federated_computation
    def average_of(readings: Any) -> Any:
        return fl.federated_mean(readings)

    with pytest.raises(NotRightYetError, match="the decorator says no types"):
        check.average_of(average_of)


@pytest.mark.usefixtures("kept")
def test_checks_and_hints_are_kept_until_one_passes() -> None:
    checkpoint("doubles", wrong)
    assert len(records.read()) == 0, "a checkpoint is no try"
    shown = progress()
    check.type_of_mean(fl.parse_type("float32@SERVER"))
    assert " 5 of" in repr(shown)
    hint.doubles()
    hint.doubles()
    for answer in (wrong, wrong):
        with pytest.raises(NotRightYetError):
            check.doubles(answer)
    assert records.read()["doubles"] == Record(tries=2, hints=2)
    check.doubles(right)
    record = records.read()["doubles"]
    assert (record.tries, record.passed is None) == (3, False)
