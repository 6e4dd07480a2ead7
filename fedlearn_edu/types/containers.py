# SPDX-License-Identifier: Apache-2.0
"""Values to plain form, and back to Python containers.

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
from dataclasses import dataclass
from typing import Any, assert_never, final

import numpy as np

from fedlearn_edu.errors import (
    CardinalityError,
    ShapeMismatchError,
    TypeMismatchError,
    counted,
    describe,
)
from fedlearn_edu.signals import add_place
from fedlearn_edu.structure import Struct
from fedlearn_edu.types.base import Type
from fedlearn_edu.types.data_types import element_type_of
from fedlearn_edu.types.definitions import (
    CLIENTS,
    AbstractType,
    FederatedType,
    FunctionType,
    Placement,
    PlacementType,
    SequenceType,
    StructType,
    TensorType,
    any_type,
)
from fedlearn_edu.types.dtypes import dtype_name, is_dataset
from fedlearn_edu.types.fields import Fields, fields_of, rebuild
from fedlearn_edu.types.messages import ROOT, ZIP, clip, misfit, names_cure
from fedlearn_edu.types.references import ValueReference, held
from fedlearn_edu.types.sequences import (
    DatasetSequence,
    LazySequence,
    Members,
    check_unread,
    check_unshared,
    iterate,
)
from fedlearn_edu.types.tensors import to_plain_tensor


class Placed:
    """A federated value outside of any program; `FederatedValue` is the one kind.

    Attributes:
        type_signature: its federated type.
        _cached: its plain form, made of `Cached` parts.
    """

    type_signature: FederatedType
    _cached: Any


@final
@dataclass(frozen=True, repr=False)
class Uncounted:
    """One value for all members of a group whose size is not known yet."""

    plain: Any
    placement: Placement
    refusal: TypeMismatchError

    def __iter__(self) -> Iterator[Any]:
        raise self.refusal

    def __repr__(self) -> str:
        return f"<one value for everybody at {self.placement}>"


def normalize(value: Any, type_: Type, path: str = ROOT) -> Any:
    """The plain form of `value`, checked against its declared type.

    >>> from fedlearn_edu.types.notation import parse_type
    >>> print(normalize({"b": [1, 2], "a": 3}, parse_type("<a=float32,b=int32*>")))
    <a=3.0,b=(np.int32(1), np.int32(2))>
    """
    if value is None:
        do = (
            "give it a value, or leave the client out; "
            "a function that made it may lack its return"
        )
        raise _unfit("a value is missing", type_, None, path, do)
    if isinstance(value, Placed):
        return plain_of_placed(value, type_, path)
    if isinstance(value, ValueReference):
        (value,) = materialize([value])
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
                needed = "CLIENTS or SERVER"
                raise _unfit("a placement is needed", needed, value, path)
            return value
        case FunctionType():
            return value
        case AbstractType():
            raise _unfit("no value has an abstract type", type_, value, path)
        case unknown:
            assert_never(unknown)


def restore(plain: Any, type_: Type) -> Any:
    """What Python gets for a plain form; the inverse of `normalize`."""
    match any_type(type_):
        case TensorType() | PlacementType():
            return plain
        case StructType() as struct:
            fields = struct._with_values(map(restore, plain, struct))
            return rebuild(struct.python_container, fields)
        case SequenceType(element):
            return [restore(item, element) for item in plain]
        case FederatedType(member, _, True):
            return restore(plain, member)
        case FederatedType(member, _, _):
            return [_restore_at(i, item, member) for i, item in enumerate(plain)]
        case FunctionType() | AbstractType():
            raise TypeMismatchError(
                "the result is a function, not data",
                expected="data",
                found=clip(type_),
                where="the result",
                do="did you forget to call it? put parentheses behind its name",
            )
        case unknown:
            assert_never(unknown)


def _restore_at(client: int, plain: Any, type_: Type) -> Any:
    if isinstance(plain, ValueReference):
        return plain
    try:
        return restore(plain, type_)
    except Exception as error:
        # Reading a lazy sequence runs the user's code.
        add_place(error, f"at client {client}")
        raise


def materialize(values: Sequence[Any]) -> list[Any]:
    """The same values, without references: what they refer to is fetched together.

    Source: `tff.program.materialize_value`.
    """
    found = list(values)
    away = [i for i, value in enumerate(found) if isinstance(value, ValueReference)]
    for bring in {found[i].bring for i in away}:
        mine = [i for i in away if found[i].bring == bring]
        plain = bring([found[i] for i in mine])
        for i, value in zip(mine, plain, strict=True):
            found[i] = restore(value, found[i].type_signature)
    return found


def _normalize_struct(value: Any, type_: StructType, path: str) -> Struct:
    fields = fields_of(value)
    if fields is None:
        do = "write the fields as a list, tuple, dict or OrderedDict"
        raise _unfit("a structure is needed", type_, value, path, do)
    names = type_.names()
    # NB(TFF): a plain dict is matched by name. The ancestor sorted its keys and went by
    # position, which failed for types that are not in alphabetical order.
    pairs = fields.in_order(names)
    given = tuple([name for name, _ in pairs])
    # Fields go by position; their names may be absent but not different.
    if len(given) != len(names) or any(
        g not in (None, n) for g, n in zip(given, names, strict=True)
    ):
        raise _other_fields(value, fields, type_, path)
    columns = zip(pairs, type_._parts, strict=True)
    return type_._with_values(
        [normalize(item, part.type, path + part.step) for (_, item), part in columns]
    )


def _other_fields(
    value: Any, fields: Fields, type_: StructType, path: str
) -> TypeMismatchError:
    given, names = tuple([name for name, _ in fields.pairs]), type_.names()
    if fields.container is dict:
        missing = [str(name) for name in names if name not in value]
        extra = [name for name in value if name not in names]
        lists = ("missing", missing), ("not expected", extra)
        return TypeMismatchError(
            "the keys of a dict do not fit",
            expected=f"the keys of {clip(type_)}",
            found="; ".join(f"{word}: {', '.join(n)}" for word, n in lists if n),
            where=path,
            do="name the keys as the fields of the type",
        )
    if len(given) != len(names):
        return TypeMismatchError(
            "a structure has the wrong number of fields",
            expected=f"{counted(len(names), 'field')}: {clip(type_)}",
            found=f"{len(given)}, in a {type(value).__name__}",
            where=path,
            do="give each field one value, in order",
        )
    return TypeMismatchError(
        "the names of the fields differ",
        expected=f"in this order: {', '.join(map(str, names))}",
        found=f"in this order: {', '.join(map(str, given))}",
        where=path,
        do=names_cure(names, given),
    )


def _normalize_sequence(value: Any, type_: SequenceType, path: str) -> Any:
    element = type_.element
    if isinstance(value, DatasetSequence | LazySequence):
        type_.check_assignable_from(SequenceType(value.element_type), where=path)
        return value
    if isinstance(value, Iterator):
        check_unread(value, path)
        return tuple(_elements(iterate(value, path), element, path))
    if _has_entries(value):
        return tuple(_elements(value, element, path))
    if is_dataset(value):
        found = element_type_of(value.element_spec, like=element)
        type_.check_assignable_from(SequenceType(found), where=path)
        return DatasetSequence(value, element)
    # A computation is callable too, but it makes no iterator.
    if callable(value) and not hasattr(value, "type_signature"):
        return LazySequence(
            lambda: _elements(iterate(value, path), element, path), element
        )
    do = "pass a list, tuple, array, generator function or tf.data.Dataset"
    if "[client" in path:
        do = "pass one list (or dataset) for each client: [[…], […]]"
    raise _unfit("a sequence is needed", type_, value, path, do)


def _has_entries(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, list | tuple | range | Iterator)


def _elements(items: Iterable[Any], element: Type, path: str) -> Iterator[Any]:
    for i, item in enumerate(items):
        try:
            yield normalize(item, element, f"{path}[element {i}]")
        except ShapeMismatchError as error:
            if isinstance(element, TensorType) and element.is_scalar:
                # An element that is no scalar: it says how rows are declared.
                sizes = ",".join("?" * np.ndim(item))
                rows = f"{dtype_name(element.dtype)}[{sizes}]"
                error.found = f"{rows}: {clip(item)}"
                error.do = f"flatten the data, or declare {rows}* if rows are meant"
            raise


def _normalize_federated(value: Any, type_: FederatedType, path: str) -> Any:
    if type_.all_equal:
        try:
            return normalize(value, type_.member, path)
        except TypeMismatchError as error:
            if isinstance(value, list) and isinstance(type_.member, TensorType):
                error.do = (
                    f"pass the bare value, not a list: {type_} is the same everywhere"
                )
            raise
    if isinstance(value, Members):
        return value
    who = "client" if type_.placement is CLIENTS else "server"
    if not _has_entries(value):
        do = f"pass a list with one entry per {who}, in a fixed order"
        if is_dataset(value):
            do = "put the datasets in a list: [dataset], one dataset per client"
        if hasattr(value, "place"):
            do = "place it: data.place(batch_size=…)"
        raise _unfit(f"one entry per {who} is needed", type_, value, path, do)
    member, items = type_.member, list(value)
    check_unshared(items, path)
    entries = tuple(
        _entry(item, member, f"{path}[{who} {i}]") for i, item in enumerate(items)
    )
    are_here = not any(isinstance(entry, ValueReference) for entry in entries)
    return entries if are_here else Members(held, entries)


def _entry(value: Any, type_: Type, path: str) -> Any:
    """The plain form of an entry, or a reference to it."""
    if not isinstance(value, ValueReference):
        return normalize(value, type_, path)
    type_.check_assignable_from(value.type_signature, where=path)
    return value


def plain_of_placed(value: Placed, type_: Type, path: str) -> Any:
    """The plain form of a placed value, for a parameter of type `type_`."""
    found = value.type_signature
    if found.all_equal and type_.is_assignable_from(found.member):
        raise TypeMismatchError(
            "a value without a placement is needed",
            expected=clip(type_),
            found=clip(found),
            where=path,
            do="take the value out of its placement: x.value",
        )
    if "[client" in path:
        raise TypeMismatchError(
            "an entry of a list for the clients is placed already",
            expected=clip(type_),
            found=clip(found),
            where=path,
            do=f"the list holds what each client has; {ZIP}",
        )
    type_.check_assignable_from(found, where=path)
    if isinstance(type_, FederatedType) and found.all_equal and not type_.all_equal:
        refusal = TypeMismatchError(
            "nobody knows how many clients hold this value",
            expected=clip(type_),
            found=clip(found),
            where=path,
            do="pass data with one entry per client, place([…, …], CLIENTS), beside "
            "it; or say the number: local_executor_factory(default_num_clients=3)",
        )
        return Uncounted(value._cached, found.placement, refusal)
    return value._cached


def one_of(members: Sequence[Any], type_: Type) -> Any:
    """The one value of an all-equal group: its first member's.

    Raises:
        CardinalityError: if the group is empty.
    """
    if not members:
        raise CardinalityError(
            "a value that is equal at all clients has no holder: 0 clients",
            expected="at least one client",
            found=type_,
            do="pass default_num_clients to the executor factory",
        )
    return members[0]


def _unfit(
    summary: str, expected: object, value: object, path: str, do: str | None = None
) -> TypeMismatchError:
    """The error for a value that does not fit, which describes it."""
    found = "None" if value is None else clip(describe(value))
    return misfit(summary, clip(expected), found, path, do)


def private(plain: Any) -> Any:
    """The same plain value in new arrays, which may be changed."""
    if isinstance(plain, Struct):
        return plain.map(private)
    if isinstance(plain, tuple):
        return tuple(map(private, plain))
    return plain.copy() if isinstance(plain, np.ndarray) else plain
