# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's arrays where it is installed, NumPy's where it is not, as in a browser.

All of `learning` is written once, with the names of TensorFlow: `tf` is TensorFlow, or
NumPy under these names (`in_numpy.py`), and leaf code is a `tf_computation`, or an
`np_computation`. A client's part is one leaf in either case: the compiler makes one of
the steps in TensorFlow; in NumPy it is one Python function, which calls others.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import reduce, wraps
from typing import TYPE_CHECKING, Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.capabilities import has_tensorflow
from fedlearn_edu.learning import in_numpy

HAS_TENSORFLOW = has_tensorflow()


@final
class _TensorFlow:
    """`fl.tf`, which is imported when something in it is asked for."""

    def __getattr__(self, name: str) -> Any:
        return getattr(fl.tf, name)


tf: Any = _TensorFlow() if HAS_TENSORFLOW else in_numpy


if TYPE_CHECKING:  # decorators like any other
    leaf_computation = local_computation = fl.np_computation
else:

    def leaf_computation(*args: Any, result: Any = None) -> Any:
        """`fl.tf_computation`, or `fl.np_computation`.

        `result` is the type that the second one has to be told, where its function
        cannot be tried on ones.
        """
        if HAS_TENSORFLOW:
            return fl.tf_computation(*args)
        return _np_computation(args, result)

    def local_computation(*args: Any, result: Any = None) -> Any:
        """What one participant does in several steps of leaf code.

        An `fl.federated_computation` without placements, or an `fl.np_computation`.
        """
        if HAS_TENSORFLOW:
            return fl.federated_computation(*args)
        return _np_computation(args, result)


def _np_computation(args: tuple[Any, ...], result: Any) -> Any:
    says = {} if result is None else {"result": result}

    def decorate(fn: Callable[..., Any], types: tuple[Any, ...]) -> Any:
        @wraps(fn)
        def quiet(*arguments: Any) -> Any:
            # What is NaN or infinite shows in the numbers, as it does in TensorFlow.
            with np.errstate(all="ignore"):  # as a decorator it could not be pickled
                return fn(*arguments)

        return fl.np_computation(quiet, *types, **says)

    if args and callable(args[0]) and not isinstance(args[0], type):
        return decorate(args[0], args[1:])
    return lambda fn: decorate(fn, args)


def inside(computation: fl.Computation) -> Any:
    """A computation as a `local_computation` calls it: in NumPy, its function."""
    tree: Any = computation.tree
    return computation if HAS_TENSORFLOW else tree.code.fn


def local_step(function: Callable[..., Any]) -> Callable[..., Any]:
    """Leaf code as a `local_computation` calls it, typed by what it is called with."""
    if not HAS_TENSORFLOW:
        return function

    @wraps(function)
    def step(*values: Any) -> Any:
        types = [value.type_signature for value in values]
        return fl.tf_computation(function, *types)(*values)

    return step


# ------------------------------------------------------------------ lengths


def largest_of(tensors: Sequence[Any]) -> Any:
    """The greatest absolute value in all tensors together; 0 if there is none."""
    return tf.reduce_max(tf.stack([tf.reduce_max(tf.abs(x)) for x in _wide(tensors)]))


def in_units_of(largest: Any, tensors: Sequence[Any]) -> list[Any]:
    """The tensors divided by their largest number: their squares are numbers, too."""
    safe = tf.where(largest > 0.0, largest, tf.ones_like(largest))
    return [tf.cast(x, safe.dtype) / safe for x in tensors]


def l2_norm(tensors: Sequence[Any]) -> Any:
    """The L2 norm of all tensors together, for any numbers of their type.

    A plain sum of squares overflows from 1.8e19 on, and is 0 below 1e-23.
    `tf.linalg.global_norm` does so, and has no form for many clients at once.
    """
    largest = largest_of(tensors)
    units = in_units_of(largest, tensors)
    length = largest * tf.sqrt(tf.add_n([tf.reduce_sum(x * x) for x in units]))
    return tf.where(largest < np.inf, length, largest)


def _wide(tensors: Sequence[Any]) -> list[Any]:
    """Tensors with something in them, of one type that holds the numbers of all."""
    wide = tf.float64 if any(x.dtype == tf.float64 for x in tensors) else tf.float32
    some = [tf.cast(x, wide) for x in tensors if 0 not in x.shape]
    return some or [tf.zeros([], wide)]


# ------------------------------------------------------------------ sequences


def map_sequence(function: Callable[[Any], Any], batches: Any) -> Any:
    """`fl.sequence_map` of a Python function, in a `local_computation`."""
    if not HAS_TENSORFLOW:
        return list(map(function, batches))
    element = batches.type_signature.element
    return fl.sequence_map(fl.federated_computation(function, element), batches)


def reduce_sequence(batches: Any, zero: Any, op: Callable[[Any, Any], Any]) -> Any:
    """`fl.sequence_reduce` with a Python function, in a `local_computation`."""
    if not HAS_TENSORFLOW:
        return reduce(op, batches, zero)
    types = zero.type_signature, batches.type_signature.element
    return fl.sequence_reduce(batches, zero, fl.federated_computation(op, *types))


def sum_sequence(elements: Any, type_: fl.Type) -> Any:
    """`fl.sequence_sum` of elements of this type, in a `local_computation`."""
    if HAS_TENSORFLOW:
        return fl.sequence_sum(elements)
    return reduce(_add, elements, zeros(type_))


def _add(left: Any, right: Any) -> Any:
    return tf.nest.map_structure(lambda a, b: a + b, left, right)


def zeros(type_: Any) -> Any:
    """A value of this type, a structure of tensors, in NumPy."""
    if isinstance(type_, fl.TensorType):
        return np.zeros(type_.shape, type_.dtype)
    parts, names = [zeros(part) for part in type_], type_.names()
    if names and all(names):
        return OrderedDict(zip(names, parts, strict=True))
    return parts if type_.python_container is list else tuple(parts)
