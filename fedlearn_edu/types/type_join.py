# SPDX-License-Identifier: Apache-2.0
"""The common type of several values: of a group of clients, or of a sequence.

`place` and eager sequence intrinsics hand in data without a declared type. Here a list
is a sequence, and a list inside a list is a row of numbers. Values at the same place
are compared side by side: sizes may differ, and a Python scalar adopts the dtype of the
other values.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.types.base import Type
from fedlearn_edu.types.data_types import (
    SequenceType,
    StructType,
    TensorType,
    infer_type,
)
from fedlearn_edu.types.dtypes import kind_of
from fedlearn_edu.types.fields import fields_of
from fedlearn_edu.types.messages import field_step
from fedlearn_edu.types.sequences import SequenceList

_NUMBERS = (int, float, complex)
# Which dtypes a Python scalar can adopt: NumPy's letters.
_TAKES = {int: "iufc", float: "fc", complex: "c"}
_Places = Callable[[int], str]
_SAY_IT = (
    "say the type: place(values, CLIENTS, np.float32), "
    "or SequenceType(np.float32) for lists"
)


@final
@dataclass(frozen=True)
class _OfType:
    """Stands for values of which only the type is known."""

    type_signature: Type


def join(first: Type, second: Type) -> Type | None:
    """The narrowest type that both are assignable to, if there is one.

    >>> from fedlearn_edu.types.notation import parse_type
    >>> print(join(parse_type("float32[2]*"), parse_type("float32[3]*")))
    float32[?]*
    """
    if first == second:
        return first
    match first, second:
        case TensorType(dtype, tuple(a)), TensorType(other, tuple(b)):
            if dtype != other or len(a) != len(b):
                return None
            sizes = zip(a, b, strict=True)
            return TensorType(dtype, [m if m == n else None for m, n in sizes])
        case (StructType(), StructType()) if first.names() != second.names():
            return None
        case (StructType(), StructType()) | (SequenceType(), SequenceType()):
            pairs = zip(first.children(), second.children(), strict=True)
            parts = [part for pair in pairs if (part := join(*pair)) is not None]
            is_complete = len(parts) == len(first.children())
            return first._with_types(parts) if is_complete else None
    return None


def infer_members(values: Sequence[Any]) -> Type:
    """The common type of the values of several clients.

    >>> print(infer_members([[1, 2.5], [], np.zeros(4, np.float32)]))
    float32*

    Raises:
        TypeMismatchError: if there is no value, or two have no type in common.
    """
    return _common(values, lambda i: f"client {i}")


def infer_member(value: Any) -> Type:
    """The type of what one participant holds; a list is a sequence."""
    return _common([value], lambda _: "the value")


def infer_sequence(values: Any) -> SequenceType:
    """The type of a list, tuple or array that is read element by element.

    >>> print(infer_sequence([[1.0, 2.0], [3.0, 4.0, 5.0]]))
    float32[?]*
    """
    if isinstance(values, SequenceList) and values.element_type is not None:
        return SequenceType(values.element_type)
    if isinstance(values, np.ndarray):
        return SequenceType(_row(infer_type(values)))
    return SequenceType(_common(values, lambda i: f"element {i}", inside=True))


def _common(values: Sequence[Any], places: _Places, *, inside: bool = False) -> Type:
    """The type of all values.

    In messages `places` names the place of each. If they are `inside` a sequence, a
    list is a row.
    """
    if not values:
        raise TypeMismatchError(
            "nothing tells the type: there is no value",
            expected="one value at least, or a declared type",
            found="nothing",
            do=f"{_SAY_IT}; np.zeros([0], np.float32) has one",
        )
    if any(isinstance(value, list | range) for value in values):
        return _of_lists(values, places, inside=inside)
    fields = [None if isinstance(v, _OfType) else fields_of(v) for v in values]
    if all(fields):
        return _of_structures(values, fields, places, inside=inside)
    return _of_leaves(values, places)


def _of_lists(values: Sequence[Any], places: _Places, *, inside: bool) -> Type:
    """The type of lists, and of what may stand beside them: a sequence or a row."""
    elements: list[Any] = []
    starts: list[int] = []
    sizes: set[int | None] = set()
    for index, value in enumerate(values):
        starts.append(len(elements))
        if isinstance(value, list | range):
            elements += value
            sizes.add(len(value))
            continue
        match _of_leaves([value], places):
            case SequenceType(element):
                elements.append(_OfType(element))
            case TensorType(_, (size, *_)) as array:
                elements.append(_OfType(_row(array)))
                sizes.add(size)
            case _:
                lists = [i for i, v in enumerate(values) if isinstance(v, list | range)]
                raise _differ(values, lists[0], index, places)

    def within(i: int) -> str:
        owner = bisect_right(starts, i) - 1
        return f"{places(owner)}, element {i - starts[owner]}"

    type_ = _common(elements, within, inside=True)
    if not inside:
        return SequenceType(type_)
    if not isinstance(type_, TensorType):
        raise TypeMismatchError(
            "an element of a sequence is a list of different things",
            expected="numbers, rows of numbers, tuples, dicts",
            found=f"a list of {type_}",
            where=places(0),
            do="use tuples or dicts for structures, arrays for tensors",
        )
    size = sizes.pop() if len(sizes) == 1 else None
    return TensorType(type_.dtype, [size, *type_.shape])


def _of_structures(
    values: Sequence[Any], fields: Sequence[Any], places: _Places, *, inside: bool
) -> Type:
    names = [name for name, _ in fields[0].pairs]
    rows = [each.in_order(names) for each in fields]
    for index, row in enumerate(rows):
        if [name for name, _ in row] != names:
            raise _differ(values, 0, index, places)
    parts = []
    for at, name in enumerate(names):
        column, step = [row[at][1] for row in rows], field_step(name, at)
        parts.append((name, _common(column, _at(places, step), inside=inside)))
    return StructType(parts, fields[0].container)


def _at(places: _Places, step: str) -> _Places:
    return lambda index: places(index) + step


def _of_leaves(values: Sequence[Any], places: _Places) -> Type:
    is_number = [type(value) in _NUMBERS for value in values]
    if all(is_number):
        widest = max(values, key=lambda n: (_NUMBERS.index(type(n)), abs(n)))
        return _typed(widest, places(0))
    # Python scalars come last: they adopt the dtype of the others, if they can.
    first, *others = sorted(range(len(values)), key=is_number.__getitem__)
    common = _typed(values[first], places(first))
    for index in others:
        if is_number[index] and _takes(common, values[index]):
            continue
        wider = join(common, _typed(values[index], places(index)))
        if wider is None:
            raise _differ(values, first, index, places)
        common = wider
    return common


def _takes(type_: Type, number: Any) -> bool:
    is_scalar = isinstance(type_, TensorType) and type_.is_scalar
    return is_scalar and kind_of(type_.dtype) in _TAKES[type(number)]  # type: ignore[attr-defined]


def _typed(value: Any, place: str) -> Type:
    type_ = infer_type(value)
    if type_ is None:
        raise TypeMismatchError(
            "a value is missing",
            expected="a value",
            found="None",
            where=place,
            do="give it a value, or leave the client out",
        )
    return type_


def _row(type_: Any) -> TensorType:
    """The type of the rows of an array."""
    return TensorType(type_.dtype, type_.shape[1:])


def _differ(values: Sequence[Any], i: int, j: int, places: _Places) -> Exception:
    i, j = sorted((i, j))
    first, second = infer_member(values[i]), infer_member(values[j])
    return TypeMismatchError(
        f"two values of one group have no type in common: {places(i)} and {places(j)}",
        expected=f"the same type, up to the sizes of dimensions: {first}",
        found=f"{second}, in {places(j)}",
        do=_SAY_IT,
    )
