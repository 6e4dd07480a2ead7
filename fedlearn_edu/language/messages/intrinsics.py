# SPDX-License-Identifier: Apache-2.0
"""The errors of intrinsics: definitions, arguments, what each of them requires."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fedlearn_edu.errors import (
    FedLearnError,
    InputRangeError,
    StructureError,
    TracingError,
    TypeMismatchError,
    UnsupportedIntrinsicError,
    describe,
)
from fedlearn_edu.language.messages.functions import CURES, cure_of_function
from fedlearn_edu.types import (
    AbstractType,
    FederatedType,
    FunctionType,
    Placement,
    SequenceType,
    StructType,
    TensorType,
    Type,
)
from fedlearn_edu.types.messages import BY_CLIENT, BY_ELEMENT, by_element, clip

if TYPE_CHECKING:
    from fedlearn_edu.language.value import Value

# -------------------------------------------------------------------------- definitions


def no_signature(uri: str, found: str) -> TypeMismatchError:
    return TypeMismatchError(
        f"the signature of {uri} is not a function type",
        expected="for example ({T}@CLIENTS -> T@SERVER)",
        found=found,
    )


def not_its_type(
    uri: str, signatures: Sequence[str], type_: Type | None, reason: str
) -> TypeMismatchError:
    return TypeMismatchError(
        f"{uri} cannot have this type: {reason}",
        expected=" or ".join(signatures),
        found=type_ or "no type",
        where=f"a use of {uri}",
        do="pass its signature, with a type in the place of each letter",
    )


def no_such_intrinsic(
    uri: str, known: Sequence[str], near: Sequence[str]
) -> StructureError:
    return StructureError(
        f"there is no intrinsic {uri!r}",
        expected="one of " + ", ".join(known),
        found=uri,
        do=f"did you mean {near[0]}?" if near else "define it first, see `derived`",
    )


def no_expansion(uri: str, type_: Type) -> UnsupportedIntrinsicError:
    return UnsupportedIntrinsicError(
        f"{uri} is a primitive, and nobody here implements it",
        expected="an intrinsic of the language, or one with an expansion",
        found=f"{uri}: {type_}",
        do="run it on a stack whose strategy implements it, "
        "or give its definition an expand function",
    )


def broken_promise(
    uri: str, signatures: Sequence[str], promised: Type, found: Type
) -> TypeMismatchError:
    return TypeMismatchError(
        f"{uri} does not return what its signature promises",
        expected=f"{promised}, by {' or '.join(signatures)}",
        found=found,
        where=f"the definition of {uri}",
        do="return a value of that type, or correct the signature in `derived`",
    )


# ---------------------------------------------------------------------------------- use


def wrong_number_of_arguments(
    uri: str, signature: Type, wanted: int, found: int
) -> TracingError:
    return TracingError(
        f"{uri} takes {wanted} argument(s)",
        expected=str(signature),
        found=f"{found} argument(s)",
    )


def not_federated(
    uri: str, template: FederatedType, value: "Value"
) -> TypeMismatchError:
    problem, there = "a federated value, or a structure of federated values", ""
    do = BY_ELEMENT
    if isinstance(value.type_signature, FunctionType):
        problem = "a federated value here, not a function"
        do = "check the order of the arguments, or map it first: federated_map(fn, …)"
    elif not isinstance(value.type_signature, SequenceType):
        there = str(template.placement)
        do = (
            f"place it first: federated_value(…, {there}) in a body, "
            f"place(…, {there}) outside of it"
        )
    return TypeMismatchError(
        f"{uri.replace('_weighted_', '_')} needs {problem}",
        expected=str(template),
        found=str(value.type_signature),
        where=str(value),
        do=do,
    )


def another_placement(
    uri: str, template: FederatedType, type_: FederatedType, value: "Value"
) -> TypeMismatchError:
    do = "bring it to the server with an aggregation such as federated_sum"
    if uri == "federated_broadcast":
        do = "the clients have it already: leave out federated_broadcast"
    elif type_.placement.default_all_equal:
        do = (
            f"{uri} combines what the clients hold; this is one value at the server "
            "already (federated_broadcast would bring it to the clients)"
        )
    return TypeMismatchError(
        f"{uri} works on values at another placement",
        expected=f"a value at {template.placement}: {template}",
        found=str(type_),
        where=str(value),
        do=do,
    )


def not_all_equal(
    uri: str, template: FederatedType, value: "Value"
) -> TypeMismatchError:
    return TypeMismatchError(
        f"{uri} needs a value that is equal everywhere",
        expected=str(template),
        found=str(value.type_signature),
        where=str(value),
    )


def not_a_computation(uri: str, hint: Type | None, value: "Value") -> TypeMismatchError:
    return TypeMismatchError(
        f"{uri} needs a computation here",
        expected="a computation" if hint is None else f"({hint} -> …)",
        found=str(value.type_signature),
        where=str(value),
        do="check the order of the arguments",
    )


def captured_a_placed_value(uri: str, name: str, type_: Type) -> TracingError:
    return TracingError(
        f"a function given to {uri} uses {name!r} of the body around it, "
        "which has a placement",
        expected="captured values without a placement",
        found=f"{name}: {type_}",
        do=f"make {name!r} part of the value that is mapped "
        "(broadcast it first if it is at the server)",
    )


def misfit(
    uri: str, role: str, expected: str, wanted: Type, value: "Value"
) -> TypeMismatchError:
    """The error for an argument that has not the type of its place in a signature."""
    found = value.type_signature
    if (uri, role) == ("sequence_reduce", "'zero'"):
        return _another_zero(wanted, found)
    if found.contains(lambda part: isinstance(part, AbstractType)):
        problem = "a concrete type is needed"
        return TypeMismatchError(problem, expected=expected, found=str(found))
    problem = f"the argument {role} of {uri} has the wrong type"
    if isinstance(wanted, FunctionType) and uri not in CURES:
        problem = f"{uri} cannot use this function on these values"
    return TypeMismatchError(
        problem,
        expected=expected,
        found=str(found),
        where=clip(value),
        do=cure_of_function(uri, wanted, found)
        or "decorate the function with the type expected here, or cast the values",
    )


def not_plain(type_: Type, where: str) -> TypeMismatchError:
    return TypeMismatchError(
        "federated_value places plain values only",
        expected="a type without placements and functions",
        found=str(type_),
        where=where,
        do="use federated_broadcast at the server, federated_eval for functions",
    )


def unplaced_part(part: Type, where: str) -> TypeMismatchError:
    return TypeMismatchError(
        "one part of a structure of federated values has no placement",
        expected="federated values, or structures of them",
        found=str(part),
        where=where,
        do="place it first, beside the others: federated_value(…, CLIENTS)",
    )


def not_one_placement(
    type_: Type, placements: set[Placement], where: str
) -> TypeMismatchError:
    names = ", ".join(sorted(map(str, placements))) or "no placement"
    problem = "federated_zip needs a structure of federated values"
    do = "hand in several values in a list or tuple: federated_zip((x, y))"
    if placements:
        problem = (
            "the parts of a structure of federated values are at several placements"
        )
        do = (
            "bring all parts to one placement first: "
            "federated_broadcast takes what is at the server to the clients"
        )
    return TypeMismatchError(
        problem,
        expected="all parts at one placement, as in <{A}@CLIENTS,{B}@CLIENTS>",
        found=f"{type_} ({names})",
        where=where,
        do=do,
    )


def no_order(type_: Type) -> TypeMismatchError:
    return TypeMismatchError(
        "complex numbers have no order", expected="real numbers", found=str(type_)
    )


def sequences_in_a_sequence(type_: Type) -> TypeMismatchError:
    return TypeMismatchError(
        "the clients' values are collected into one sequence, which cannot hold "
        "sequences",
        expected="members made of tensors and structures",
        found=str(type_),
        do="reduce each client's sequence first: federated_map(sequence_sum, …)",
    )


def no_average(type_: Type) -> TypeMismatchError:
    do = "cast to a float with federated_map first"
    if type_.contains(lambda part: str(part) == "bool"):
        do = "map to 1.0 and 0.0 with federated_map first: their mean is a share"
    return TypeMismatchError(
        "only floating-point values can be averaged",
        expected="floats, complex numbers, or structures of them",
        found=str(type_),
        where="federated_mean",
        do=by_element(type_) or do,
    )


def no_weight(type_: Type) -> TypeMismatchError:
    return TypeMismatchError(
        "a weight is one real number per client",
        expected="{float32}@CLIENTS or {int32}@CLIENTS",
        found=str(type_),
        where="federated_mean",
        do="reduce the weight to one number with federated_map (the values come first, "
        "the weights second)",
    )


def no_keys(type_: Type) -> TypeMismatchError:
    return TypeMismatchError(
        "the argument 'client_keys' of federated_select has the wrong type",
        expected="{int32[N]}@CLIENTS",
        found=str(type_),
        do=CURES["federated_select"],
    )


def no_sequence(uri: str, value: "Value", inner: Type) -> TypeMismatchError:
    do = "declare the parameter as SequenceType(T); check the argument order"
    if isinstance(inner, StructType) and any(inner.names()):
        do = "check the order of the arguments"
    elif isinstance(inner, StructType):
        do = "a list in a body is a structure: make it a parameter of SequenceType(T)"
    elif isinstance(value.type_signature, FederatedType):
        do = BY_CLIENT
    return TypeMismatchError(
        f"{uri} works on a sequence",
        expected="a value of type T* or {T*}@CLIENTS",
        found=str(value.type_signature),
        where=str(value),
        do=do,
    )


def another_state(op: str, taken: Type, returned: Type) -> TypeMismatchError:
    return TypeMismatchError(
        "the operator returns something else than the state it takes",
        expected=str(taken),
        found=str(returned),
        where=f"what {op} returns, in sequence_reduce",
        do="return the whole new state, of the type it came in: the next call "
        "starts from it",
    )


def _another_zero(state: Type, zero: Type) -> TypeMismatchError:
    start = "a zero of the type the operator returns"
    if isinstance(state, TensorType) and state.is_scalar:
        start = f"np.{state}(…): a Python number is int32 or float32 here"
    return TypeMismatchError(
        "zero and the result of the operator differ in type",
        expected=str(state),
        found=str(zero),
        where="sequence_reduce",
        do=f"start from {start}",
    )


def no_bitwidth(found: object, most: int, is_integer: bool) -> FedLearnError:
    return (InputRangeError if is_integer else TypeMismatchError)(
        "a bitwidth is a Python integer in a range",
        expected=f"1 to {most}, for example 8, or a structure of such",
        found=describe(found),
        where="federated_secure_sum_bitwidth",
        do="pass the number of bits, not the greatest value: 8 bits hold 0 to 255",
    )


def no_integers(uri: str, value: "Value", member: Type) -> TypeMismatchError:
    return TypeMismatchError(
        f"{uri} adds integers",
        expected="integers, or structures of them",
        found=str(member),
        where=str(value),
        do=by_element(member)
        or "quantize the values to integers with federated_map first",
    )


def no_limit(uri: str, member: Type, found: "Value") -> TypeMismatchError:
    return TypeMismatchError(
        f"the second argument of {uri} does not match the values",
        expected=f"one integer, or one for each leaf of {member}",
        found=found.type_signature,
        where=str(found),
        do="pass one integer without a placement for all of them, "
        "or a structure of integers with the fields of the values",
    )


def no_signatures(uri: str) -> StructureError:
    """An intrinsic was defined without a type."""
    return StructureError(
        f"{uri} has no signature",
        expected="one type or several, in the notation",
        found="none",
        do='write for example @derived("({T}@CLIENTS -> T@SERVER)")',
    )
