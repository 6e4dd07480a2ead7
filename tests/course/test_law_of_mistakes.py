# SPDX-License-Identifier: Apache-2.0
"""A law of all lessons: each mistake that has a formula is recognized as itself.

Where a function is asked for, the formula is handed in as the answer. Elsewhere its
result is, on the first case where it differs from the right one, as `judge` does. Two
mistakes that give the same number there need another case or another order.

A mistake without a formula has an answer in `tests/grading/answers`.
"""

from collections.abc import Callable
from typing import Any

import pytest

from fedlearn_edu.course.exercise import Attempt, Exercise, call, shown
from fedlearn_edu.course.judging import judge
from fedlearn_edu.testing.comparison import alike
from tests.course.test_lessons import with_each_exercise

RIGHT = "nothing, as it gives what is right in each case"


@pytest.mark.filterwarnings("ignore")  # a mistake may divide by zero
@with_each_exercise("build_my_prox")
def test_each_mistake_with_a_formula_is_recognized_as_itself(
    exercise: Exercise,
) -> None:
    told = {
        (mistake.says, number): _told(exercise, sign.formula)
        for mistake in exercise.mistakes
        for number, sign in enumerate(mistake.signs)
        if sign.formula is not None
    }
    wrongly = {key: said for key, said in told.items() if said != key[0]}
    assert not wrongly


@with_each_exercise("build_my_prox")
def test_no_constant_passes_most_cases(exercise: Exercise) -> None:
    """It would have half of the points."""
    called = [case for case in exercise.cases if case.do is call]
    right = [case.on(exercise.solution, case.inputs()) for case in called]
    most = max((sum(alike(a, b) for b in right) for a in right), default=0)
    assert most <= max(1, len(exercise.cases) // 2)


def _told(exercise: Exercise, formula: Callable[..., Any]) -> str:
    """What is said of an answer that computes the formula."""
    called = all(case.do is call for case in exercise.cases)
    if called and exercise.want.failure(formula) is None:
        failure = judge(exercise, formula).failure
        return failure.likely if failure else RIGHT
    for case in exercise.cases:
        inputs = case.inputs()
        expected = case.on(exercise.solution, inputs)
        try:
            got = formula(*case.inputs())
        except Exception:
            continue  # the formula is of another case
        if alike(got, expected):
            continue
        attempt = Attempt(exercise.solution, inputs, got)
        spotted = (each.says for each in exercise.mistakes if each.spotted(attempt))
        return next(spotted, f"nothing of {shown(got)} for {case.name}")
    return RIGHT
