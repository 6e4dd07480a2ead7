# SPDX-License-Identifier: Apache-2.0
"""Learning rates, and how they change from round to round."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedlearn_edu.errors import bad_argument, describe, short_traceback
from fedlearn_edu.learning.arrays import tf
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.learning.fingerprint import fingerprint

Rate = float | Callable[[Any], Any]
"""A learning rate: a number, or a function of the rounds finished, 0 in the first.

The function is called in the body of a `tf_computation` with a `float32`, such as in
`lambda number: 0.1 / (number + 1)`; where it has to choose, `tf.where` does.
"""


@short_traceback
def exponential_decay(learning_rate: float, factor: float) -> Rate:
    r"""A rate that is multiplied by `factor` after every round: $\eta_t = \eta\, q^t$.

    >>> rate = exponential_decay(0.1, 0.9)
    >>> rate, round(float(rate(2.0)), 6)
    (exponential_decay(0.1, 0.9), 0.081)

    Raises:
        ProcessError: if one of the two is not a finite number of at least 0.
    """
    for name, number in (("learning_rate", learning_rate), ("factor", factor)):
        given: object = number
        fits = isinstance(given, int | float | np.number) and math.isfinite(number)
        if not fits or number < 0:
            raise bad_argument(
                number,
                name,
                ProcessError,
                expected="a finite number of at least 0",
                where="exponential_decay",
                do="exponential_decay(0.1, 0.9) makes 0.1, 0.09, 0.081, …",
            )
    return _ExponentialDecay(float(learning_rate), float(factor))


@final
@dataclass(frozen=True)
class _ExponentialDecay:
    """A function with a name, which the settings of a process and a checkpoint show."""

    learning_rate: float
    factor: float

    def __call__(self, number: Any) -> Any:
        return self.learning_rate * tf.pow(self.factor, number)

    def __repr__(self) -> str:
        return f"exponential_decay({exact(self.learning_rate)}, {exact(self.factor)})"


def at_round(rate: Rate, number: Any) -> Any:
    """The learning rate in the round of this number."""
    if not callable(rate):
        return rate
    try:
        return tf.cast(rate(tf.cast(number, tf.float32)), tf.float32)
    except (TypeError, ValueError) as error:
        raise ProcessError(
            "a learning rate cannot be computed from the number of the round",
            expected="a function from a float32 tensor to one number",
            found=f"{type(error).__name__} in {describe(rate)}",
            do="write tf.where(number < 10, 0.1, 0.01) for if and else",
        ) from error


def exact(number: float) -> str:
    """The number with all its digits, for names and for checkpoints.

    >>> exact(1.0), exact(0.1), exact(0.1 + 1e-9)
    ('1', '0.1', '0.100000001')
    """
    return str(number).removesuffix(".0")


def describe_rate(rate: Rate) -> str:
    """The rate in words, for names and for checkpoints.

    A function is identified by its name and a digest of its code and of what the code
    reads, so that a run and its checkpoint can be compared.

    >>> describe_rate(0.1), describe_rate(exponential_decay(0.1, 0.9))
    ('0.1', 'exponential_decay(0.1, 0.9)')
    """
    if not callable(rate):
        return exact(rate)
    if isinstance(rate, _ExponentialDecay):
        return repr(rate)
    name = getattr(rate, "__name__", type(rate).__name__)
    return f"{name} {fingerprint(rate)}"
