# SPDX-License-Identifier: Apache-2.0
"""Shapes of tensors: sizes, unknown sizes, unknown rank.

`TensorType` hands in what a user wrote and receives a tuple, or `UNRANKED`. Arrays are
not known here.
"""

from enum import Enum
from typing import Any, Literal, TypeAlias, final

import numpy as np

from fedlearn_edu.errors import TypeMismatchError


@final
class Unranked(Enum):
    """Has one member, so that `shape is UNRANKED` tells tuples apart."""

    UNRANKED = "..."

    def __repr__(self) -> str:
        return self.name


UNRANKED: Literal[Unranked.UNRANKED] = Unranked.UNRANKED
Shape: TypeAlias = tuple[int | None, ...] | Literal[Unranked.UNRANKED]


def as_shape(x: object) -> Shape:
    """The shape that `x` denotes; `None` is the shape of a scalar."""
    if x is None:
        return ()
    if x is UNRANKED or (is_tf_shape(x) and getattr(x, "rank", 0) is None):
        return UNRANKED
    if not is_shape_like(x):
        raise TypeMismatchError(
            "this is not the shape of a tensor",
            expected="a list of sizes, None where the size is unknown",
            found=repr(x),
            do="write [10] for a vector, [None, 784] for rows of any number, [] or "
            "nothing for a scalar",
        )
    return tuple(None if d is None else int(d) for d in _sizes(x))


def is_shape_like(x: object) -> bool:
    """Whether `x` is a `tf.TensorShape` or a list or tuple of sizes and `None`."""
    if x is UNRANKED:
        return True
    if not isinstance(x, list | tuple) and not is_tf_shape(x):
        return False
    if getattr(x, "rank", 0) is None:
        return True
    return all(d is None or (_is_int(d) and int(d) >= 0) for d in _sizes(x))


def is_tf_shape(x: object) -> bool:
    """Whether `x` looks like a `tf.TensorShape`."""
    return hasattr(x, "as_list") and hasattr(x, "rank")


def fits(target: Shape, source: Shape) -> bool:
    """Whether a tensor of shape `source` may stand where `target` is declared."""
    if target is UNRANKED:
        return True
    if source is UNRANKED or len(target) != len(source):
        return False
    pairs = zip(target, source, strict=True)
    return all(wanted is None or wanted == given for wanted, given in pairs)


def shape_text(shape: Shape) -> str:
    """The notation: `[2,?]`, nothing for a scalar."""
    # NB(TFF): the ancestor printed an unknown rank as `'float32'(shape=None)`, which
    # cannot be read back.
    if shape is UNRANKED:
        return "[...]"
    if not shape:
        return ""
    return "[" + ",".join("?" if d is None else str(d) for d in shape) + "]"


def _sizes(x: Any) -> list[Any]:
    return list(x.as_list() if is_tf_shape(x) else x)


def _is_int(x: object) -> bool:
    return isinstance(x, int | np.integer) and not isinstance(x, bool)
