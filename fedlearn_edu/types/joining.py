# SPDX-License-Identifier: Apache-2.0
"""The one type of several values: what a group of clients, or a sequence, is made of.

`place` and eager sequence intrinsics hand in data without a declared type. Here a list
is a sequence, and a list inside a list is a row of numbers. What stands at the same
place is looked at side by side: sizes may differ, and a number of Python's own takes
the dtype of its neighbors.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedlearn_edu.types.base import Type
from fedlearn_edu.types.conversion import infer_type
from fedlearn_edu.types.data_types import StructType, TensorType
from fedlearn_edu.types.definitions import SequenceType
from fedlearn_edu.types.differences import misfit
from fedlearn_edu.types.plain import is_dataset
from fedlearn_edu.types.python_fields import Fields, fields_of

_NUMBERS = (int, float, complex)
# Which dtypes a number of Python's own can take: NumPy's letters.
_TAKES = {int: "iufc", float: "fc", complex: "c"}
_SAY_IT = (
    "say the type: place(values, CLIENTS, np.float32) converts them, "
    "and so does np.array(values, np.float32)"
)

Places = Callable[[int], str]


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


def infer_members(values: Sequence[Any]) -> Type:
    """The type that what each of several clients holds has in common.

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
    of_one = infer_member(values if isinstance(values, np.ndarray) else list(values))
    return SequenceType(_rest(of_one)) if isinstance(of_one, TensorType) else of_one  # type: ignore[return-value]


def _common(values: Sequence[Any], places: Places, *, in_sequence: bool = False) -> Any:
    """The type of all values; `places` says where one is, for messages."""
    if not len(values):
        raise misfit(
            "nothing tells the type: there is no value",
            "one value at least, or a declared type",
            "nothing",
            do=_SAY_IT.replace("values", "[]"),
        )
    if any(isinstance(value, list | range) for value in values):
        return _of_lists(values, places, in_sequence)
    fields = [_fields(value) for value in values]
    if all(fields):
        return _of_structures(values, fields, places, in_sequence)
    return _of_leaves(values, places)


def _of_lists(values: Sequence[Any], places: Places, in_sequence: bool) -> Type:
    """Sequences; inside a sequence they are rows."""
    items: list[Any] = []
    starts = []
    for index, value in enumerate(values):
        starts.append(len(items))
        if isinstance(value, list | range):
            items += value
        else:
            items.append(_OfType(_element(value, index, values, places)))

    def inner(i: int) -> str:
        owner = bisect_right(starts, i) - 1
        return f"{places(owner)}, element {i - starts[owner]}"

    element = _common(items, inner, in_sequence=True)
    if not in_sequence:
        return SequenceType(element)
    if not isinstance(element, TensorType) or not isinstance(element.shape, tuple):
        raise misfit(
            "an element of a sequence is a list of different things",
            "numbers, rows of numbers, tuples, dicts",
            f"a list of {element}",
            places(0),
            "use tuples or dicts for structures, arrays for tensors",
        )
    sizes = {len(value) for value in values}
    size = sizes.pop() if len(sizes) == 1 else None
    return TensorType(element.dtype, [size, *element.shape])


def _element(value: Any, index: int, values: Sequence[Any], places: Places) -> Type:
    """The type of an element of what stands beside a list: of an array or a dataset."""
    type_ = _of_leaves([value], places)
    if isinstance(type_, SequenceType):
        return type_.element
    if not isinstance(type_, TensorType) or not type_.shape:
        other = next(i for i, v in enumerate(values) if isinstance(v, list | range))
        raise _differ(values, min(index, other), max(index, other), places)
    return _rest(type_)


def _of_structures(
    values: Sequence[Any], fields: Sequence[Any], places: Places, in_sequence: bool
) -> Type:
    first: Fields = fields[0]
    names = [name for name, _ in first.pairs]
    columns: list[list[Any]] = [[] for _ in names]
    for index, one in enumerate(fields):
        found = dict(one.pairs) if one.container is first.container is dict else {}
        fits = found.keys() == set(names) if found else [n for n, _ in one.pairs] == names
        if not fits:
            raise _differ(values, 0, index, places)
        for at, (_, part) in enumerate(one.pairs):
            columns[at].append(found[names[at]] if found else part)
    pairs = [
        (name, _common(column, _inside(places, name, at), in_sequence=in_sequence))
        for at, (name, column) in enumerate(zip(names, columns, strict=True))
    ]
    return StructType(pairs, first.container)


def _inside(places: Places, name: str | None, at: int) -> Places:
    return lambda i: f"{places(i)}, field {name or at}"


def _of_leaves(values: Sequence[Any], places: Places) -> Type:
    """Tensors, or what a dataset holds."""
    numbers = [value for value in values if type(value) in _NUMBERS]
    widest = _widest(numbers) if numbers else None
    common = infer_type(widest) if len(numbers) == len(values) else None
    for index, value in enumerate(values):
        if type(value) in _NUMBERS:
            continue
        type_ = infer_type(value)
        if type_ is None:
            cure = "give it a value, or leave the client out"
            raise misfit("a value is missing", "a value", "None", places(index), cure)
        wider = type_ if common is None else join(common, type_)
        if wider is None:
            raise _differ(values, 0, index, places)
        common = wider
    assert common is not None
    if numbers and len(numbers) < len(values) and not _takes(common, widest):
        is_number = [type(value) in _NUMBERS for value in values]
        i, j = sorted((is_number.index(True), is_number.index(False)))
        raise _differ(values, i, j, places)
    return common


def _widest(numbers: list[Any]) -> Any:
    return max(numbers, key=lambda n: (_NUMBERS.index(type(n)), abs(n)))


def _takes(type_: Type, number: Any) -> bool:
    """Whether a number of Python's own can stand beside tensors of that type."""
    is_scalar = isinstance(type_, TensorType) and type_.is_scalar
    return is_scalar and type_.dtype.kind in _TAKES[type(number)]  # type: ignore[attr-defined]


def _fields(value: Any) -> Fields | None:
    # Ragged and sparse tensors have fields, too; their type is known otherwise.
    if hasattr(value, "dtype") or is_dataset(value):
        return None
    return fields_of(value)


def _rest(type_: TensorType) -> TensorType:
    """The type of the rows of a tensor."""
    assert isinstance(type_.shape, tuple)
    return TensorType(type_.dtype, type_.shape[1:])


def _differ(values: Sequence[Any], i: int, j: int, places: Places) -> Exception:
    first, second = (_common([values[k]], lambda _, k=k: places(k)) for k in (i, j))  # type: ignore[misc]
    return misfit(
        f"two values of one group have no type in common: {places(i)} and {places(j)}",
        f"the same type, up to the sizes of dimensions: {first}",
        f"{second}, in {places(j)}",
        do=_SAY_IT,
    )
