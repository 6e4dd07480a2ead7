# SPDX-License-Identifier: Apache-2.0
"""Examples in the layout that learning reads, cut into batches."""

from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu.errors import bad_argument, short_traceback, whole_number
from fedlearn_edu.simulation.partitions.arguments import Indices, PartitionError
from fedlearn_edu.types import TensorType, normalize

Batch = OrderedDict[str, NDArray[np.generic]]
"""One batch: `<x=float32[n,784],y=int32[n]>`."""


@short_traceback
def batches(
    x: NDArray[Any],
    y: NDArray[Any],
    indices: Indices,
    batch_size: int,
    *,
    scale: bool | None = None,
) -> list[Batch]:
    """Cuts a client's examples into batches of `<x=float32[?,784],y=int32[?]>`.

    Features are flattened, and divided by 255 as `ClientData` says. The last batch may
    be shorter.

    >>> x, y = np.full([5, 28, 28], 255, np.uint8), np.arange(5, dtype=np.uint8)
    >>> [batch["y"].tolist() for batch in batches(x, y, np.array([4, 3, 0]), 2)]
    [[4, 3], [0]]
    """
    cuts = range(0, len(indices), check_batch_size(batch_size))
    scaled = is_scaled(x, scale)
    chosen = [indices[start : start + batch_size] for start in cuts]
    return [
        OrderedDict(x=as_features(x[part], scaled), y=as_targets(y[part]))
        for part in chosen
    ]


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


def is_scaled(x: NDArray[Any], scale: bool | None) -> bool:
    """Whether features are divided by 255: images of bytes are, if nothing is said.

    Other bytes are no grey values: ages, codes of words.
    """
    if scale is None:
        return x.dtype == np.uint8 and x.ndim >= 3
    said: object = scale
    if not isinstance(said, bool | np.bool_):
        summary = "features are divided by 255, or they are not"
        lines = {"summary": summary, "expected": "True, False or None"}
        raise bad_argument(said, "scale", PartitionError, **lines)
    return bool(said)


def as_features(x: NDArray[Any], scaled: bool) -> NDArray[np.float32]:
    """The examples as `float32[n,features]`, divided by 255 if they are to be scaled.

    >>> as_features(np.full([2, 1, 3], 51, np.uint8), scaled=True).tolist()
    [[0.20000000298023224, 0.20000000298023224, 0.20000000298023224], ...]
    """
    flat = x.reshape(len(x), int(np.prod(x.shape[1:])))
    return _as(np.float32, flat / 255.0 if scaled else flat, "x")


def as_targets(y: NDArray[Any]) -> NDArray[Any]:
    """What is to be learned: `int32` for whole numbers, `float32` for others.

    >>> as_targets(np.array([7], np.uint8)).dtype, as_targets(np.array([0.5])).dtype
    (dtype('int32'), dtype('float32'))
    """
    return _as(np.float32 if y.dtype.kind == "f" else np.int32, y, "y")


def _as(dtype: Any, array: NDArray[Any], name: str) -> NDArray[Any]:
    made: NDArray[Any] = normalize(array, TensorType(dtype, array.shape), name)
    return made


def in_form(batch: Batch, x: Any) -> Batch:
    """The same batch, with examples of this type, if it can hold their numbers."""
    shaped = batch["x"].reshape(-1, *x.shape[1:])
    with np.errstate(invalid="ignore"):  # NaN as a whole number
        exact = shaped.astype(x.dtype)
    return OrderedDict(batch, x=exact if np.array_equal(exact, shaped) else shaped)
