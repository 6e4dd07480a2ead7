# SPDX-License-Identifier: Apache-2.0
"""Keras optimizers made in a body may take a tensor as their learning rate.

Keras 3 wants a `float` there, and what a program has as an argument is a tensor while
its body is traced. So for that time, and in that thread only, an optimizer that is made
with a tensor is made with rate 0 and then given its rate, as a program may do itself:
`optimizer.learning_rate = rate`. From there on it is what it is for a `float`.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

import numpy as np

from fedlearn_edu.runtimes.tensorflow.library import tf

_in_a_body: ContextVar[bool] = ContextVar("in_a_body", default=False)
_lock = Lock()
_bodies: list[None] = []  # those being traced, in all threads
_changed: list[Any] = []  # the class that looks at rates, meanwhile


@contextmanager
def rates_may_be_tensors() -> Iterator[None]:
    """A block in which the optimizers of Keras 3 take any number as learning rate."""
    here = _in_a_body.set(True)
    with _lock:
        if not _bodies:
            _changed.extend(filter(_is_what_we_know, _bases()))
            for base in _changed:
                base.__init__ = _taking_tensors(base.__init__)
        _bodies.append(None)
    try:
        yield
    finally:
        with _lock:
            _bodies.pop()
            while _changed and not _bodies:
                del _changed.pop().__init__  # it inherits one, and does so again
        _in_a_body.reset(here)


def _bases() -> list[Any]:
    """`keras.Optimizer`, of Keras 3.

    TensorFlow has loaded it, unless it is to use Keras 2, which needs none of this.
    """
    keras: Any = sys.modules.get("keras")
    is_3 = getattr(keras, "__version__", "").startswith("3.")
    return [keras.optimizers.Optimizer] if is_3 else []


def _is_what_we_know(base: Any) -> bool:
    """Without this, Keras refuses the tensor, and `refusals.py` says what to write."""
    return "__init__" not in vars(base) and hasattr(base, "learning_rate")


def _taking_tensors(make: Any) -> Any:
    def make_with_any(self: Any, learning_rate: Any, *args: Any, **kwargs: Any) -> None:
        is_set = _in_a_body.get() and _is_number(learning_rate)
        make(self, 0.0 if is_set else learning_rate, *args, **kwargs)
        if is_set:
            self.learning_rate = learning_rate

    return make_with_any


def _is_number(rate: Any) -> bool:
    return tf.is_tensor(rate) or isinstance(rate, int | np.generic | np.ndarray)
