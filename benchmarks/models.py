# SPDX-License-Identifier: Apache-2.0
"""The two models: the arrays they consist of, and their initial values.

A model in training is a tuple of arrays, in the order of `initial`. Its loss on a batch
is in `losses.py` for all TensorFlow rows, and in `in_numpy.py`.
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


_CNN_SHAPES = OrderedDict(
    kernel_1=(5, 5, 1, 32),
    bias_1=(32,),
    kernel_2=(5, 5, 32, 64),
    bias_2=(64,),
    weights_3=(7 * 7 * 64, 512),
    bias_3=(512,),
    weights_4=(512, 10),
    bias_4=(10,),
)


def initial(model: str) -> OrderedDict[str, NDArray[np.float32]]:
    """Zeros for `"softmax"`; for `"cnn"` what a fixed seed draws, the same for all."""
    if model == "softmax":
        shapes = OrderedDict(weights=(784, 10), bias=(10,))
        return OrderedDict((n, np.zeros(s, np.float32)) for n, s in shapes.items())
    chance = np.random.default_rng(2017)
    return OrderedDict((n, _drawn(chance, s)) for n, s in _CNN_SHAPES.items())


def _drawn(chance: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Uniform weights that keep the variance of what passes through; biases of zero."""
    if len(shape) == 1:
        return np.zeros(shape, np.float32)
    *field, fan_in, fan_out = shape
    limit = np.sqrt(6 / (np.prod(field) * (fan_in + fan_out)))
    return chance.uniform(-limit, limit, shape).astype(np.float32)
