# SPDX-License-Identifier: Apache-2.0
"""Examples in the layout that learning reads, cut into batches."""

from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu.errors import short_traceback, whole_number
from fedlearn_edu.simulation.partitions.arguments import Indices, PartitionError
from fedlearn_edu.types import TensorType, normalize

Batch = OrderedDict[str, NDArray[np.generic]]
"""One batch: `<x=float32[n,784],y=int32[n]>`."""


@short_traceback
def batches(
    x: NDArray[Any], y: NDArray[Any], indices: Indices, batch_size: int
) -> list[Batch]:
    """Cuts a client's examples into batches of `<x=float32[?,784],y=int32[?]>`.

    Images are flattened and scaled to 0..1. The last batch may be shorter.

    >>> x, y = np.full([5, 28, 28], 255, np.uint8), np.arange(5, dtype=np.uint8)
    >>> [batch["y"].tolist() for batch in batches(x, y, np.array([4, 3, 0]), 2)]
    [[4, 3], [0]]
    """
    cuts = range(0, len(indices), check_batch_size(batch_size))
    return [_batch(x, y, indices[start : start + batch_size]) for start in cuts]


def check_batch_size(batch_size: Any) -> int:
    """A whole number of examples, at least one."""
    return whole_number(
        batch_size,
        "batch_size",
        1,
        PartitionError,
        summary="a batch holds at least one example",
        expected="batch_size >= 1",
        found=batch_size,
        where=None,
        do="use a positive batch size",
    )


def _batch(x: NDArray[Any], y: NDArray[Any], chosen: Indices) -> Batch:
    return OrderedDict(x=as_features(x[chosen]), y=as_targets(y[chosen]))


def as_features(x: NDArray[Any]) -> NDArray[np.float32]:
    """The examples as `float32[n,features]`: bytes scaled to 0..1, the rest as it is.

    >>> as_features(np.full([2, 1, 3], 51, np.uint8)).tolist()
    [[0.20000000298023224, 0.20000000298023224, 0.20000000298023224], ...]
    """
    flat = x.reshape(len(x), int(np.prod(x.shape[1:])))
    return _as(np.float32, flat / 255.0 if x.dtype == np.uint8 else flat, "x")


def as_targets(y: NDArray[Any]) -> NDArray[Any]:
    """What is to be learned: `int32` for whole numbers, `float32` for others.

    >>> as_targets(np.array([7], np.uint8)).dtype, as_targets(np.array([0.5])).dtype
    (dtype('int32'), dtype('float32'))
    """
    return _as(np.float32 if y.dtype.kind == "f" else np.int32, y, "y")


def _as(dtype: Any, array: NDArray[Any], name: str) -> NDArray[Any]:
    made: NDArray[Any] = normalize(array, TensorType(dtype, array.shape), name)
    return made
