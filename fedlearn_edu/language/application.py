# SPDX-License-Identifier: Apache-2.0
"""Using an intrinsic in the body being traced: convert the arguments, check, record.

`derived` makes a student's function an intrinsic; `apply` serves the library's own.
What is recorded is a call of an `Intrinsic` node at one concrete type.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from fedlearn_edu.errors import (
    FedLearnError,
    TracingError,
    TypeMismatchError,
    add_place,
)
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import free_references
from fedlearn_edu.language.eager import ANYWHERE, intrinsic
from fedlearn_edu.language.federated_computation import (
    require_federated_context,
    trace_federated,
)
from fedlearn_edu.language.inference import hint_for, infer_result, parameters_of
from fedlearn_edu.language.intrinsic import IntrinsicDef, define
from fedlearn_edu.language.value import OPERATORS, Value, to_value
from fedlearn_edu.types import (
    FederatedType,
    FunctionType,
    SequenceType,
    StructType,
    Type,
    parse_type,
    unify,
)
from fedlearn_edu.types.relations import BY_ELEMENT


def derived(
    *signatures: str, require: Callable[..., object] | None = None
) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Makes a derived intrinsic of a function that says how to write it.

    Args:
        signatures: its generic type, e.g. `"({T}@CLIENTS -> T@SERVER)"`.
        require: called with the arguments' types; raises if they will not do.

    >>> from fedlearn_edu import federated_max, federated_min
    >>> @derived("({T}@CLIENTS -> T@SERVER)")
    ... def federated_range(value):
    ...     return federated_max(value) - federated_min(value)
    """

    def decorate(expand: Callable[..., Value]) -> Callable[..., Value]:
        name = expand.__name__
        definition = define(name, *signatures, expand=expand, require=require)

        @intrinsic
        @functools.wraps(expand)
        def use(*args: Any) -> Value:
            return apply(definition, args)

        return use

    return decorate


def apply(definition: IntrinsicDef, args: Sequence[Any], *, variant: int = 0) -> Value:
    """Records the use of an intrinsic on `args`, by its signature number `variant`."""
    signature = parse_type(definition.signatures[variant])
    assert isinstance(signature, FunctionType)
    require_federated_context(definition.uri, ANYWHERE)
    values = convert_arguments(definition.uri, signature, args)
    if definition.require is not None:
        definition.require(*(value.type_signature for value in values))
    result = infer_result(definition.uri, signature, values)
    return record(definition.uri, result, values)


def record(uri: str, result: Type, values: Sequence[Value]) -> Value:
    """Binds a call of the intrinsic `uri` whose result type is known already."""
    context = require_federated_context(uri, ANYWHERE)
    for value in values:
        context.check_visible(value.node, f"an argument of {uri}")
    nodes = [value.node for value in values]
    whole = ir.Struct(tuple((None, n) for n in nodes)) if len(nodes) > 1 else nodes[0]
    intrinsic = ir.Intrinsic(uri, FunctionType(whole.type, result))
    return context.bind(ir.Call(intrinsic, whole))


def convert_arguments(
    uri: str, signature: FunctionType, args: Sequence[Any]
) -> list[Value]:
    """Makes Values of the arguments: zips where federated, types where polymorphic."""
    templates = parameters_of(signature)
    if len(args) != len(templates):
        raise TracingError(
            f"{uri} takes {len(templates)} argument(s)",
            expected=str(signature),
            found=f"{len(args)} argument(s)",
        )
    values: dict[int, Value] = {}
    bindings: dict[str, Type] = {}
    for index, template in enumerate(templates):
        if isinstance(template, FederatedType):
            values[index] = to_federated(args[index], uri, template)
        elif not isinstance(template, FunctionType):
            values[index] = argument(args[index], uri)
        if index in values:
            bindings |= unify(template, values[index].type_signature)
    for index, template in enumerate(templates):
        if isinstance(template, FunctionType):
            hint = hint_for(template, bindings)
            values[index] = to_function(args[index], uri, hint)
    return [values[index] for index in range(len(templates))]


def argument(arg: Any, uri: str, hint: Type | None = None) -> Value:
    """A Value of one argument; an error says of which intrinsic."""
    require_federated_context(uri, ANYWHERE)
    try:
        return to_value(arg, parameter_hint=hint)
    except FedLearnError as error:
        add_place(error, f"an argument of {uri}")
        raise


def to_federated(arg: Any, uri: str, template: FederatedType) -> Value:
    """A federated Value at the template's placement; structures are zipped."""
    value = OPERATORS["zip_if_needed"](argument(arg, uri))
    type_ = value.type_signature
    if isinstance(type_, FunctionType):
        raise TypeMismatchError(
            f"{uri} needs a federated value here, not a function",
            expected=str(template),
            found=str(type_),
            where=str(value),
            do="check the order of the arguments",
        )
    if not isinstance(type_, FederatedType):
        raise TypeMismatchError(
            f"{uri} needs a federated value, or a structure of federated values",
            expected=str(template),
            found=str(type_),
            where=str(value),
            do=BY_ELEMENT
            if isinstance(type_, SequenceType)
            else f"place it first: federated_value(…, {template.placement}) in a body, "
            f"place(…, {template.placement}) outside of it",
        )
    if type_.placement is not template.placement:
        raise TypeMismatchError(
            f"{uri} works on values at another placement",
            expected=f"a value at {template.placement}: {template}",
            found=str(type_),
            where=str(value),
            do=_move(uri, type_),
        )
    if template.all_equal and not type_.all_equal:
        raise TypeMismatchError(
            f"{uri} needs a value that is equal everywhere",
            expected=str(template),
            found=str(type_),
            where=str(value),
        )
    return value


def _move(uri: str, type_: FederatedType) -> str:
    if type_.placement.default_all_equal:
        return (
            f"{uri} combines what the clients hold; this is one value at the server "
            "already (federated_broadcast would bring it to the clients)"
        )
    return "bring it to the server with an aggregation such as federated_sum"


def to_function(arg: Any, uri: str, hint: Type | None) -> Value:
    """A function Value; polymorphic computations get their type from `hint`."""
    value = argument(arg, uri, hint)
    if not isinstance(value.type_signature, FunctionType):
        raise TypeMismatchError(
            f"{uri} needs a computation here",
            expected="a computation" if hint is None else f"({hint} -> …)",
            found=str(value.type_signature),
            where=str(value),
            do="check the order of the arguments",
        )
    _refuse_federated_captures(uri, value)
    return value


def _refuse_federated_captures(uri: str, value: Value) -> None:
    if not isinstance(value.type_signature, FunctionType):
        return
    for name, type_ in free_references(value.node).items():
        if not isinstance(type_, FunctionType) and type_.contains(
            lambda t: isinstance(t, FederatedType)
        ):
            raise TracingError(
                f"a function given to {uri} uses {name!r} of the body around it, "
                "which has a placement",
                expected="captured values without a placement",
                found=f"{name}: {type_}",
                do=f"make {name!r} part of the value that is mapped "
                "(broadcast it first if it is at the server)",
            )


def traced(fn: Callable[..., Any], *types: Type, name: str) -> Value:
    """A function Value made of Python code on Values, for use in expansions."""
    names = tuple(f"x{index}" for index in range(len(types)))
    whole = StructType([(None, t) for t in types]) if len(types) != 1 else types[0]
    return to_value(trace_federated(fn, names, whole, name))
