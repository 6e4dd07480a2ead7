# SPDX-License-Identifier: Apache-2.0
"""Stations 5 and 14 of a value's way: into plain form, and back to Python containers.

    type            plain form (`normalize`)               Python (`restore`)
    float32[?]      NumPy scalar or array, bytes           the same
    <a=int32>       Struct, with the type's names          its container, or OrderedDict
    int32*          tuple, DatasetSequence, LazySequence   list
    {int32}@CLIENTS tuple of members                       list
    int32@SERVER    the bare member                        the bare member

Contexts hand in arguments and receive plain forms for executors, then hand in plain
results and receive what the user gets. Between the two nothing is checked again.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, assert_never

import numpy as np

from fedlearn_edu.errors import TypeMismatchError, describe
from fedlearn_edu.structure import Struct
from fedlearn_edu.types.base import Type
from fedlearn_edu.types.conversion import element_type_of
from fedlearn_edu.types.cures import names_cure
from fedlearn_edu.types.definitions import (
    AbstractType,
    FederatedType,
    FunctionType,
    PlacementType,
    SequenceType,
    StructType,
    TensorType,
    any_type,
)
from fedlearn_edu.types.differences import ROOT, clip, field_step
from fedlearn_edu.types.dtypes import dtype_name
from fedlearn_edu.types.placements import CLIENTS, Placement
from fedlearn_edu.types.python_fields import Fields, fields_of, rebuild
from fedlearn_edu.types.sequences import DatasetSequence, LazySequence, is_dataset
from fedlearn_edu.types.tensors import ShapeMismatchError, to_plain_tensor

Names = Sequence[str | None]
_CURE_OF_NONE = (
    "give it a value, or leave the client out; "
    "a function that made it may lack its return"
)


def normalize(value: Any, type_: Type, path: str = ROOT) -> Any:
    """The plain form of `value`, checked against its declared type.

    >>> from fedlearn_edu.types.notation import parse_type
    >>> print(normalize({"b": [1, 2], "a": 3}, parse_type("<a=float32,b=int32*>")))
    <a=3.0,b=(np.int32(1), np.int32(2))>
    """
    if value is None:
        raise _error("a value is missing", type_, None, path, _CURE_OF_NONE)
    match any_type(type_):
        case TensorType() as tensor:
            return to_plain_tensor(value, tensor, path)
        case StructType() as struct:
            return _normalize_struct(value, struct, path)
        case SequenceType() as sequence:
            return _normalize_sequence(value, sequence, path)
        case FederatedType() as federated:
            return _normalize_federated(value, federated, path)
        case PlacementType():
            if not isinstance(value, Placement):
                raise _error("a placement is needed", "CLIENTS or SERVER", value, path)
            return value
        case FunctionType():
            return value
        case AbstractType():
            raise _error("no value has an abstract type", type_, value, path)
        case unknown:
            assert_never(unknown)


def restore(plain: Any, type_: Type) -> Any:
    """What Python gets for a plain form; the inverse of `normalize`."""
    match any_type(type_):
        case TensorType() | PlacementType():
            return plain
        case StructType() as struct:
            values = zip(struct.names(), map(restore, plain, struct), strict=True)
            return rebuild(struct.python_container, Struct(values))
        case SequenceType(element):
            return [restore(item, element) for item in plain]
        case FederatedType(member, _, True):
            return restore(plain, member)
        case FederatedType(member, _, _):
            return [restore(item, member) for item in plain]
        case FunctionType() | AbstractType():
            cure = "did you forget to call it? put parentheses behind its name"
            summary = "the result is a function, not data"
            raise _error(summary, "data", type_, "the result", cure)
        case unknown:
            assert_never(unknown)


def _normalize_struct(value: Any, type_: StructType, path: str) -> Struct:
    fields = fields_of(value)
    if fields is None:
        cure = "write the fields as a list, tuple, dict or OrderedDict"
        raise _error("a structure is needed", type_, value, path, cure)
    if fields.container is dict:
        fields = _by_name(fields, type_, path)
    given, names = [name for name, _ in fields.pairs], type_.names()
    if len(given) != len(names):
        raise TypeMismatchError(
            "a structure has the wrong number of fields",
            expected=f"{len(names)} fields: {clip(type_)}",
            found=f"{len(given)}, in a {type(value).__name__}",
            where=path,
            do="give each field one value, in order",
        )
    if given != list(names):
        _check_names(given, names, path)
    plain = [
        normalize(item, element, path + field_step(name, i))
        for i, ((_, item), (name, element)) in enumerate(
            zip(fields.pairs, type_.items(), strict=True)
        )
    ]
    return Struct(zip(names, plain, strict=True))


def _by_name(fields: Fields, type_: StructType, path: str) -> Fields:
    """The fields of a plain dict in the order of the type."""
    # NB(TFF): a plain dict is matched by name. The ancestor sorted its keys and went by
    # position, which failed for types that are not in alphabetical order.
    values, names = dict(fields.pairs), type_.names()
    if set(values) != set(names):
        missing = [str(name) for name in names if name not in values]
        extra = [str(name) for name in values if name not in names]
        lists = (("missing", missing), ("not expected", extra))
        found = "; ".join(f"{word}: {', '.join(n)}" for word, n in lists if n)
        expected = f"the keys of {clip(type_)}"
        raise TypeMismatchError(
            "the keys of a dict do not fit",
            expected=expected,
            found=found,
            where=path,
            do="name the keys as the fields of the type",
        )
    return Fields([(name, values[name]) for name in names if name], dict)


def _check_names(given: Names, names: Names, path: str) -> None:
    """Fields go by position; their names may be absent but not different."""
    if all(g in (None, n) for g, n in zip(given, names, strict=True)):
        return
    raise TypeMismatchError(
        "the names of the fields differ",
        expected="in this order: " + ", ".join(str(n) for n in names),
        found="in this order: " + ", ".join(str(n) for n in given),
        where=path,
        do=names_cure(tuple(names), tuple(given)),
    )


def _normalize_sequence(value: Any, type_: SequenceType, path: str) -> Any:
    element = type_.element
    match value:
        case DatasetSequence() | LazySequence():
            type_.check_assignable_from(SequenceType(value.element_type), where=path)
            return value
        case list() | tuple() | range() | Iterator():
            return tuple(_elements(value, element, path))
        case np.ndarray() if value.ndim:
            return tuple(_elements(value, element, path))
    if is_dataset(value):
        return _dataset(value, type_, path)
    # A computation is callable too, but it makes no iterator.
    if not callable(value) or hasattr(value, "type_signature"):
        cure = "pass a list, tuple, array, generator function or tf.data.Dataset"
        if "[client" in path:
            cure = "pass one list (or dataset) for each client: [[…], […]]"
        raise _error("a sequence is needed", type_, value, path, cure)
    return LazySequence(lambda: _elements(value(), element, path), element)


def _elements(values: Iterable[Any], element: Type, path: str) -> Iterator[Any]:
    for i, item in enumerate(values):
        try:
            yield normalize(item, element, f"{path}[element {i}]")
        except ShapeMismatchError as error:
            if isinstance(element, TensorType) and element.is_scalar:
                dims = ",".join("?" * np.ndim(item))
                deeper = f"{dtype_name(element.dtype)}[{dims}]*"
                error.do = f"flatten the data, or declare {deeper} if rows are meant"
            raise


def _dataset(value: Any, type_: SequenceType, path: str) -> DatasetSequence:
    spec = value.element_spec
    found = element_type_of(spec)
    if isinstance(found, StructType) and found.python_container is dict:
        # The order of a dict is nobody's choice: take the declared one if it can be.
        wanted = type_.element.names() if isinstance(type_.element, StructType) else ()
        if set(wanted) == set(found.names()):
            found = StructType([(name, found[str(name)]) for name in wanted], dict)
    type_.check_assignable_from(SequenceType(found), where=path)
    return DatasetSequence(value, type_.element)


def _normalize_federated(value: Any, type_: FederatedType, path: str) -> Any:
    member = type_.member
    who = "client" if type_.placement is CLIENTS else "server"
    if type_.all_equal:
        if isinstance(value, list) and isinstance(member, TensorType):
            return _bare_member(value, type_, member, path)
        return normalize(value, member, path)
    if is_dataset(value):
        cure = "put the datasets in a list: [dataset], one dataset per client"
        raise _error(f"one entry per {who} is needed", type_, value, path, cure)
    is_vector = isinstance(value, np.ndarray) and value.ndim > 0
    if not is_vector and not isinstance(value, list | tuple | range | Iterator):
        cure = f"pass a list with one entry per {who}, in a fixed order"
        raise _error(f"one entry per {who} is needed", type_, value, path, cure)
    members = enumerate(value)
    return tuple(normalize(item, member, f"{path}[{who} {i}]") for i, item in members)


def _bare_member(
    value: Any, type_: FederatedType, member: TensorType, path: str
) -> Any:
    try:
        return to_plain_tensor(value, member, path)
    except TypeMismatchError as error:
        error.do = f"pass the bare value, not a list: {type_} is the same everywhere"
        raise


def _error(
    summary: str, expected: object, value: object, path: str, do: str | None = None
) -> TypeMismatchError:
    found = value if isinstance(value, Type) else describe(value)
    return TypeMismatchError(
        summary,
        expected=clip(expected),
        found="None" if value is None else clip(found),
        where=path,
        do=do,
    )
