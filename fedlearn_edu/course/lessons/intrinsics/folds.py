# SPDX-License-Identifier: Apache-2.0
"""An aggregation of pairs: from the coldest to the warmest client."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.mistakes import gives, looks
from fedlearn_edu.framework import SyncExecutionContext, local_executor_factory

TO_ONE: Final = "({float32}@CLIENTS -> float32@SERVER)"
AT_CLIENTS: Final = fl.type_at_clients(np.float32)
Readings = Sequence[float]


@cache
def _pairs() -> SyncExecutionContext:
    return SyncExecutionContext(local_executor_factory(max_fanout=2))


def in_pairs(answer: Any, readings: Readings) -> Any:
    """Runs it with clients in groups of two: now `merge` is needed."""
    with _pairs():
        return answer(readings)


def halves(readings: Readings) -> tuple[Readings, Readings]:
    """The first group of two, and the last group, of three or four clients."""
    return readings[:2], readings[2:]


def _span_of() -> Any:
    pair = fl.parse_type("<high=float32,low=float32>")

    @fl.np_computation(pair, np.float32)
    def widen(seen: Any, reading: Any) -> Any:
        return {"high": max(seen["high"], reading), "low": min(seen["low"], reading)}

    @fl.np_computation(pair, pair)
    def join(one: Any, other: Any) -> Any:
        return {
            "high": max(one["high"], other["high"]),
            "low": min(one["low"], other["low"]),
        }

    difference = fl.np_computation(lambda seen: seen["high"] - seen["low"], pair)
    return fl.federated_computation(
        lambda readings: fl.federated_aggregate(
            readings, (-np.inf, np.inf), widen, join, difference
        ),
        AT_CLIENTS,
    )


def _span(readings: Readings) -> float:
    return max(readings) - min(readings)


def of_groups(wrong: Callable[[Readings, Readings], float]) -> Callable[..., float]:
    """What a wrong merge makes of the first group and the last."""
    return lambda readings: wrong(*halves(readings))


SPAN_OF = Exercise(
    name="span_of",
    title="from the coldest to the warmest client",
    points=10,
    want=wants.computation(TO_ONE),
    reference=_span_of,
    cases=(
        Case("three clients", ([-3.0, 6.0, 1.0],)),
        Case("all above zero", ([15.0, 24.0, 18.0],)),
        Case("all below zero", ([-2.0, -8.0],)),
        Case("one client", ([21.5],)),
        Case("in pairs, four clients", ([18.0, 20.0, 27.0, 24.0],), in_pairs),
        Case("in pairs, the extremes first", ([3.0, 30.0, 12.0, 14.0],), in_pairs),
        Case("nobody has any span", ([],)),
    ),
    mistakes=(
        gives(
            "your zero is not neutral: 0 is itself higher or lower than some readings",
            lambda r: _span([*r, 0.0]),
        ),
        gives("this is the highest reading alone", max),
        gives("this is the lowest reading alone", min),
        gives("you subtracted the high from the low", lambda r: -_span(r)),
        gives(
            "this is the sum of both; a difference is asked for",
            lambda r: max(r) + min(r),
        ),
        gives("this is half of the difference", lambda r: _span(r) / 2),
        gives(
            "high and low of your zero are swapped: nothing is higher than infinity",
            lambda r: np.inf,
        ),
        gives(
            "`join` keeps its first pair, and forgets the other",
            of_groups(lambda a, b: _span(a)),
        ),
        gives(
            "`join` keeps one of its pairs, here the second, and forgets the other",
            of_groups(lambda a, b: _span(b)),
        ),
        gives(
            "`join` adds; the higher of two highs is asked for, and the lower low",
            of_groups(lambda a, b: _span(a) + _span(b)),
        ),
        gives(
            "`join` takes the lower high and the higher low: it has to widen",
            of_groups(lambda a, b: min(max(a), max(b)) - max(min(a), min(b))),
        ),
        gives(
            "`join` takes the middle; that does not widen",
            of_groups(lambda a, b: (_span(a) + _span(b)) / 2),
        ),
        looks(
            "your zero is not neutral: some reading may lie beyond it",
            lambda answer: not np.isneginf(answer([])),
        ),
    ),
    hints=(
        "Which high is lower than every reading, so that the first one replaces it? "
        "And `join` does for two pairs what `widen` does for a reading.",
        "zero = (−∞, +∞); high = max of both highs; low = min of both lows; "
        "report = high − low.",
        "Fill the gaps:\n"
        "    nothing_seen = (-np.inf, ...)\n"
        "    # in join\n"
        '    return dict(high=max(one["high"], other["high"]), low=...)\n'
        "    # in difference\n"
        '    return seen["high"] - ...',
    ),
)
