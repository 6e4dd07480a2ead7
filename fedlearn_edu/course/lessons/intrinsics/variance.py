# SPDX-License-Identifier: Apache-2.0
"""An aggregation of three sums: the variance of the readings."""

from collections.abc import Callable
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.lessons.intrinsics.folds import (
    AT_CLIENTS,
    TO_ONE,
    Readings,
    halves,
    in_pairs,
    of_groups,
)
from fedlearn_edu.course.mistakes import gives


def _variance_of() -> Any:
    three = fl.parse_type("<n=float32,sum=float32,sum_of_squares=float32>")

    @fl.np_computation(three, np.float32)
    def note(sums: Any, x: Any) -> Any:
        return {
            "n": sums["n"] + 1,
            "sum": sums["sum"] + x,
            "sum_of_squares": sums["sum_of_squares"] + x * x,
        }

    @fl.np_computation(three, three)
    def both(one: Any, other: Any) -> Any:
        return {name: one[name] + other[name] for name in one}

    @fl.np_computation(three)
    def spread(sums: Any) -> Any:
        mean = sums["sum"] / sums["n"]
        return sums["sum_of_squares"] / sums["n"] - mean * mean

    return fl.federated_computation(
        lambda x: fl.federated_aggregate(x, (0.0, 0.0, 0.0), note, both, spread),
        AT_CLIENTS,
    )


def _from_sums(wrong: Callable[[float, float, float], float]) -> Callable[..., float]:
    return lambda x: wrong(len(x), np.sum(x), np.dot(x, x))


def _variance_if_counted(readings: Readings, n: int) -> float:
    return float(np.dot(readings, readings) / n - (np.sum(readings) / n) ** 2)


def _count_of_one_group(readings: Readings) -> float:
    return _variance_if_counted(readings, len(halves(readings)[0]))


def _one_more_than_the_first_group(readings: Readings) -> float:
    return _variance_if_counted(readings, len(halves(readings)[0]) + 1)


VARIANCE_OF = Exercise(
    name="variance_of",
    title="the variance, from three sums",
    points=15,
    want=wants.computation(TO_ONE),
    reference=_variance_of,
    cases=(
        Case("three clients", ([1.0, 2.0, 6.0],)),
        Case("numbers below zero", ([-4.0, 4.0, -3.0, 1.0],)),
        Case("one client does not vary", ([3.0],)),
        Case("in pairs, four clients", ([1.0, 2.0, 4.0, 9.0],), in_pairs),
        Case("in pairs, three clients", ([2.0, 6.0, 10.0],), in_pairs),
    ),
    mistakes=(
        gives(
            "this is the mean of the squares: the square of the mean has to go",
            _from_sums(lambda n, s, q: q / n),
        ),
        gives("this is the root of the variance, the standard deviation", np.std),
        gives("this is the mean", np.mean),
        gives(
            "you divided by n − 1; here every client counts, so it is n",
            _from_sums(lambda n, s, q: (q - s * s / n) / max(n - 1, 1)),
        ),
        gives("the two terms are the wrong way round", lambda x: -np.var(x)),
        gives(
            "the squares were added up, and not divided by n",
            _from_sums(lambda n, s, q: q - (s / n) ** 2),
        ),
        gives("nobody divided by n", _from_sums(lambda n, s, q: q - s**2)),
        gives(
            "you subtracted the square of the sum, not that of the mean",
            _from_sums(lambda n, s, q: q / n - s**2),
        ),
        gives("the mean has to be squared", _from_sums(lambda n, s, q: q / n - s / n)),
        gives(
            "`note` adds x to the sum of squares; it should add x · x",
            _from_sums(lambda n, s, q: s / n - (s / n) ** 2),
        ),
        gives(
            "this is n times the variance: divide by n at the end",
            lambda x: np.var(x) * len(x),
        ),
        gives(
            "you squared the sum, and only then divided by n",
            _from_sums(lambda n, s, q: q / n - s**2 / n),
        ),
        gives(
            "`both` keeps its first group, and forgets the other",
            of_groups(lambda a, b: float(np.var(a))),
        ),
        gives(
            "`both` keeps its second group, and forgets the first",
            of_groups(lambda a, b: float(np.var(b))),
        ),
        gives("`both` forgets to add the n of the two groups", _count_of_one_group),
        gives(
            "`both` adds 1 to n; the other group may be more than one",
            _one_more_than_the_first_group,
        ),
        gives(
            "the mean is sum / n: put it in parentheses, and square all of it",
            _from_sums(lambda n, s, q: q / n - s / n**2),
        ),
        gives(
            "`note` squares the sum so far; it should add x · x",
            lambda x: np.sum(x) ** 2 / len(x) - np.mean(x) ** 2,
        ),
    ),
    hints=(
        "Which three numbers do you need at the end? Start with the report, "
        "`spread`, and then ask how each of its numbers grows.",
        "n grows by 1, sum by x, sum_of_squares by x·x; two groups: add field by "
        "field; report: sum_of_squares/n − (sum/n)².",
        "Fill the gaps:\n"
        "    # in note\n"
        '    return dict(n=sums["n"] + 1, sum=..., sum_of_squares=...)\n'
        "    # in both\n"
        "    return {name: one[name] + ... for name in one}\n"
        "    # in spread\n"
        '    return sums["sum_of_squares"] / sums["n"] - ...',
    ),
)
