# SPDX-License-Identifier: Apache-2.0
"""Every error of the language, as one text; the code that raises them is elsewhere.

Each function builds one error, in the order in which a learner may meet it: defining a
computation, calling one, using values in a body, using intrinsics, placing data.
"""

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING

from fedlearn_edu.errors import (
    ArgumentsError,
    ContextError,
    FedLearnError,
    FieldError,
    TracingError,
    describe,
)
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.types import FederatedType, Placed, SequenceType, StructType, Type
from fedlearn_edu.types.mismatch import clip
from fedlearn_edu.types.relations import BY_ELEMENT, by_element

if TYPE_CHECKING:
    from fedlearn_edu.language.decorator import PolymorphicComputation
    from fedlearn_edu.language.value import Value

# ------------------------------------------------------------- calling a computation


def not_closed(callee: str, name: str, type_: Type) -> ContextError:
    return ContextError(
        f"{callee} uses the value {name!r} of the computation it was "
        "defined in, and can run only inside it",
        expected=f"a call inside the body that {name!r} belongs to",
        found=f"{name}: {type_}",
        do=f"call {callee} inside that body, or make {name!r} a parameter",
    )


def takes_no_argument(callee: str, count: int) -> ArgumentsError:
    return ArgumentsError(
        f"{callee} takes no argument",
        expected=f"{callee}()",
        found=f"{count} argument(s)",
        do="leave the argument out",
    )


def called_without_argument(callee: str, type_: Type) -> ArgumentsError:
    return ArgumentsError(
        f"{callee} was called without its argument",
        expected=str(type_),
        found=f"{callee}()",
        do=f"pass the data: {callee}(…)",
    )


def takes_one_argument(
    callee: str, type_: Type, positional: int, keyword: int
) -> ArgumentsError:
    return ArgumentsError(
        f"{callee} takes one argument",
        expected=str(type_),
        found=f"{positional} positional and {keyword} keyword argument(s)",
        do=f"put the values of all participants into one list: {callee}([…, …])"
        if isinstance(type_, FederatedType)
        else "pass exactly one argument, by position",
    )


def bad_call(
    type_: StructType, callee: str, problem: str, found: str
) -> ArgumentsError:
    return ArgumentsError(
        f"{callee} {problem}",
        expected=str(type_),
        found=found,
        where=f"the call of {callee}",
        do=f"pass {len(type_)} arguments, one for each field, in order or by name",
    )


# ------------------------------------------------------------- using values in a body

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
        do=_cure_of_field(key, bool(names)),
    )


def _cure_of_field(key: object, has_names: bool) -> str:
    if not isinstance(key, str):
        return "count fields from 0, and not from the end"
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
