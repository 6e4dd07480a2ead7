# SPDX-License-Identifier: Apache-2.0
"""What happens when clients are put into groups: `merge` joins what the groups have."""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.mistakes import gives
from fedlearn_edu.framework import SyncExecutionContext, local_executor_factory

SPAN = (np.float32, np.float32)
NINE = [20.0, 24.0, 22.0, 30.0, 18.0, 19.0, 21.0, 28.0, 25.0]
Readings = Sequence[float]
Span = tuple[float, float]


def _spread() -> Any:
    widen = fl.np_computation(
        lambda span, reading: (min(span[0], reading), max(span[1], reading)),
        SPAN,
        np.float32,
    )
    join = fl.np_computation(
        lambda span, other: (min(span[0], other[0]), max(span[1], other[1])), SPAN, SPAN
    )
    width = fl.np_computation(lambda span: span[1] - span[0], SPAN)

    @fl.federated_computation(fl.type_at_clients(np.float32))
    def spread(readings: Any) -> Any:
        return fl.federated_aggregate(readings, (np.inf, -np.inf), widen, join, width)

    return spread


def _in_groups(spread: Any, readings: Readings, size: int) -> Any:
    with SyncExecutionContext(local_executor_factory(max_fanout=size)):
        return spread(readings)


def _joined_by(join: Callable[[Span, Span], Span]) -> Callable[..., float]:
    """The spread that a way to join groups gives."""

    def found(readings: Readings, size: int) -> float:
        parts = [readings[at : at + size] for at in range(0, len(readings), size)]
        low, high = reduce(join, [(min(part), max(part)) for part in parts])
        return high - low

    return found


SPREAD = Exercise(
    name="spread",
    title="how far apart the readings are, also of groups",
    points=10,
    want=wants.computation("({float32}@CLIENTS -> float32@SERVER)"),
    reference=_spread,
    cases=(
        Case("one group: nothing to join", ([18.0, 24.0, 21.0], 100), _in_groups),
        Case("three groups of three", (NINE, 3), _in_groups),
        Case("the wide group comes first", ([5.0, 30.0, 18.0, 19.0], 2), _in_groups),
        Case("the wide group comes last", ([18.0, 19.0, 5.0, 31.0], 2), _in_groups),
        Case("groups of groups", ([-3.0, -9.0, 4.0, 1.0, 2.0, 20.0], 2), _in_groups),
    ),
    mistakes=(
        gives(
            "only the first group counts: `other` is left out of the join",
            _joined_by(lambda span, other: span),
        ),
        gives(
            "only the last group counts: `span` is left out of the join",
            _joined_by(lambda span, other: other),
        ),
        gives(
            "this is where the groups overlap: the lowest is a `min`, the highest a "
            "`max`",
            _joined_by(lambda s, o: (max(s[0], o[0]), min(s[1], o[1]))),
        ),
        gives(
            "you added the groups up: the lowest of both is a `min`, the highest a "
            "`max`",
            _joined_by(lambda s, o: (s[0] + o[0], s[1] + o[1])),
        ),
        gives(
            "you averaged the groups: one of them has the coldest reading, keep that",
            _joined_by(lambda s, o: ((s[0] + o[0]) / 2, (s[1] + o[1]) / 2)),
        ),
        gives(
            "the lowest comes from one group and the highest from the other, whoever "
            "has them: compare both for both",
            _joined_by(lambda span, other: (span[0], other[1])),
        ),
        gives(
            "the lowest is the smaller one of both, and you took the larger one",
            _joined_by(lambda s, o: (max(s[0], o[0]), max(s[1], o[1]))),
        ),
        gives(
            "the highest is the larger one of both, and you took the smaller one",
            _joined_by(lambda s, o: (min(s[0], o[0]), min(s[1], o[1]))),
        ),
    ),
    hints=(
        "Each group hands in its lowest and its highest reading. "
        "What are they for both groups together?",
        "lowest of both = min of the two lowest; highest of both = max of the two "
        "highest.",
        "Fill the gaps:\n"
        "    lowest = min(span[0], other[...])\n"
        "    highest = ...(span[1], other[1])\n"
        "    return lowest, highest",
    ),
)
