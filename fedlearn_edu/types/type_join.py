# SPDX-License-Identifier: Apache-2.0
"""The one type of several values: what a group of clients, or a sequence, is made of.

`place` and eager sequence intrinsics hand in data without a declared type. Here a list
is a sequence, and a list inside a list is a row of numbers. What stands at the same
place is looked at side by side: sizes may differ, and a number of Python's own takes
the dtype of its neighbors.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np

from fedlearn_edu.errors import FedLearnError, FieldError, TypeMismatchError
from fedlearn_edu.types.base import Type
from fedlearn_edu.types.conversion import infer_type
from fedlearn_edu.types.data_types import StructType, TensorType
from fedlearn_edu.types.definitions import SequenceType
from fedlearn_edu.types.dtypes import kind_of
from fedlearn_edu.types.mismatch import field_step, misfit
from fedlearn_edu.types.python_fields import fields_of

_NUMBERS = (int, float, complex)
# Which dtypes a number of Python's own can take: NumPy's letters.
_TAKES = {int: "iufc", float: "fc", complex: "c"}
_SAY_IT = (
    "say the type: place(values, CLIENTS, np.float32), "
    "or SequenceType(np.float32) for lists"
)

_Places = Callable[[int], str]


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
        case SequenceType(one), SequenceType(another):
            element = join(one, another)
            return None if element is None else SequenceType(element)
        case StructType(), StructType() if first.names() == second.names():
            fields = [join(a, b) for a, b in zip(first, second, strict=True)]
            if None in fields:
                return None
            pairs = list(zip(first.names(), fields, strict=True))
            return StructType(pairs, first.python_container)
    return None


def infer_members(values: Sequence[Any]) -> Type:
    """The type that what several clients hold has in common.

    >>> print(infer_members([[1, 2.5], [], np.zeros(4, np.float32)]))
    float32*

    Raises:
        TypeMismatchError: if there is no value, or two have no type in common.
    """
    return _common(values, lambda i: f"client {i}")


def infer_member(value: Any) -> Type:
    """The type of what one participant holds; a list is a sequence."""
    return _common([value], lambda _: "the value")


@final
class SequenceList(list[Any]):
    """The list that a body sees: no array, and it says so where one would be needed.

    Attributes:
        element_type: of a sequence, the type of its elements, even if there are none.
    """

    def __init__(
        self, elements: Iterable[Any], element_type: Type | None = None
    ) -> None:
        super().__init__(elements)
        self.element_type = element_type

    def __mul__(self, *other: Any) -> Any:
        if other and hasattr(other[0], "shape"):
            return NotImplemented  # NumPy and TensorFlow make an array of the list
        what = " and ".join(["a list", *map(repr, other)])
        raise _no_array(TypeMismatchError, f"arithmetic with {what}")

    __rmul__ = __imul__ = __sub__ = __rsub__ = __truediv__ = __rtruediv__ = __mul__
    __pow__ = __rpow__ = __mod__ = __floordiv__ = __matmul__ = __mul__
    __neg__ = __abs__ = __mul__

    def __add__(self, other: Any) -> Any:
        is_list = isinstance(other, list)
        return [*self, *other] if is_list else self.__mul__(other)

    def __radd__(self, other: Any) -> Any:
        is_list = isinstance(other, list)
        return [*other, *self] if is_list else self.__mul__(other)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(np.ndarray, name):
            raise AttributeError(name)
        raise _no_array(FieldError, f".{name} of a list")


def _no_array(error: type[FedLearnError], found: str) -> FedLearnError:
    return error(
        "a list is no array",
        expected="an array, to compute with all elements at once",
        found=found,
        do="make one of it first: np.asarray(x), or tf.stack(x) in TensorFlow",
    )


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

    `places` says where each of them is, for messages, `inside` whether in a sequence.
    """
    if not values:
        expected = "one value at least, or a declared type"
        problem = "nothing tells the type: there is no value"
        cure = f"{_SAY_IT}; np.zeros([0], np.float32) has one"
        raise misfit(problem, expected, "nothing", do=cure)
    if any(isinstance(value, list | range) for value in values):
        return _of_lists(values, places, inside=inside)
    # Ragged and sparse tensors have fields, too; their type is known otherwise.
    known = [isinstance(v, _OfType) or hasattr(v, "dtype") for v in values]
    fields = [None if k else fields_of(v) for v, k in zip(values, known, strict=True)]
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
    if not isinstance(type_, TensorType) or not isinstance(type_.shape, tuple):
        raise misfit(
            "an element of a sequence is a list of different things",
            "numbers, rows of numbers, tuples, dicts",
            f"a list of {type_}",
            places(0),
            "use tuples or dicts for structures, arrays for tensors",
        )
    size = sizes.pop() if len(sizes) == 1 else None
    return TensorType(type_.dtype, [size, *type_.shape])


def _of_structures(
    values: Sequence[Any], fields: Sequence[Any], places: _Places, *, inside: bool
) -> Type:
    names = [name for name, _ in fields[0].pairs]
    rows = []
    for index, (pairs, container) in enumerate(fields):
        if container is dict and {name for name, _ in pairs} == set(names):
            pairs = [(name, values[index][name]) for name in names]
        if [name for name, _ in pairs] != names:
            raise _differ(values, 0, index, places)
        rows.append([part for _, part in pairs])
    parts = []
    for at, name in enumerate(names):
        column, step = [row[at] for row in rows], field_step(name, at)
        within = partial(_at_field, places, step)
        parts.append((name, _common(column, within, inside=inside)))
    return StructType(parts, fields[0].container)


def _at_field(places: _Places, step: str, index: int) -> str:
    return places(index) + step


def _of_leaves(values: Sequence[Any], places: _Places) -> Type:
    is_number = [type(value) in _NUMBERS for value in values]
    if all(is_number):
        widest = max(values, key=lambda n: (_NUMBERS.index(type(n)), abs(n)))
        return _typed(widest, places(0))
    # Python's own numbers come last: they take the dtype of the others, if they can.
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
        cure = "give it a value, or leave the client out"
        raise misfit("a value is missing", "a value", "None", place, cure)
    return type_


def _row(type_: Any) -> TensorType:
    """The type of the rows of an array."""
    return TensorType(type_.dtype, type_.shape[1:])


def _differ(values: Sequence[Any], i: int, j: int, places: _Places) -> Exception:
    i, j = sorted((i, j))
    first, second = infer_member(values[i]), infer_member(values[j])
    return misfit(
        f"two values of one group have no type in common: {places(i)} and {places(j)}",
        f"the same type, up to the sizes of dimensions: {first}",
        f"{second}, in {places(j)}",
        do=_SAY_IT,
    )
