# SPDX-License-Identifier: Apache-2.0
"""The one type of several values: what a group of clients, or a sequence, is made of.

`place` and eager sequence intrinsics hand in data without a declared type. Here a list
is a sequence, and a list inside a list is a row of numbers.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from fedlearn_edu.errors import describe
from fedlearn_edu.structure import Struct
from fedlearn_edu.types.base import Type
from fedlearn_edu.types.conversion import infer_type
from fedlearn_edu.types.data_types import StructType, TensorType
from fedlearn_edu.types.definitions import SequenceType
from fedlearn_edu.types.differences import misfit
from fedlearn_edu.types.python_fields import fields_of

_NUMBERS = (int, float, complex)


def join(first: Type, second: Type) -> Type | None:
    """The narrowest type that both are assignable to, if there is one.

    >>> from fedlearn_edu.types.notation import parse_type
    >>> print(join(parse_type("float32[2]*"), parse_type("float32[3]*")))
    float32[?]*
    """
    match first, second:
        case TensorType(dtype, tuple(a)), TensorType(other, tuple(b)):
            if dtype != other or len(a) != len(b):
                return None
            sizes = zip(a, b, strict=True)
            return TensorType(dtype, [m if m == n else None for m, n in sizes])
        case SequenceType(one), SequenceType(another):
            element = join(one, another)
            return None if element is None else SequenceType(element)
        case StructType(), StructType() if first.names() == second.names():
            fields = [join(a, b) for a, b in zip(first, second, strict=True)]
            if None in fields:
                return None
            pairs = list(zip(first.names(), fields, strict=True))
            return StructType(pairs, first.python_container)
    return first if first == second else None


def infer_sequence(values: Any) -> SequenceType:
    """The type of a list, tuple or array that is read element by element.

    >>> print(infer_sequence([[1.0, 2.0], [3.0, 4.0, 5.0]]))
    float32[?]*

    Raises:
        TypeMismatchError: if it is empty, or two elements have no type in common.
    """
    if isinstance(values, np.ndarray) and values.ndim:
        return SequenceType(TensorType(values.dtype, values.shape[1:]))
    return SequenceType(infer_common(values, _element_type, "element"))


def infer_member(value: Any) -> Type | None:
    """The type of what one participant holds; a list is a sequence."""
    if isinstance(value, list):
        return infer_sequence(value)
    if isinstance(value, Struct | Iterator) or fields_of(value) is None:
        return infer_type(value)
    fields = fields_of(value)
    assert fields is not None
    pairs = [(name, infer_member(part)) for name, part in fields.pairs]
    return StructType(pairs, fields.container)


def infer_common(values: Iterable[Any], infer: Any, what: str) -> Type:
    """The type all values have, by a function that tells it for one."""
    values = list(values)
    if len(values) > 1 and all(type(value) in _NUMBERS for value in values):
        values = [_widest(values)]
    types: list[Type] = [infer(value) for value in values]
    if not types:
        raise misfit(
            f"nothing tells the type of an empty group: it has no {what}",
            "one value at least, or a declared type",
            "nothing",
            do="say it: place([], CLIENTS, np.float32), or np.zeros([0], np.float32)",
        )
    joined = types[0]
    for index, type_ in enumerate(types[1:], 1):
        wider = join(joined, type_)
        if wider is None:
            raise misfit(
                f"two values of one group have no type in common: {what} 0 and {index}",
                f"the same type, up to the sizes of dimensions: {joined}",
                f"{type_}, in {what} {index}",
                do="say the type, so that the values are converted to it: "
                "place(values, CLIENTS, SequenceType(np.float32))",
            )
        joined = wider
    return joined


def _widest(numbers: list[Any]) -> Any:
    return max(numbers, key=lambda n: (_NUMBERS.index(type(n)), abs(n)))


def _element_type(value: Any) -> Type | None:
    if not isinstance(value, list):
        return infer_member(value)
    row = infer_sequence(value).element
    if not isinstance(row, TensorType) or not row.has_static_shape:
        raise misfit(
            "an element of a sequence is a list of different things",
            "numbers, rows of numbers, tuples, dicts",
            describe(value),
            do="use tuples or dicts for structures, arrays for tensors",
        )
    assert isinstance(row.shape, tuple)
    return TensorType(row.dtype, [len(value), *row.shape])
