# SPDX-License-Identifier: Apache-2.0
"""The errors of values: those in a body, and those that participants hold."""

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING

from fedlearn_edu.errors import (
    ContextError,
    FedLearnError,
    FieldError,
    TracingError,
    TypeMismatchError,
    describe,
)
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.types import (
    FederatedType,
    Placement,
    SequenceType,
    StructType,
    TensorType,
    Type,
)
from fedlearn_edu.types.containers import Placed
from fedlearn_edu.types.dtypes import NUMERIC, kind_of
from fedlearn_edu.types.messages import BY_ELEMENT, by_element, clip
from fedlearn_edu.types.python_types import is_dataset

if TYPE_CHECKING:
    from fedlearn_edu.language.computation import PolymorphicComputation
    from fedlearn_edu.language.value import Value

# ---------------------------------------------------------------------------- in a body


_INSIDE = "inside an np_computation or tf_computation, and call that"
_NO_NUMBER, _NOT_COMPARED = (
    "a value is not a number yet",
    "values cannot be compared yet",
)
COMPARED = (_NOT_COMPARED, "== or != with", f"compare {_INSIDE}")

# Python's methods that need data: the problem, the use, what to do.
UNSUPPORTED = {
    "__bool__": (
        "a value is not true or false yet",
        "`if`, `and`, `or`, `not` or `while` on",
        f"decide {_INSIDE}",
    ),
    "__contains__": (_NOT_COMPARED, "`in` with", f"compare {_INSIDE}"),
    "__lt__": (_NOT_COMPARED, "< or > with", f"compare {_INSIDE}"),
    "__gt__": (_NOT_COMPARED, "< or > with", f"compare {_INSIDE}"),
    "__le__": (_NOT_COMPARED, "<= or >= with", f"compare {_INSIDE}"),
    "__ge__": (_NOT_COMPARED, "<= or >= with", f"compare {_INSIDE}"),
    "__float__": (_NO_NUMBER, "float() of", f"convert it {_INSIDE}"),
    "__index__": (_NO_NUMBER, "int(), range() or an index made of", f"count {_INSIDE}"),
    "__array__": (
        "NumPy cannot read a value yet",
        "NumPy code on",
        f"move it {_INSIDE}",
    ),
    "__tf_tensor__": (
        "TensorFlow cannot read a value yet",
        "TensorFlow code on",
        "move it into a tf_computation, and call that",
    ),
}


def not_computed_yet(
    value: "Value", problem: str, use: str, do: str, *, in_body: bool
) -> TracingError:
    do = do or by_element(value.type_signature) or f"write it {_INSIDE}"
    if not in_body:
        do = "make the value a parameter of this function, and pass it in the call"
    elif isinstance(value.type_signature, FederatedType) and do != BY_ELEMENT:
        do = f"{do} through federated_map"
        if use.startswith("NumPy"):
            do += "; federated_mean and federated_sum combine what clients hold"
    return TracingError(
        f"{problem}: the program is being written, not run",
        expected="a computation, an intrinsic, or + - * / of values",
        found=f"{use} a value of type {value.type_signature}",
        where=_name(value),
        do=do,
    )


def unchangeable(
    value: "Value", found: str, error: type[FedLearnError]
) -> FedLearnError:
    return error(
        "a value cannot be changed",
        expected="a new structure, made of old and new fields",
        found=found,
        where=f"{_name(value)}, of type {clip(value.type_signature)}",
        do="make one: OrderedDict(weight=new, bias=old.bias), for instance",
    )


def no_function(value: "Value") -> TracingError:
    return TracingError(
        "only functions can be called",
        expected="a value of a type such as (int32 -> int32)",
        found=str(value.type_signature),
        where=_name(value),
        do="this is data: give it to a computation, or drop the parentheses",
    )


def no_field(value: "Value", key: object, fields: StructType | None) -> FieldError:
    names = [name for name in fields.names() if name] if fields is not None else []
    known = [", ".join(names)] if names else []
    if fields is not None and len(fields):
        known.append(f"an index from 0 to {len(fields) - 1}")
    return FieldError(
        "there is no such field",
        expected=" or ".join(known) or "no field: this value has none",
        found=repr(key),
        where=f"{_name(value)}, of type {clip(value.type_signature)}",
        do=_cure_of_field(key, bool(names), value.type_signature),
    )


def _cure_of_field(key: object, has_names: bool, type_: Type) -> str:
    if not isinstance(key, str):
        return "count fields from 0, and not from the end"
    if key in ("max", "mean", "min", "sum") and isinstance(type_, FederatedType):
        return f"write federated_{key}(…)"
    if hasattr(dict, key) or hasattr(list, key):
        return "a value is no dict or list: name its fields, or iterate over it"
    if has_names:
        return "check the spelling of the field"
    return "`.type_signature` is all that is known before the program runs"


def no_parts(value: "Value", use: str) -> TracingError:
    type_ = value.type_signature
    member = type_.member if isinstance(type_, FederatedType) else type_
    if isinstance(member, SequenceType):
        do = "use sequence_map, sequence_reduce or sequence_sum"
        if isinstance(type_, FederatedType):
            do += ", in a function that each client applies with federated_map"
    elif isinstance(type_, FederatedType):
        do = (
            "nobody sees the members one by one: use federated_map to work at each "
            "participant, federated_sum, federated_mean, … to combine them"
        )
    else:
        do = f"take it apart {_INSIDE}"
    return TracingError(
        f"{use} needs a structure",
        expected="a value of a structure type, such as <a=int32,b=float32>",
        found=str(type_),
        where=_name(value),
        do=do,
    )


def _name(value: "Value") -> str:
    return clip(to_text(value.node))


def not_a_part(thing: object) -> TracingError:
    if isinstance(thing, Mapping):
        do = "use an OrderedDict: the order of the fields matters"
    elif inspect.isawaitable(thing):
        do = "await it first"
    elif isinstance(thing, Placed):
        do = "make it a parameter of this function, and pass it in the call"
    elif type(thing).__module__.startswith("tensorflow"):
        do = "move the TensorFlow code into a tf_computation and call that"
    elif str(getattr(thing, "__module__", None)).startswith("fedlearn_edu."):
        do = "call it: the parentheses and what stands in them are missing"
    elif callable(thing):
        do = "decorate it: np_computation, tf_computation or federated_computation"
    else:
        do = "make a value, a constant or a container of it first"
    return TracingError(
        "this cannot be part of a federated computation",
        expected="a value, a computation, a constant, or a container of these",
        found=describe(thing),
        do=do,
    )


def no_type_yet(computation: "PolymorphicComputation") -> TracingError:
    return TracingError(
        f"the type of {computation.__name__} is not known here",
        expected="a computation with types",
        found=repr(computation),
        do="decorate it with the type of its parameter",
    )


def no_constant(type_: Type) -> TypeMismatchError:
    return TypeMismatchError(
        "no constant of this type can be made",
        expected="tensors and structures of tensors",
        found=str(type_),
    )


def not_combined(
    name: str, left: Type, right: Type, part: Type, other: Type
) -> TypeMismatchError:
    return TypeMismatchError(
        f"these two values cannot be combined by {name}",
        expected="numbers of equal types, or one scalar of the same dtype",
        found=f"{clip(left)} and {clip(right)}",
        do=_cure_of_operands(part, other),
    )


def _cure_of_operands(left: Type, right: Type) -> str:
    inside = "inside a tf_computation or np_computation first"
    match left, right:
        case TensorType(dtype=one), TensorType(dtype=other) if one == other:
            numeric = kind_of(one) in NUMERIC
            how = f"reshape or slice one of them {inside}; only a scalar is spread"
            return how if numeric else f"turn them into numbers {inside}"
        case TensorType(), TensorType():
            return f"cast {left} or {right} {inside}"
        case StructType(), StructType():
            return "give both the same fields, or combine the fields one by one"
        case _:
            whole = f"only numbers and structures of them are combined: work {inside}"
            return by_element(left, right) or whole


# ------------------------------------------------------------------------------- placed


def type_of_another_placement(
    placement: Placement, declared: FederatedType
) -> TypeMismatchError:
    return TypeMismatchError(
        "the type speaks of another placement than the call",
        expected=f"a type of members, or of a value at {placement}",
        found=str(declared),
        where="place",
        do=f"pass the type of one entry: {declared.member}",
    )


def no_placement(found: object) -> TypeMismatchError:
    return TypeMismatchError(
        "this is not a placement",
        expected="CLIENTS or SERVER",
        found=describe(found),
        where="the second argument",
        do="write fl.CLIENTS or fl.SERVER, without quotes",
    )


def place_in_a_body() -> ContextError:
    return ContextError(
        "place was used in the body of a computation",
        expected="data that are placed outside of any body",
        found="a body, which gets its data with each call",
        do="make the data a parameter; federated_value(x, CLIENTS) is a constant",
    )


def no_entries(values: object) -> TypeMismatchError:
    if isinstance(values, Placed):
        do = "this is placed already: use it as it is"
    elif isinstance(values, Mapping):
        do = "clients have an order and no names: place(list(values.values()), …)"
    elif is_dataset(values):
        do = "put the datasets into a list: [dataset, …], one for each client"
    else:
        do = (
            "put what each client holds into a list; one value for all of them is "
            "federated_value(x, CLIENTS)"
        )
    return TypeMismatchError(
        "place puts one entry at each client",
        expected="a list with one entry per client",
        found=describe(values),
        where="place",
        do=do,
    )


def unchangeable_placed_value(name: str) -> FieldError:
    return FieldError(
        "a placed value cannot be changed",
        expected="a new value",
        found=f"{name} = …",
        do="make a new one, by an intrinsic or by place",
    )


def placed_value_misused(
    value: Placed, found: str, expected: str, do: str
) -> TypeMismatchError:
    return TypeMismatchError(
        "a placed value cannot be used like this",
        expected=expected,
        found=f"{found}, of a value of type {value.type_signature}",
        do=do,
    )


def other_operator(value: Placed, sign: str) -> TypeMismatchError:
    do = "write it inside an np_computation, and federated_map that"
    do = by_element(value.type_signature) or do
    return placed_value_misused(value, sign, "+ - * / of placed values and numbers", do)


def no_placed_field(value: Placed, key: object) -> FieldError:
    member = value.type_signature.member
    names = member.names() if isinstance(member, StructType) else ()
    do = "x.members shows what the participants hold"
    if isinstance(key, int):
        do = f"what client {key} holds is x.members[{key}]"
    if isinstance(key, int) and value.type_signature.all_equal:
        do = f"look into the one value: x.value[{key}]"
    return FieldError(
        "a placed value has no such field",
        expected=", ".join(filter(None, names)) or f"no field: it holds {member}",
        found=repr(key),
        do=do,
    )


def not_stackable(found: str) -> TypeMismatchError:
    return TypeMismatchError(
        "these members do not fit into one array",
        expected="tensors of equal shapes, or structures of them",
        found=found,
        do="look at them one by one: x.members",
    )
