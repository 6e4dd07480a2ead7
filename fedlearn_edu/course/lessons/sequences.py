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
from fedlearn_edu.course.mistakes import looks, raises, typed, usual

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
        "only the last element is in this: the state so far has to be in it, too",
        lambda readings: (readings or [0.0])[-1] ** 2,
        "this is the mean of the squares: there is nothing to divide by",
        lambda readings: np.sum(np.square(readings)) / len(readings or [1.0]),
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
        "a streak at the end does not count: `longest` has to look at the new `now`",
        _before_the_last,
        "a reading of exactly 21 is not above 21",
        lambda readings: _longest(readings, lambda reading: reading >= 21),
        "the two numbers are swapped: return `now` first, then the longest",
        lambda readings: reduce(_swapped, readings, (0, 0))[1],
        lambda readings: reduce(
            lambda s, r: (s[1], (s[0] + 1) * (r > 21)), readings, (0, 0)
        )[1],
    ),
    hints=(
        "What happens to `now` when the next reading is warm, and what when it is not? "
        "And then: what is the longest streak, given the new `now`?",
        "`append` above shows what such a function does: it takes the state so "
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


AT_CLIENTS: Final = fl.type_at_clients(READINGS)
_SENSORS: Final = ([68.0, 70.0], [71.0], [68.0, 72.0, 70.0])


def _mean_of_readings() -> Any:
    add_one = fl.np_computation(lambda n, _reading: n + 1, np.float32, np.float32)

    @fl.federated_computation(AT_CLIENTS)
    def mean_of_readings(readings: Any) -> Any:
        totals = fl.federated_sum(fl.sequence_sum(readings))
        counts = fl.sequence_reduce(readings, 0.0, add_one)
        return totals / fl.federated_sum(counts)

    return mean_of_readings


def _mean(readings: Sequence[float]) -> float:
    return sum(readings) / len(readings)


def _weighted(weight: Callable[[Sequence[float]], Any]) -> Any:
    """A function of the homes' readings: their means, weighted by `weight` of each."""
    return lambda homes: np.average(
        [_mean(readings) for readings in homes],
        weights=[weight(readings) for readings in homes],
    )


MEAN_OF_READINGS = Exercise(
    name="mean_of_readings",
    title="the mean in which each reading counts once",
    points=10,
    want=wants.computation("({float32*}@CLIENTS -> float32@SERVER)"),
    reference=_mean_of_readings,
    cases=(
        Case("our homes", (list(THREE_HOMES),)),
        Case("the tutorial's sensors", (list(_SENSORS),)),
        Case("one home", ([[1.0, 4.0, 2.5]],)),
        Case("a home with many readings", ([[1.0] * 9, [11.0]],)),
    ),
    mistakes=usual(
        "each home counts once in this: give `federated_mean` the counts as weights",
        lambda homes: np.mean([_mean(readings) for readings in homes]),
        "the homes are weighted by the sums of their readings: `count` has to add 1 "
        "for each reading, not the reading",
        _weighted(sum),
        "the weight is the last reading: add 1 to the state `n`, not to the reading",
        _weighted(lambda readings: readings[-1] + 1),
        "the averages and the counts have changed places: values first, then weights",
        lambda homes: np.average(
            [len(readings) for readings in homes],
            weights=[_mean(readings) for readings in homes],
        ),
        "this divides by the number of homes: the mean has to be weighted",
        lambda homes: sum(map(sum, homes)) / len(homes),
        "this is at each home; `federated_mean` brings the homes together",
        typed("({float32*}@CLIENTS -> {float32}@CLIENTS)"),
    ),
    hints=(
        "`get_local_temperature_average` counts, too: its state is a sum and a count. "
        "Yours is the count alone, as a decimal number.",
        "`reduce` begins at 0.0, and each reading adds 1.0 to the state:\n"
        "    lambda n, _reading: ...",
        "Then every home counts, and the mean takes two arguments:\n"
        "    counts = tff.federated_map(..., sensor_readings)\n"
        "    return tff.federated_mean(..., ...)",
        "Values first, then weights. One name is missing:\n"
        "    counts = tff.federated_map(count, sensor_readings)\n"
        "    return tff.federated_mean(averages, ...)",
    ),
)


_PRICES: Final = np.repeat(np.array([0.25, 0.375, 0.5], np.float32), 8)
_TABLE: Final = fl.TensorType(np.float32, [24])


def _bills() -> Any:
    price_at = fl.np_computation(lambda prices, h: prices[h], _TABLE, np.int32)
    hours_at_clients = fl.type_at_clients((np.int32, [3]))

    @fl.federated_computation(hours_at_clients, fl.type_at_server(_TABLE))
    def bills(hours: Any, prices: Any) -> Any:
        max_key = fl.federated_value(24, fl.SERVER)
        return fl.sequence_sum(fl.federated_select(hours, max_key, prices, price_at))

    return bills


def _selects(answer: Any) -> bool:
    return "federated_select" in answer.to_text()


def _each(fold: Callable[[Any], Any]) -> Any:
    """A function of hours and prices: what `fold` makes of each home's prices."""
    return lambda hours, prices: [fold(prices[list(asked)]) for asked in hours]


BILLS = Exercise(
    name="bills",
    title="what each home pays",
    points=10,
    want=wants.computation(
        "(<hours={int32[3]}@CLIENTS,prices=float32[24]@SERVER> -> {float32}@CLIENTS)"
    ),
    reference=_bills,
    cases=(
        Case("three homes", ([[6, 7, 19], [0, 1, 2], [5, 6, 23]], _PRICES)),
        Case("one home", ([[17, 18, 3]], _PRICES)),
        Case("an hour twice", ([[22, 22, 4], [1, 9, 9]], _PRICES)),
        Case("a home gets no other prices", (), _selects),
    ),
    mistakes=usual(
        "each home gets its prices, but nobody added them up",
        typed(
            "(<hours={int32[3]}@CLIENTS,prices=float32[24]@SERVER>"
            " -> {float32*}@CLIENTS)"
        ),
        "this is one bill for all homes: add up within each home, by `sequence_sum`",
        typed(
            "(<hours={int32[3]}@CLIENTS,prices=float32[24]@SERVER> -> float32@SERVER)"
        ),
        "every home pays for the whole day: ask for its hours alone",
        lambda hours, prices: [np.sum(prices)] * len(hours),
        "every home gets all 24 prices: `federated_select` sends those of its hours",
        looks(lambda answer: not _selects(answer)),
        "this adds up the hours, not their prices",
        lambda hours, _prices: [np.sum(asked) for asked in hours],
        "`federated_select` takes `hours`, `hours_of_a_day`, `prices` and `price_at` "
        "as they are, in this order",
        raises("federated_select (was|works|needs)|of federated_select|hour={int32"),
        "`sequence_sum(…)` adds up at each home as it is, with no map around it",
        raises("function sequence_sum|federated_map was called"),
        "a home has no prices yet: it asks for those of its hours, `federated_select`",
        raises("works on a sequence|at several placements"),
    ),
    hints=(
        "Two moves: each home asks for the prices of its hours, then it adds them up.",
        "What comes from `federated_select` is a sequence at each home. The first half "
        "of this lesson adds one up, with nothing sent.",
        "Keys, max_key, value, function:\n"
        "    asked = fl.federated_select(hours, ..., ..., price_at)\n"
        "    return fl.sequence_...(asked)",
        "Two names are missing:\n"
        "    asked = fl.federated_select(hours, hours_of_a_day, ..., price_at)\n"
        "    return fl.sequence_...(asked)",
    ),
)


LESSON: Final = Lesson(
    name="05_sequences",
    title="What if a day of readings does not fit into memory?",
    minutes=55,
    goals=(
        "work through a client's data in order, with a state of your own",
        "tell what is added up over elements from what is added up over clients",
        "run a program that was written for TensorFlow Federated",
    ),
    needs="lessons 1 to 4",
    path=MACHINE,
    exercises=(SUM_OF_SQUARES, LONGEST_STREAK, MEAN_OF_READINGS, BILLS),
    outcomes={
        "in-memory": "1",
        "order": "a square, then an addition, by turns",
        "digits": "0",
        "means": "the mean of three means",
    },
)
