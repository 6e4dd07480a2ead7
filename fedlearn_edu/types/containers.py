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

from collections.abc import Iterator
from typing import Any, assert_never

import numpy as np

from fedlearn_edu.errors import TypeMismatchError, add_place, describe
from fedlearn_edu.structure import Struct
from fedlearn_edu.types.base import Type
from fedlearn_edu.types.cached import Placed, Uncounted, plain_of_placed
from fedlearn_edu.types.conversion import element_type_of
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
from fedlearn_edu.types.dtypes import dtype_name
from fedlearn_edu.types.mismatch import ROOT, clip, misfit, names_cure
from fedlearn_edu.types.placements import CLIENTS, Placement
from fedlearn_edu.types.plain import (
    DatasetSequence,
    LazySequence,
    ShapeMismatchError,
    check_unshared,
    is_dataset,
    read_once,
    taken,
    to_plain_tensor,
)
from fedlearn_edu.types.python_fields import Pairs, fields_of, rebuild

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
    plain = _plain(value, type_, path)
    if not isinstance(type_, TensorType) and type_.contains(_is_sequence):
        check_unshared(_read_once(plain, type_))
    return plain


def _plain(value: Any, type_: Type, path: str) -> Any:
    if value is None:
        raise _error("a value is missing", type_, None, path, _CURE_OF_NONE)
    if isinstance(value, Placed):
        return plain_of_placed(value, type_, path)
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


def _is_sequence(type_: Type) -> bool:
    return isinstance(type_, SequenceType)


def _read_once(plain: Any, type_: Type) -> Iterator[tuple[Any, str]]:
    """The iterators that sequences will be read from, and where they were passed."""
    match type_:
        case SequenceType() if isinstance(plain, LazySequence):
            yield plain.source, plain.path
        case FederatedType(member, _, all_equal) if not isinstance(plain, Uncounted):
            for one in (plain,) if all_equal else plain:
                yield from _read_once(one, member)
        case StructType():
            for part, element in zip(plain, type_, strict=True):
                yield from _read_once(part, element)


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
            return [_restore_at(i, item, member) for i, item in enumerate(plain)]
        case FunctionType() | AbstractType():
            cure = "did you forget to call it? put parentheses behind its name"
            summary = "the result is a function, not data"
            raise _error(summary, "data", type_, "the result", cure)
        case unknown:
            assert_never(unknown)


def _restore_at(client: int, plain: Any, type_: Type) -> Any:
    try:
        return restore(plain, type_)
    except Exception as error:
        # A sequence that is read only now may run code of the user's.
        add_place(error, f"at client {client}")
        raise


def _normalize_struct(value: Any, type_: StructType, path: str) -> Struct:
    fields = fields_of(value)
    if fields is None:
        cure = "write the fields as a list, tuple, dict or OrderedDict"
        raise _error("a structure is needed", type_, value, path, cure)
    pairs, names = fields.pairs, type_.names()
    if fields.container is dict:
        pairs = _by_name(value, type_, path)
    given = tuple(name for name, _ in pairs)
    if len(given) != len(names):
        summary = "a structure has the wrong number of fields"
        expected = f"{len(names)} fields: {clip(type_)}"
        found = f"{len(given)}, in a {type(value).__name__}"
        cure = "give each field one value, in order"
        raise misfit(summary, expected, found, path, cure)
    # Fields go by position; their names may be absent but not different.
    fitting = given == names or all(
        g in (None, n) for g, n in zip(given, names, strict=True)
    )
    if not fitting:
        summary, cure = "the names of the fields differ", names_cure(names, given)
        wanted, found = (", ".join(map(str, n)) for n in (names, given))
        order = "in this order: "
        raise misfit(summary, order + wanted, order + found, path, cure)
    plain = [
        _plain(item, part, path + step)
        for (_, item), (step, part) in zip(pairs, type_._parts(), strict=True)
    ]
    return Struct(zip(names, plain, strict=True))


def _by_name(values: dict[str | None, Any], type_: StructType, path: str) -> Pairs:
    """The fields of a plain dict in the order of the type."""
    # NB(TFF): a plain dict is matched by name. The ancestor sorted its keys and went by
    # position, which failed for types that are not in alphabetical order.
    names = type_.names()
    if set(values) != set(names):
        missing = [str(name) for name in names if name not in values]
        extra = [str(name) for name in values if name not in names]
        lists = (("missing", missing), ("not expected", extra))
        found = "; ".join(f"{word}: {', '.join(n)}" for word, n in lists if n)
        summary = "the keys of a dict do not fit"
        expected = f"the keys of {clip(type_)}"
        cure = "name the keys as the fields of the type"
        raise misfit(summary, expected, found, path, cure)
    return [(name, values[name]) for name in names]


def _normalize_sequence(value: Any, type_: SequenceType, path: str) -> Any:
    element = type_.element
    if isinstance(value, DatasetSequence | LazySequence):
        type_.check_assignable_from(SequenceType(value.element_type), where=path)
        return value
    if isinstance(value, Iterator):
        return read_once(value, _elements(value, element, path), element, path)
    if _has_entries(value):
        return tuple(_elements(value, element, path))
    if is_dataset(value):
        return _dataset(value, type_, path)
    # A computation is callable too, but it makes no iterator.
    if callable(value) and not hasattr(value, "type_signature"):
        return LazySequence(lambda: _elements(value, element, path), element)
    cure = "pass a list, tuple, array, generator function or tf.data.Dataset"
    if "[client" in path:
        cure = "pass one list (or dataset) for each client: [[…], […]]"
    raise _error("a sequence is needed", type_, value, path, cure)


def _has_entries(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, list | tuple | range | Iterator)


def _elements(source: Any, element: Type, path: str) -> Iterator[Any]:
    for i, item in enumerate(taken(source, path)):
        try:
            yield _plain(item, element, f"{path}[element {i}]")
        except ShapeMismatchError as error:
            if isinstance(element, TensorType) and element.is_scalar:
                dims = ",".join("?" * np.ndim(item))
                rows = f"{dtype_name(element.dtype)}[{dims}]"
                error.found = f"{rows}: {clip(item)}"
                error.do = f"flatten the data, or declare {rows}* if rows are meant"
            raise


def _dataset(value: Any, type_: SequenceType, path: str) -> DatasetSequence:
    found, element = element_type_of(value.element_spec), type_.element
    if isinstance(found, StructType) and found.python_container is dict:
        # The order of a dict is nobody's choice: take the declared one if it can be.
        wanted = element.names() if isinstance(element, StructType) else ()
        if set(wanted) == set(found.names()):
            found = StructType([(name, found[str(name)]) for name in wanted], dict)
    type_.check_assignable_from(SequenceType(found), where=path)
    return DatasetSequence(value, element)


def _normalize_federated(value: Any, type_: FederatedType, path: str) -> Any:
    if type_.all_equal:
        try:
            return _plain(value, type_.member, path)
        except TypeMismatchError as error:
            if isinstance(value, list) and isinstance(type_.member, TensorType):
                cure = "pass the bare value, not a list"
                error.do = f"{cure}: {type_} is the same everywhere"
            raise
    who = "client" if type_.placement is CLIENTS else "server"
    if not _has_entries(value):
        cure = f"pass a list with one entry per {who}, in a fixed order"
        if is_dataset(value):
            cure = "put the datasets in a list: [dataset], one dataset per client"
        cure = "place it: data.place(batch_size=…)" if hasattr(value, "place") else cure
        raise _error(f"one entry per {who} is needed", type_, value, path, cure)
    member, members = type_.member, enumerate(value)
    return tuple(_plain(item, member, f"{path}[{who} {i}]") for i, item in members)


def _error(
    summary: str, expected: object, value: object, path: str, do: str | None = None
) -> TypeMismatchError:
    found = clip(value if isinstance(value, Type) else describe(value))
    return misfit(summary, clip(expected), "None" if value is None else found, path, do)
