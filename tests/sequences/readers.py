# SPDX-License-Identifier: Apache-2.0
"""All who may read a sequence of integers, by name."""

from functools import cache
from typing import Any

import pytest

import fedlearn_edu as fl
from tests.programs import NUMBERS, add, same, total

NUMPY_READERS = ("sum", "reduce", "map", "leaf code", "Python")
GRAPH_READERS = ("graph", "prefetching graph", "dataset of a graph")


@cache
def _graph(name: str) -> Any:
    def whole(dataset: Any) -> Any:
        return dataset.reduce(0, lambda s, x: s + x)

    def prefetching(dataset: Any) -> Any:
        return whole(dataset.map(lambda x: x, num_parallel_calls=2).prefetch(2))

    def transformed(dataset: Any) -> Any:
        return dataset.map(lambda x: x + 1)

    bodies = {
        "graph": whole,
        "prefetching graph": prefetching,
        "dataset of a graph": transformed,
    }
    return fl.tf_computation(bodies[name], NUMBERS)


def read(reader: str, sequence: Any) -> Any:
    """Lets the reader read the whole sequence."""
    match reader:
        case "sum":
            return fl.sequence_sum(sequence)
        case "reduce":
            return fl.sequence_reduce(sequence, 0, add)
        case "map":
            return fl.sequence_sum(fl.sequence_map(same, sequence))
        case "leaf code":
            return total(sequence)
        case "Python":
            return sequence
        case _:
            return _graph(reader)(sequence)


every_reader = pytest.mark.parametrize(
    "reader",
    [
        *NUMPY_READERS,
        *(pytest.param(r, marks=pytest.mark.tensorflow) for r in GRAPH_READERS),
    ],
)
