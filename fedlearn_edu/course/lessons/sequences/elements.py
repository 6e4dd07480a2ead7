# SPDX-License-Identifier: Apache-2.0
"""Within one client: the sum of squares, and the longest streak."""

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import accumulate, groupby
from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.mistakes import gives, raises, typed

READINGS: Final = fl.SequenceType(np.float32)
_STREAKS: Final = [22.0] * 3 + [20.0] * 3 + [23.0] * 4 + [19.0] + [22.0] * 2


def _sum_of_squares() -> Any:
    square = fl.np_computation(lambda reading: reading * reading, np.float32)

    @fl.federated_computation(READINGS)
    def sum_of_squares(readings: Any) -> Any:
        return fl.sequence_sum(fl.sequence_map(square, readings))

    return sum_of_squares


SUM_OF_SQUARES = Exercise(
    name="sum_of_squares",
    title="the sum of squares",
    points=10,
    want=wants.computation("(float32* -> float32)"),
    reference=_sum_of_squares,
    cases=(
        Case("three elements", ([1.0, 2.0, 3.0],)),
        Case("elements below zero", ([-2.0, 3.0],)),
        Case("one element", ([1.5],)),
        Case("no elements", ([],)),
    ),
    mistakes=(
        gives("you added up the readings themselves: square each of them first", sum),
        gives(
            "you squared the sum: square each reading first, then add up",
            lambda readings: sum(readings) ** 2,
        ),
        gives(
            "this is the mean of the squares: there is nothing to divide by",
            lambda readings: np.sum(np.square(readings)) / len(readings or [1.0]),
        ),
        gives("you squared twice", lambda readings: np.sum(np.power(readings, 4))),
        gives(
            "you doubled each reading: its square is the reading times itself",
            lambda readings: 2 * sum(readings),
        ),
        gives("you counted the elements", len),
        gives(
            "the sum begins at 1; it has to begin at 0",
            lambda readings: 1 + np.sum(np.square(readings)),
        ),
        gives(
            "the state was squared, too: only the new reading is, and it is added",
            lambda readings: reduce(lambda so_far, r: (so_far + r) ** 2, readings, 0.0),
        ),
        gives(
            "only the last element is in this: the state so far has to be in it, too",
            lambda readings: (readings or [0.0])[-1] ** 2,
        ),
        typed(
            "every element is squared, but nobody added up", "(float32* -> float32*)"
        ),
    ),
    hints=(
        "Two moves: first every element is squared, then the squares are added up. A "
        "sequence is no array: `readings ** 2` does not go through its elements.",
        "`sequence_map(f, s)` applies `f` to every element, and `square` is above; "
        "`sequence_sum(s)` adds up.",
        "Fill both gaps:\n"
        "    @fl.federated_computation(READINGS)\n"
        "    def sum_of_squares(readings):\n"
        "        squares = fl.sequence_map(square, ...)\n"
        "        return fl.sequence_sum(...)",
    ),
)


def _one_more(state: Any, reading: Any) -> Any:
    now, longest = state
    now = now + 1 if reading > 21 else 0
    return now, max(longest, now)


def _longest_streak() -> Any:
    one_more = fl.np_computation(_one_more, (np.int32, np.int32), np.float32)

    @fl.federated_computation(READINGS)
    def longest_streak(readings: Any) -> Any:
        return fl.sequence_reduce(readings, (0, 0), one_more)[1]

    return longest_streak


def _is_warm(reading: float) -> bool:
    return reading > 21


def _longest(
    readings: Sequence[float], counts: Callable[[float], bool] = _is_warm
) -> int:
    """How long the longest stretch of readings that count is."""
    stretches = groupby(readings, counts)
    lengths = (len(list(stretch)) for is_one, stretch in stretches if is_one)
    return max(lengths, default=0)


def _before_the_last(readings: Sequence[float]) -> int:
    """What comes out if the longest is looked up before the new reading counts."""
    streaks = accumulate(readings, lambda now, r: now + 1 if r > 21 else 0, initial=0)
    return max(list(streaks)[:-1], default=0)


def _swapped(state: tuple[int, int], reading: float) -> tuple[int, int]:
    now, longest = _one_more(state, reading)
    return longest, now


LONGEST_STREAK = Exercise(
    name="longest_streak",
    title="the longest streak of warm readings",
    points=15,
    want=wants.computation("(float32* -> int32)"),
    reference=_longest_streak,
    cases=(
        Case("several streaks", (_STREAKS,)),
        Case("the longest comes first", ([22.0, 22.0, 22.0, 18.0, 22.0],)),
        Case("the longest comes last", ([22.0, 18.0, 22.0, 22.0],)),
        Case("exactly 21 is not above 21", ([22.0, 21.0, 21.0, 21.0],)),
        Case("never warm", ([3.0, 4.0],)),
        Case("no readings", ([],)),
    ),
    mistakes=(
        gives(
            "you counted all warm readings; a cold one ends the streak, and `now` is 0",
            lambda readings: sum(map(_is_warm, readings)),
        ),
        gives(
            "this is the streak at the end: keep the longest one so far, too",
            lambda readings: list(
                accumulate(readings, lambda n, r: (n + 1) * (r > 21), initial=0)
            )[-1],
        ),
        gives(
            "the last reading does not count: `longest` has to look at the new `now`",
            _before_the_last,
        ),
        gives(
            "a reading of exactly 21 is not above 21",
            lambda readings: _longest(readings, lambda reading: reading >= 21),
        ),
        gives(
            "this is the longest streak of cold readings",
            lambda readings: _longest(readings, lambda reading: reading <= 21),
        ),
        gives(
            "the two numbers are swapped: return `now` first, then the longest",
            lambda readings: reduce(_swapped, readings, (0, 0))[1],
        ),
        gives(
            "after a cold reading the streak is 0, not 1",
            lambda readings: max(
                accumulate(readings, lambda n, r: n + 1 if r > 21 else 1, initial=0)
            ),
        ),
        gives("you counted the readings, warm or not", len),
        raises(
            "the state is two whole numbers: count readings, do not add them up",
            "was tried on ones and gave another type",
        ),
        gives("this never gets beyond its beginning, 0", lambda _readings: 0),
    ),
    hints=(
        "What happens to `now` when the next reading is warm, and what when it is not? "
        "And then: what is the longest streak, given the new `now`?",
        "now ← now + 1 if the reading is above 21, else 0; "
        "longest ← the larger of longest and the new now.",
        "Fill the gaps:\n"
        "    now, longest = state\n"
        "    now = ... if reading > 21 else ...\n"
        "    longest = max(longest, ...)\n"
        "    return now, longest",
    ),
)
