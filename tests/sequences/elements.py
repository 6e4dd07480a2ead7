# SPDX-License-Identifier: Apache-2.0
"""Kinds of elements, and what is done with them: written once for NumPy and TensorFlow.

change(x, k)   another element of the same type; `k` is what a function captures
fold(s, x)     the next state of a reduction; the result depends on the order
model          a structure of arrays that a function captures; `strength` makes `k`
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.testing.case import MIXED, NUMPY
from fedlearn_edu.testing.cases.sequences import total
from fedlearn_edu.types import infer_type

ZERO = np.float32(0)


@dataclass(frozen=True, eq=False)
class Kind:
    """Elements of one type.

    Attributes:
        element: the type of an element.
        change: see above.
        fold: see above.
        zero: where a reduction starts.
        captures: what a function captures, by the name of the capture.
        add_up: what `sequence_sum` means, for numbers.
        is_flat: whether several of them make an array.
    """

    name: str
    element: Any
    change: Callable[[Any, Any], Any]
    fold: Callable[[Any, Any], Any]
    zero: Any
    captures: dict[str, Any]
    add_up: Callable[[Sequence[Any]], Any] | None = None
    is_flat: bool = False

    @property
    def state(self) -> fl.Type:
        """The type of the state of a reduction."""
        state = infer_type(self.zero)
        assert state is not None
        return state

    @property
    def sequence(self) -> fl.Type:
        """The type of the whole sequence."""
        return fl.SequenceType(self.element)


def strength(model: Any) -> Any:
    """What a captured model does to an element."""
    return model["w"][1] + model["b"]


def numbers_for(constant: float, scalar: float, *model: float) -> dict[str, Any]:
    w, b = np.array(model[:2], np.float32), np.float32(model[2])
    return {
        "no capture": np.float32(constant),
        "captured scalar": np.float32(scalar),
        "captured model": OrderedDict(w=w, b=b),
    }


def _scale(x: Any, k: Any) -> Any:
    return x * k + np.float32(1)


def _swap(x: Any, k: Any) -> Any:
    return OrderedDict(y=x["x"] * k, x=x["y"] + k)


def _alternate(s: Any, x: Any) -> Any:
    return x - s


def _alternate_totals(s: Any, x: Any) -> Any:
    return total(x) - s


def _alternate_fields(s: Any, x: Any) -> Any:
    return OrderedDict(y=x["y"] - s["y"], x=x["x"] - s["x"])


def _append(s: Any, x: Any) -> Any:
    return s + x


def _sum_of_fields(values: Sequence[Any]) -> Any:
    return OrderedDict((name, sum((v[name] for v in values), ZERO)) for name in "yx")


NUMBER = Kind(
    "number",
    np.float32,
    _scale,
    _alternate,
    ZERO,
    numbers_for(2, 3, 1, 4, -2),
    lambda values: sum(values, ZERO),
    is_flat=True,
)
ROW = Kind(
    "row",
    fl.TensorType(np.float32, [None]),
    _scale,
    _alternate_totals,
    ZERO,
    numbers_for(2, 3, 1, 4, -2),
)
# In this order, which is not the alphabet's: TensorFlow sorts the keys of dicts.
FIELDS = Kind(
    "fields",
    OrderedDict(y=np.float32, x=np.float32),
    _swap,
    _alternate_fields,
    OrderedDict(y=ZERO, x=ZERO),
    numbers_for(2, 3, 1, 4, -2),
    _sum_of_fields,
)
TEXT = Kind(
    "text",
    np.str_,
    _append,
    _append,
    b"",
    {
        "no capture": b"!",
        "captured scalar": b"?",
        "captured model": OrderedDict(w=np.array([b"-", b"+"], object), b=b"."),
    },
    is_flat=True,
)


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaf code for one kind of elements, made by the decorators of a runtime."""

    constant: Any
    change: Any
    strength: Any
    fold: Any
    read: Any


@cache
def leaves(kind: Kind, runtime: str) -> Leaves:
    """The leaf code; where runtimes are mixed, TensorFlow reads what NumPy made."""
    made_by = fl.np_computation if runtime != "tensorflow" else fl.tf_computation
    read_by = fl.np_computation if runtime == NUMPY else fl.tf_computation
    constant, captured = kind.captures["no capture"], kind.captures["captured scalar"]
    k, model = infer_type(captured), infer_type(kind.captures["captured model"])

    def read(sequence: Any) -> Any:
        if isinstance(sequence, list):
            return reduce(kind.fold, sequence, kind.zero)
        return sequence.reduce(kind.zero, kind.fold)

    return Leaves(
        constant=made_by(lambda x: kind.change(x, constant), kind.element),
        change=made_by(kind.change, kind.element, k),
        strength=(read_by if runtime == MIXED else made_by)(strength, model),
        fold=made_by(kind.fold, kind.state, kind.element),
        read=read_by(read, kind.sequence),
    )
