# SPDX-License-Identifier: Apache-2.0
"""What aggregators make of updates that are handed to them, row by row, on a stack."""

from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.learning.aggregators import Aggregator
from tests.conformance.stacks import Stack
from tests.learning.runs import call

UPDATE = fl.to_type(OrderedDict(w=(np.float32, [3, 2]), b=(np.float32, [2])))
SIZE = 8
STACKS = (
    "reference",
    "local-tensorflow-sequence",
    "composing-2-tensorflow",
    "unfused-tensorflow",
)


def structured(row: Any) -> Any:
    row = np.float32(row)
    return OrderedDict(w=row[:6].reshape(3, 2), b=row[6:])


@cache
def made(factory: Any) -> Aggregator:
    aggregator: Aggregator = factory(UPDATE)
    return aggregator


def aggregated(
    stack: Stack, factory: Any, rows: Any, weights: Sequence[float], state: Any = None
) -> tuple[Any, Any, dict[str, Any]]:
    """The flat update, the state after it, and the metrics."""
    aggregator = made(factory)
    if state is None:
        state = call(stack, aggregator.initialize)
    updates = list(map(structured, rows))
    output = call(stack, aggregator.next, state, updates, list(weights))
    flat = np.concatenate([np.ravel(output.update["w"]), output.update["b"]])
    return flat, output.state, dict(output.metrics)
