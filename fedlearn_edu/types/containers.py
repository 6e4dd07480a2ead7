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

from fedlearn_edu.errors import ShapeMismatchError, TypeMismatchError, add_place
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import dtypes
from fedlearn_edu.types import value_messages as say
from fedlearn_edu.types.base import Type
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
from fedlearn_edu.types.dtypes import STRING
from fedlearn_edu.types.messages import ROOT
from fedlearn_edu.types.python_types import (
    Pairs,
    check_dense,
    element_type_of,
    fields_of,
    is_dataset,
    rebuild,
)
from fedlearn_edu.types.references import ValueReference, held
from fedlearn_edu.types.sequences import (
    DatasetSequence,
    LazySequence,
    Members,
    check_unread,
    check_unshared,
    iterate,
)

# Which kinds of numbers become which: NumPy's letters, `b` for bool.
_CONVERTS = {"i": "biu", "u": "biu", "f": "biuf", "c": "biufc"}


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
        raise say.value_missing(type_, path)
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
                raise say.unfit(
                    "a placement is needed", "CLIENTS or SERVER", value, path
                )
            return value
        case FunctionType():
            return value
        case AbstractType():
            raise say.unfit("no value has an abstract type", type_, value, path)
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
            raise say.function_as_result(type_)
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
    """The same values, with those that references stand for brought here together.

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
        raise say.no_structure(type_, value, path)
    pairs, names = fields.pairs, type_.names()
    if fields.container is dict:
        pairs = _by_name(value, type_, path)
    given = tuple([name for name, _ in pairs])
    if len(given) != len(names):
        raise say.number_of_fields(type_, len(given), value, path)
    # Fields go by position; their names may be absent but not different.
    differ = (g not in (None, n) for g, n in zip(given, names, strict=True))
    if any(differ):
        raise say.names_of_fields(names, given, path)
    columns = zip(pairs, type_._parts, strict=True)
    parts = [
        normalize(item, part.type, path + part.step) for (_, item), part in columns
    ]
    return type_._with_values(parts)


def _by_name(values: dict[str | None, Any], type_: StructType, path: str) -> Pairs:
    """The fields of a plain dict in the order of the type."""
    # NB(TFF): a plain dict is matched by name. The ancestor sorted its keys and went by
    # position, which failed for types that are not in alphabetical order.
    names = type_.names()
    if set(values) != set(names):
        raise say.keys_of_dict(type_, names, values, path)
    return [(name, values[name]) for name in names]


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
        return _dataset(value, type_, path)
    # A computation is callable too, but it makes no iterator.
    if callable(value) and not hasattr(value, "type_signature"):
        return LazySequence(
            lambda: _elements(iterate(value, path), element, path), element
        )
    raise say.no_sequence(type_, value, path)


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
                say.add_rows(error, item, element)
            raise


def _dataset(value: Any, type_: SequenceType, path: str) -> DatasetSequence:
    found, element = element_type_of(value.element_spec), type_.element
    if isinstance(found, StructType) and found.python_container is dict:
        # A plain dict has no meaningful order: use the declared one if the keys match.
        wanted = element.names() if isinstance(element, StructType) else ()
        if set(wanted) == set(found.names()):
            found = StructType([(name, found[str(name)]) for name in wanted], dict)
    type_.check_assignable_from(SequenceType(found), where=path)
    return DatasetSequence(value, element)


def _normalize_federated(value: Any, type_: FederatedType, path: str) -> Any:
    if type_.all_equal:
        try:
            return normalize(value, type_.member, path)
        except TypeMismatchError as error:
            if isinstance(value, list) and isinstance(type_.member, TensorType):
                error.do = say.bare_value(type_)
            raise
    if isinstance(value, Members):
        return value
    who = "client" if type_.placement is CLIENTS else "server"
    if not _has_entries(value):
        raise say.no_entries(who, type_, value, path, is_dataset(value))
    member, items = type_.member, list(value)
    check_unshared(items, path)
    entries = tuple(
        _entry(item, member, f"{path}[{who} {i}]") for i, item in enumerate(items)
    )
    are_here = not any(isinstance(entry, ValueReference) for entry in entries)
    return entries if are_here else Members(held, entries)


def _entry(value: Any, type_: Type, path: str) -> Any:
    """What one participant holds, or what stands for it."""
    if not isinstance(value, ValueReference):
        return normalize(value, type_, path)
    type_.check_assignable_from(value.type_signature, where=path)
    return value


def to_plain_tensor(value: Any, type_: TensorType, path: str) -> Any:
    """Converts `value` to the declared dtype and checks its shape.

    Numbers convert as they do when TensorFlow makes a tensor of them: integers become
    floats, never the other way round. One that is too large is refused; infinity is one
    already.
    """
    dtype = type_.dtype
    is_numpy = type(value) is np.ndarray or isinstance(value, np.generic)
    if not is_numpy or value.dtype != dtype or dtype == STRING:
        value = _to_array(value, type_, path)
    if not dtypes.fits(type_.shape, value.shape):
        raise say.wrong_shape(value.shape, type_, path)
    return value if value.shape else value[()]


def _to_array(value: Any, type_: TensorType, path: str) -> Any:
    wanted, letter = type_.dtype, dtypes.kind_of(type_.dtype)
    is_tf = dtypes.is_tf_dtype(getattr(value, "dtype", None))
    if is_tf:
        check_dense(value, path)
    is_tf = is_tf and hasattr(value, "numpy")
    # As objects, else NumPy would read ["a", 1] as two strings.
    dtype = STRING if wanted == STRING else None
    try:
        array = np.asarray(value.numpy() if is_tf else value, dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise say.no_tensor(value, type_, path, say.RAGGED_ROWS) from error
    if wanted == STRING:
        return _to_strings(array, value, type_, path)
    if array.dtype == wanted:
        return array
    if is_tf:
        raise say.cast_tensor(value, array.shape, type_, path)
    is_huge = array.dtype.kind == "O" and all(type(n) is int for n in array.flat)
    kind = "i" if is_huge else dtypes.kind_of(array.dtype)
    if array.size and kind not in _CONVERTS.get(letter, ""):
        raise say.not_converted(value, array, kind, type_, path)
    try:
        with np.errstate(over="raise"):
            is_rounded = is_huge and wanted.kind not in dtypes.WHOLE
            converted = (array.astype(float) if is_rounded else array).astype(wanted)
    except (FloatingPointError, OverflowError):
        raise say.out_of_range(value, type_, path) from None
    if wanted.kind in dtypes.WHOLE and not np.array_equal(converted, array):
        raise say.out_of_range(value, type_, path)
    return converted


def _to_strings(array: Any, value: Any, type_: TensorType, path: str) -> Any:
    flat = np.empty(array.size, dtype=object)
    for i, item in enumerate(array.flat):
        if not isinstance(item, str | bytes):
            raise say.no_tensor(value, type_, path, "write text as str or bytes")
        # Rid of np.str_ and np.bytes_ as well: the plain form of a string is `bytes`.
        flat[i] = item.encode() if isinstance(item, str) else bytes(item)
    return flat.reshape(array.shape)


def plain_of_placed(value: Placed, type_: Type, path: str) -> Any:
    """The plain form of a placed value, for a parameter of type `type_`."""
    found = value.type_signature
    if found.all_equal and type_.is_assignable_from(found.member):
        raise say.placed_for_bare(type_, found, path)
    if "[client" in path:
        raise say.placed_entry(type_, found, path)
    type_.check_assignable_from(found, where=path)
    if isinstance(type_, FederatedType) and found.all_equal and not type_.all_equal:
        refusal = say.uncounted(type_, found, path)
        return Uncounted(value._cached, found.placement, refusal)
    return value._cached


def one_of(members: Sequence[Any], type_: Type) -> Any:
    """The one value of an all-equal group: its first member's.

    Raises:
        CardinalityError: if the group is empty.
    """
    if not members:
        raise say.no_holder(type_)
    return members[0]


def private(plain: Any) -> Any:
    """The same plain value in new arrays, which may be changed."""
    if isinstance(plain, Struct):
        return plain.map(private)
    if isinstance(plain, tuple):
        return tuple(map(private, plain))
    return plain.copy() if isinstance(plain, np.ndarray) else plain
