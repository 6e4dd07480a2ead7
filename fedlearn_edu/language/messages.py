# SPDX-License-Identifier: Apache-2.0
"""The errors of the language that look at types to choose what to do about them.

All others are written where they are raised.
"""

import inspect
import itertools
from collections.abc import Mapping, Sequence

from fedlearn_edu.errors import (
    ContextError,
    FedLearnError,
    FieldError,
    TracingError,
    TypeMismatchError,
    describe,
)
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.types import (
    AbstractType,
    FederatedType,
    FunctionType,
    SequenceType,
    StructType,
    TensorType,
    Type,
)
from fedlearn_edu.types.containers import Placed
from fedlearn_edu.types.messages import BY_ELEMENT, by_element, clip

# ----------------------------------------------------------------------------- a value


_INSIDE = "inside an np_computation or tf_computation, and call that"
_NO_NUMBER = "a value is not a number yet"
_NOT_COMPARED = "values cannot be compared yet"
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
    node: ir.Node, problem: str, use: str, do: str, *, in_body: bool
) -> TracingError:
    do = do or by_element(node.type) or f"write it {_INSIDE}"
    if not in_body:
        do = "make the value a parameter of this function, and pass it in the call"
    elif isinstance(node.type, FederatedType) and do != BY_ELEMENT:
        do = f"{do} through federated_map"
        if use.startswith("NumPy"):
            do += "; federated_mean and federated_sum combine what clients hold"
    return TracingError(
        f"{problem}: the program is being written, not run",
        expected="a computation, an intrinsic, or + - * / of values",
        found=f"{use} a value of type {node.type}",
        where=clip(to_text(node)),
        do=do,
    )


def unchangeable(
    node: ir.Node, found: str, error: type[FedLearnError]
) -> FedLearnError:
    return error(
        "a value cannot be changed",
        expected="a new structure, made of old and new fields",
        found=found,
        where=_typed(node),
        do="make one: OrderedDict(weight=new, bias=old.bias), for instance",
    )


def no_field(node: ir.Node, key: object, fields: StructType | None) -> FieldError:
    names = [name for name in fields.names() if name] if fields is not None else []
    known = [", ".join(names)] if names else []
    if fields is not None and len(fields):
        known.append(f"an index from 0 to {len(fields) - 1}")
    return FieldError(
        "there is no such field",
        expected=" or ".join(known) or "no field: this value has none",
        found=repr(key),
        where=_typed(node),
        do=_cure_of_field(key, bool(names), node.type),
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


def no_parts(node: ir.Node, use: str) -> TracingError:
    type_ = node.type
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
        found=type_,
        where=clip(to_text(node)),
        do=do,
    )


def _typed(node: ir.Node) -> str:
    return f"{clip(to_text(node))}, of type {clip(node.type)}"


def not_a_part(thing: object) -> TracingError:
    if isinstance(thing, Mapping):
        do = "use an OrderedDict: the order of the fields matters"
    elif inspect.isawaitable(thing):
        do = "await it first"
    elif isinstance(thing, Type):
        do = "this is a type: pass a value of it, such as a parameter of this function"
    elif isinstance(thing, Placed):
        do = "make it a parameter of this function, and pass it in the call"
    elif type(thing).__module__.startswith("tensorflow"):
        do = "move the TensorFlow code into a tf_computation and call that"
    elif str(getattr(thing, "__module__", None)).startswith("fedlearn_edu."):
        do = "call it, with parentheses; no federated_map is needed around it"
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


# ------------------------------------------------------------------------------ a call


def outside_of_bodies(what: str, do: str) -> ContextError:
    return ContextError(
        f"{what} was used outside the body of a federated computation",
        expected="a call inside a function decorated with federated_computation",
        found="a call in plain Python, or in leaf code",
        do=do,
    )


def how_to_map(
    callee: str, parameter: Type, found: Type, captured: Sequence[str]
) -> str | None:
    """What to do about clients' data, elements or one value where others are due."""
    member = found.member if isinstance(found, FederatedType) else found
    operator, what = "federated_map", "what each participant holds"
    element = member.element if isinstance(member, SequenceType) else None
    if element is not None and parameter.is_assignable_from(element):
        operator, what = "sequence_map", "each element"
    elif not found.contains(Type.is_federated):
        if isinstance(parameter, StructType) and not isinstance(found, StructType):
            names = ", ".join(name or "…" for name in parameter.names())
            return f"pass all that it takes: {callee}({names})"
        return None
    if not captured:
        return f"{operator}({callee}, …) applies it to {what}"
    return (
        f"{', '.join(captured)} of the body around has a placement: make it part "
        "of what is mapped (broadcast it first if it is at the server)"
    )


# ----------------------------------------------------------- an argument of a use


def not_federated(uri: str, wanted: FederatedType, node: ir.Node) -> TypeMismatchError:
    problem, there = "a federated value, or a structure of federated values", ""
    do = BY_ELEMENT
    if isinstance(node.type, FunctionType):
        problem = "a federated value here, not a function"
        do = "check the order of the arguments, or map it first: federated_map(fn, …)"
    elif not isinstance(node.type, SequenceType):
        there = str(wanted.placement)
        do = (
            f"place it first: federated_value(…, {there}) in a body, "
            f"place(…, {there}) outside of it"
        )
    return TypeMismatchError(
        f"{uri.replace('_weighted_', '_')} needs {problem}",
        expected=wanted,
        found=node.type,
        where=to_text(node),
        do=do,
    )


def another_placement(
    uri: str, wanted: FederatedType, found: FederatedType, where: str
) -> TypeMismatchError:
    do = "bring it to the server with an aggregation such as federated_sum"
    if uri == "federated_broadcast":
        do = "the clients have it already: leave out federated_broadcast"
    elif found.placement.default_all_equal:
        do = (
            f"{uri} combines what the clients hold; this is one value at the server "
            "already (federated_broadcast would bring it to the clients)"
        )
    return TypeMismatchError(
        f"{uri} works on values at another placement",
        expected=f"a value at {wanted.placement}: {wanted}",
        found=found,
        where=where,
        do=do,
    )


def misfit(
    uri: str, role: str, expected: str, wanted: Type, node: ir.Node, do: str
) -> TypeMismatchError:
    """The error for an argument that has not the type of its place in a signature.

    `do` is what the intrinsic says to do about any argument, if anything.
    """
    found = node.type
    if (uri, role) == ("sequence_reduce", "'zero'"):
        return _another_zero(wanted, found)
    if found.contains(lambda part: isinstance(part, AbstractType)):
        problem = "a concrete type is needed"
        return TypeMismatchError(problem, expected=expected, found=found)
    problem = f"the argument {role} of {uri} has the wrong type"
    cure = _by_element(wanted, found) or do
    if isinstance(wanted, FunctionType) and not do:
        problem = f"{uri} cannot use this function on these values"
        cure = cure or _cure_of_function(uri, wanted, found)
    return TypeMismatchError(
        problem,
        expected=expected,
        found=found,
        where=clip(to_text(node)),
        do=cure
        or "decorate the function with the type expected here, or cast the values",
    )


def _another_zero(state: Type, zero: Type) -> TypeMismatchError:
    start = "a zero of the type the operator returns"
    if isinstance(state, TensorType) and state.is_scalar:
        start = f"np.{state}(…): a Python number is int32 or float32 here"
    return TypeMismatchError(
        "zero and the result of the operator differ in type",
        expected=state,
        found=zero,
        where="sequence_reduce",
        do=f"start from {start}",
    )


def _cure_of_function(uri: str, wanted: FunctionType, found: Type) -> str:
    if wanted.parameter is None:
        return "take a function without parameters, or use federated_map"
    if isinstance(found, FunctionType):
        return _cure_of_parameter(uri, wanted.parameter, found.parameter)
    return ""


def _cure_of_parameter(uri: str, given: Type, taken: Type | None) -> str:
    """What to do about a function that takes other values than it is given."""
    parts = taken if isinstance(taken, StructType) else ()
    fits = any(part.is_assignable_from(given) for part in parts)
    if uri == "sequence_map" and fits:
        return (
            "it is passed one element and nothing else: capture what stays the same, "
            "or take sequence_reduce for a state that changes"
        )
    if uri == "sequence_map" and isinstance(taken, SequenceType):
        return "it takes a whole sequence: federated_map hands each client's to it"
    if uri == "sequence_reduce" and isinstance(given, StructType):
        if taken is not None and taken.is_assignable_from(given[1]):
            return "for a function of one element: sequence_map, then sequence_sum"
        if not isinstance(taken, StructType) or _is_permuted(given, taken):
            return "its operator takes a state and an element, in this order"
    if not isinstance(taken, StructType):
        alone = given[0] if isinstance(given, StructType) and len(given) == 1 else None
        if taken is not None and alone is not None and taken.is_assignable_from(alone):
            return "it takes one value: pass it alone, without brackets around it"
        return ""
    names = ", ".join(name or "…" for name in taken.names())
    passed = len(given) if isinstance(given, StructType) and not fits else 1
    if isinstance(given, StructType) and _is_permuted(given, taken):
        return f"pass what the function takes, in this order: [{names}]"
    if passed != len(taken) and (fits or isinstance(given, StructType)):
        values = "1 value is" if passed == 1 else f"{passed} values are"
        return f"{values} passed, and it takes {len(taken)}: [{names}]"
    return ""


def _is_permuted(given: StructType, taken: StructType) -> bool:
    """Whether the parts would fit in another order."""
    left = list(given)
    for part in taken:
        fitting = next((each for each in left if part.is_assignable_from(each)), None)
        if fitting is None:
            return False
        left.remove(fitting)
    return not left


def _by_element(given: Type | None, taken: Type | None) -> str:
    """What to do if a function of one element, or a step, is given whole sequences."""
    match given, taken:
        case FunctionType(), FunctionType():
            return _by_element(given.parameter, taken.parameter)
        case StructType(), StructType() if _is_permuted(given, taken):
            return ""
        case StructType(), StructType() if len(given) == len(taken):
            pairs = zip(given, taken, strict=True)
            return next(filter(None, itertools.starmap(_by_element, pairs)), "")
        case SequenceType(element), Type() if taken.is_assignable_from(element):
            return BY_ELEMENT
        case SequenceType(element), StructType() if len(taken) == 2:
            return BY_ELEMENT * taken[1].is_assignable_from(element)
        case _:
            return ""
