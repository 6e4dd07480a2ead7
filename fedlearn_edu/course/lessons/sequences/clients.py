# SPDX-License-Identifier: Apache-2.0
"""Within each client, then over clients: the mean peak."""

from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.mistakes import gives, typed

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
        Case("three clients", ([[18.5, 21.5, 23.0, 22.0], [24.0, 23.5], [19.0]],)),
        Case("one client", ([[1.0, 4.0, 2.0]],)),
        Case("freezing everywhere", ([[-8.0, -3.0], [-5.0, -7.0]],)),
    ),
    mistakes=(
        gives(
            "you summed over clients: the peaks are to be averaged",
            lambda clients: sum(max(readings) for readings in clients),
        ),
        gives(
            "this is the largest reading of all clients: average their peaks",
            lambda clients: max(max(readings) for readings in clients),
        ),
        gives(
            "you began at 0, and below zero no reading is larger: begin at -np.inf",
            _each(lambda readings: max(0, *readings)),
        ),
        gives(
            "you added up each client's readings; the peak is the largest one",
            _each(sum),
        ),
        gives("you averaged each client's readings before", _each(np.mean)),
        gives("this is the mean of the smallest readings", _each(min)),
        gives("this is the mean of the last readings", _each(lambda r: r[-1])),
        gives(
            "you averaged over elements: each client has one peak, and counts once",
            lambda clients: np.mean([r for readings in clients for r in readings]),
        ),
        typed(
            "each client has its peak, but nobody took their mean",
            "({float32*}@CLIENTS -> {float32}@CLIENTS)",
        ),
    ),
    hints=(
        "First within each client, then over clients: one operator that begins with "
        "`sequence_`, one that begins with `federated_`.",
        "peak of client k = max of its elements; result = (1/n) · Σ peak of client k. "
        "`sequence_reduce(s, zero, op)` works at every client on {float32*}@CLIENTS.",
        "Fill the gaps:\n"
        "    peaks = fl.sequence_reduce(readings, ..., larger)\n"
        "    return fl.federated_...(peaks)",
    ),
)
