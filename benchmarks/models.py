# SPDX-License-Identifier: Apache-2.0
"""Softmax regression: its arrays, and what every row makes of it.

A model in training is a tuple of arrays, in the order of `initial`.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

Parameters = tuple[NDArray[Any], ...]
"""The arrays of a model."""


@final
class Loop(NamedTuple):
    """How one row trains and evaluates; the clients' data are inside.

    Attributes:
        train: a model and a learning rate to the average of the clients' models.
        evaluate: a model to the average over clients of the sum of batch losses.
    """

    train: Callable[[Parameters, float], Parameters]
    evaluate: Callable[[Parameters], float]


def initial() -> OrderedDict[str, NDArray[np.float32]]:
    """The model before the first round: zeros."""
    return OrderedDict(
        weights=np.zeros((784, 10), np.float32), bias=np.zeros(10, np.float32)
    )
