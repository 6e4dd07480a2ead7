# SPDX-License-Identifier: Apache-2.0
"""Learning rates that change from round to round."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import fedlearn_edu as fl
from fedlearn_edu.errors import FedLearnError

Rate = float | Callable[[Any], Any]
"""A learning rate: a number, or a function of the round's number `int32`, from 0."""


class ScheduleError(FedLearnError, ValueError):
    """A function that should return a learning rate failed."""


def exponential_decay(learning_rate: float, factor: float) -> Rate:
    """A rate that is multiplied by `factor` after every round.

    >>> rate = exponential_decay(0.1, 0.9)
    >>> rate, round(float(rate(2)), 6)
    (exponential_decay(0.1, 0.9), 0.081)
    """
    return _ExponentialDecay(learning_rate, factor)


@final
@dataclass(frozen=True)
class _ExponentialDecay:
    """A function with a name, so that an optimizer can say what it does."""

    learning_rate: float
    factor: float

    def __call__(self, number: Any) -> Any:
        tf = fl.tf
        rounds = tf.cast(number, tf.float32)
        return self.learning_rate * tf.pow(float(self.factor), rounds)

    def __repr__(self) -> str:
        return f"exponential_decay({self.learning_rate:g}, {self.factor:g})"


def at_round(rate: Rate, number: Any) -> Any:
    """The learning rate in the round of this number."""
    if not callable(rate):
        return rate
    tf = fl.tf
    try:
        return tf.cast(rate(number), tf.float32)
    except (TypeError, ValueError) as error:
        raise ScheduleError(
            "a learning rate cannot be computed from the number of the round",
            expected="a function from a tensor int32 to one number",
            found=f"{type(error).__name__} in {rate!r}",
            do="write tf.cast(number, tf.float32) for number, and tf.where for if",
        ) from error
