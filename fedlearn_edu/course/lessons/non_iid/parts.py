# SPDX-License-Identifier: Apache-2.0
"""Whether an answer of lesson 08 is what a partition is: one array per client."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def arrays_of(dealt: Any) -> list[NDArray[Any]] | None:
    """The parts as arrays, `None` if this is no list of one-dimensional ones.

    >>> arrays_of([[3, 1], [2]]), arrays_of([3, 1])
    ([array([3, 1]), array([2])], None)
    """
    if not isinstance(dealt, list | tuple | np.ndarray):
        return None
    parts = list(map(np.asarray, dealt))
    return parts if parts and all(part.ndim == 1 for part in parts) else None
