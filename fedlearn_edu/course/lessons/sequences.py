# SPDX-License-Identifier: Apache-2.0
"""Lesson 05: a client's readings, element by element and in order."""

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import accumulate, groupby
from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import MACHINE, Case, Exercise, Lesson
from fedlearn_edu.course.mistakes import raises, returns, typed, usual

READINGS: Final = fl.SequenceType(np.float32)
THREE_HOMES: Final = ([17.5, 21.5, 24.0, 22.0], [24.0, 23.5], [18.0])
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
    mistakes=usual(
        "you added up the readings themselves: square each of them first",
        sum,
        "you squared the sum: square each reading first, then add up",
        lambda readings: sum(readings) ** 2,
        raises(r"(?s)sequence_map works on a sequence.*found: +float32"),
        "this is the mean of the squares: there is nothing to divide by",
        lambda readings: np.sum(np.square(readings)) / len(readings or [1.0]),
        "you squared twice",
        lambda readings: np.sum(np.power(readings, 4)),
        "you doubled each reading: its square is the reading times itself",
        lambda readings: 2 * sum(readings),
        "you counted the elements",
        len,
        "the sum begins at 1; it has to begin at 0",
        lambda readings: 1 + np.sum(np.square(readings)),
        "the state was squared, too: only the new reading is, and it is added",
        lambda readings: reduce(lambda so_far, r: (so_far + r) ** 2, readings, 0.0),
        "only the last element is in this: the state so far has to be in it, too",
        lambda readings: (readings or [0.0])[-1] ** 2,
        "every element is squared, but nobody added up",
        typed("(float32* -> float32*)"),
    ),
    hints=(
        "Two moves: first every element is squared, then the squares are added up. A "
        "sequence is no array: `readings ** 2` does not go through its elements.",
        "The cell above the exercise has both operators, and `square`. There they run "
        "at once; here they go into the body of a program.",
        "`sequence_map` gives a sequence again, which `sequence_sum` takes:\n"
        "    squares = fl.sequence_map(..., ...)\n"
        "    return fl.sequence_sum(...)",
        "One name is missing:\n"
        "    squares = fl.sequence_map(square, readings)\n"
        "    return fl.sequence_sum(...)",
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


def _of_three_homes(answer: Any) -> str:
    streaks = ", ".join(str(int(answer(readings))) for readings in THREE_HOMES)
    return f"In the three homes of this lesson, the longest streaks are {streaks}."


LONGEST_STREAK = Exercise(
    name="longest_streak",
    title="the longest streak of warm readings",
    points=15,
    want=wants.computation("(float32* -> int32)"),
    reference=_longest_streak,
    cases=(
        Case("several streaks", (_STREAKS,)),
        Case("the longest comes first", ([21.25, 22.0, 22.0, 18.0, 22.0],)),
        Case("the longest comes last", ([22.0, 18.0, 22.0, 22.0],)),
        Case("exactly 21 is not above 21", ([22.0, 21.0, 21.0, 21.0],)),
        Case("never warm", ([3.0, 4.0],)),
        Case("no readings", ([],)),
    ),
    mistakes=usual(
        "this is the number of all warm readings: a cold one sets `now` to 0, and "
        "`longest` only grows where `now` is larger",
        lambda readings: sum(map(_is_warm, readings)),
        "this is the streak at the end: keep the longest one so far, too",
        lambda readings: list(
            accumulate(readings, lambda n, r: (n + 1) * (r > 21), initial=0)
        )[-1],
        "the last reading does not count: `longest` has to look at the new `now`",
        _before_the_last,
        "a reading of exactly 21 is not above 21",
        lambda readings: _longest(readings, lambda reading: reading >= 21),
        "21.25 is above 21, too: compare the reading as it is",
        lambda readings: _longest(readings, lambda reading: int(reading) > 21),
        "this is the longest streak of cold readings",
        lambda readings: _longest(readings, lambda reading: reading <= 21),
        "the two numbers are swapped: return `now` first, then the longest",
        lambda readings: reduce(_swapped, readings, (0, 0))[1],
        lambda readings: reduce(
            lambda s, r: (s[1], (s[0] + 1) * (r > 21)), readings, (0, 0)
        )[1],
        "after a cold reading the streak is 0, not 1",
        lambda readings: max(
            accumulate(readings, lambda n, r: n + 1 if r > 21 else 1, initial=0)
        ),
        "you counted the readings, warm or not",
        len,
        "the state is two whole numbers: count readings, do not add them up",
        raises("was tried on ones and gave another type"),
        "this never gets beyond 0: `longest` becomes the larger of `longest` and `now`",
        lambda _readings: 0,
    ),
    hints=(
        "What happens to `now` when the next reading is warm, and what when it is not? "
        "And then: what is the longest streak, given the new `now`?",
        "`write_behind` above shows what such a function does: it takes the state so "
        "far and one element, and returns the new state. Here a state is a pair.",
        "A condition in one line, then the larger of two numbers:\n"
        "    now = ... if reading > 21 else ...\n"
        "    longest = max(..., ...)\n"
        "    return now, longest",
        "A cold reading ends the streak. What is `now` then?\n"
        "    now = now + 1 if reading > 21 else ...\n"
        "    longest = max(longest, now)\n"
        "    return now, longest",
    ),
    reward=_of_three_homes,
)


AT_CLIENTS: Final = fl.type_at_clients(fl.SequenceType(np.float32))


def _mean_peak() -> Any:
    larger = fl.np_computation(
        lambda peak, reading: max(peak, reading), np.float32, np.float32
    )

    @fl.federated_computation(AT_CLIENTS)
    def mean_peak(readings: Any) -> Any:
        return fl.federated_mean(fl.sequence_reduce(readings, -np.inf, larger))

    return mean_peak


def _each(fold: Any) -> Any:
    """A function of the clients' readings: the mean of what `fold` makes of each."""
    return lambda clients: np.mean([fold(readings) for readings in clients])


MEAN_PEAK = Exercise(
    name="mean_peak",
    title="the mean of the clients' largest readings",
    points=10,
    want=wants.computation("({float32*}@CLIENTS -> float32@SERVER)"),
    reference=_mean_peak,
    cases=(
        Case("three clients", (list(THREE_HOMES),)),
        Case("one client", ([[1.0, 4.0, 2.0]],)),
        Case("freezing everywhere", ([[-8.0, -3.0], [-5.0, -7.0]],)),
        Case("in liquid nitrogen", ([[-196.0, -150.0], [-198.0]],)),
    ),
    mistakes=usual(
        "you summed over clients: the peaks are to be averaged",
        lambda clients: sum(max(readings) for readings in clients),
        "this is the largest reading of all clients: average their peaks",
        lambda clients: max(max(readings) for readings in clients),
        "you began at 0, and below zero no reading is larger: begin at -np.inf",
        _each(lambda readings: max(0, *readings)),
        "you began at +inf, and no reading is larger: begin at -np.inf",
        lambda _clients: np.inf,
        "you began at a number, and some reading is below it: begin at -np.inf",
        returns(
            lambda got, clients: 0 > got > np.mean([max(each) for each in clients])
        ),
        "you added up each client's readings; the peak is the largest one",
        _each(sum),
        "you averaged each client's readings before",
        _each(np.mean),
        "this is the mean of the smallest readings",
        _each(min),
        "this is the mean of the last readings",
        _each(lambda r: r[-1]),
        "you averaged over elements: each client has one peak, and counts once",
        lambda clients: np.mean([r for readings in clients for r in readings]),
        "`sequence_reduce` takes three: the readings, where to begin, and `larger`",
        raises("argument: 'op'"),
        "each client holds a sequence: reduce it to one number first, its peak",
        raises(r"(?s)(only floating-point|cannot be added).*32\*"),
        "each client has its peak, but nobody took their mean",
        typed("({float32*}@CLIENTS -> {float32}@CLIENTS)"),
        "`larger` takes a state and an element, so it goes into `sequence_reduce`; "
        "`sequence_map` takes a function of one element",
        raises("sequence_map cannot use"),
    ),
    hints=(
        "First within each client, then over the clients: one operator that begins "
        "with `sequence_`, one that begins with `federated_`.",
        "The cell with `write_behind` calls `sequence_reduce` on what clients hold, "
        "and lesson 1 has the operator for the mean. Each home counts once.",
        "Where does a maximum begin, and which operator brings the clients together?\n"
        "    peaks = fl.sequence_reduce(readings, ..., larger)\n"
        "    return fl.federated_...(peaks)",
        "Begin below every reading there may be:\n"
        "    peaks = fl.sequence_reduce(readings, ..., larger)\n"
        "    return fl.federated_mean(peaks)",
    ),
)


LESSON: Final = Lesson(
    name="05_sequences",
    title="What if a day of readings does not fit into memory?",
    minutes=40,
    goals=(
        "work through a client's data element by element, in order",
        "carry a state of your own from one element to the next",
        "tell what is added up over elements from what is added up over clients",
    ),
    needs="lessons 1 to 4",
    path=MACHINE,
    exercises=(SUM_OF_SQUARES, LONGEST_STREAK, MEAN_PEAK),
    outcomes={
        "in-memory": "1",
        "order": "a square, then an addition, by turns",
        "digits": "123",
        "means": "different",
    },
)
