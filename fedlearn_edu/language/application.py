# SPDX-License-Identifier: Apache-2.0
"""Using an intrinsic: its arguments are checked, and the use recorded.

`define` makes an intrinsic known, and traces its expansion when one is needed.
`intrinsic` and `derived` make functions that record in a body and run outside of it;
`apply` records a call of an `Intrinsic` node at one concrete type. `bind` says whether
arguments fit, zipped if need be (`implied.py`) and unified (`types/relations.py`).
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from fedlearn_edu.errors import (
    TracingError,
    TypeMismatchError,
    short_traceback,
    wrong_arguments,
)
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import free_references
from fedlearn_edu.language import messages
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.language.decorator import parameter_names
from fedlearn_edu.language.federated_computation import trace_federated
from fedlearn_edu.language.federated_value import recorded_or_run
from fedlearn_edu.language.implied import argument, recorded, zip_if_needed
from fedlearn_edu.language.intrinsic import IntrinsicDef, parameters_of, register
from fedlearn_edu.language.value import Value
from fedlearn_edu.types import (
    AbstractType,
    FederatedType,
    FunctionType,
    Type,
    substitute,
    unify,
)

P = ParamSpec("P")
R = TypeVar("R")
Bindings = dict[str, Type]
"""What the type variables of a signature stand for."""

_functions: dict[str, Callable[..., Any]] = {}  # their parameters name the arguments


def define(
    uri: str,
    *signatures: str,
    expand: Callable[..., Value] | None = None,
    require: Callable[..., object] | None = None,
    do: str = "",
) -> IntrinsicDef:
    """Registers an intrinsic; defining one again (a notebook cell) replaces it."""
    expand_at = None if expand is None else _traced_expansion(expand, uri)
    definition = IntrinsicDef(uri, signatures, expand_at, require, do)
    register(definition)
    return definition


def _traced_expansion(
    expand: Callable[..., Value], uri: str
) -> Callable[[Type | None], ir.Node]:
    @functools.wraps(expand)
    def expand_at(type_: Type | None) -> ir.Node:
        return trace_federated(expand, parameter_names(expand), type_, uri).tree

    return expand_at


def intrinsic(fn: Callable[P, R]) -> Callable[P, R]:
    """Lets a function that records an intrinsic be used outside of bodies, too."""
    name, signature = fn.__name__, inspect.signature(fn)
    record: Callable[..., Any] = fn
    _functions[name] = fn

    @functools.wraps(fn)
    @short_traceback
    def use(*args: P.args, **kwargs: P.kwargs) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise wrong_arguments(fn, error) from None
        bound.apply_defaults()
        return recorded_or_run(name, record, bound.arguments)

    use.autograph_info__ = Computation.autograph_info__  # type: ignore[attr-defined]
    return use


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
    values, bindings = bind(definition, args, variant=variant)
    result = substitute(definition.types[variant].result, bindings)
    return recorded(definition.uri, result, values)


def bind(
    definition: IntrinsicDef, args: Sequence[Any], *, variant: int = 0
) -> tuple[list[Value], Bindings]:
    """The arguments as Values that fit the signature, and what its variables stand for.

    Data bind type variables first. Functions get their types from that, one after the
    other, and bind more by their results: the first one that returns a variable may
    widen it, a state for example. In the end, every argument has to have the type that
    the signature then gives it.
    """
    uri, signature = definition.uri, definition.types[variant]
    templates = parameters_of(signature)
    if len(args) != len(templates):
        raise TracingError(
            f"{uri} takes {len(templates)} argument(s)",
            expected=signature,
            found=f"{len(args)} argument(s)",
        )
    indexed = list(enumerate(templates))
    functions = {i: t for i, t in indexed if isinstance(t, FunctionType)}
    data = {i: t for i, t in indexed if i not in functions}
    values, by_data, returned = list(args), Bindings(), Bindings()
    for i, template in data.items():
        values[i] = _data(args[i], uri, template)
        found = _bindings(template, values[i].type_signature)
        if found is None:
            raise _misfit(definition, i, str(template), template, values[i])
        by_data = found | by_data
    bindings = by_data
    for i, taken in functions.items():
        values[i] = _function(args[i], uri, _instantiated(taken.parameter, bindings))
        result = ir.function_type_of(values[i].node).result
        returned = (_bindings(taken.result, result) or {}) | returned
        wider = {k: _wider(bindings.get(k, t), t) for k, t in returned.items()}
        bindings = bindings | wider
    if definition.require is not None:
        definition.require(*(value.type_signature for value in values))
    # Functions first: data may not fit only because a function says so.
    for i in [*functions, *data]:
        wanted = _instantiated(templates[i], bindings)
        if wanted is None or not wanted.is_assignable_from(values[i].type_signature):
            expected = _expected(templates[i], bindings, by_data)
            raise _misfit(definition, i, expected, wanted or templates[i], values[i])
    return values, bindings


def _wider(known: Type, returned: Type) -> Type:
    narrows = known.is_assignable_from(returned)
    return known if narrows and not returned.is_assignable_from(known) else returned


def _expected(template: Type, bindings: Bindings, by_data: Bindings) -> str:
    """What an argument should be; of a function, only what the others say."""
    if not isinstance(template, FunctionType):
        return str(_instantiated(template, bindings))
    known = {variable: bindings[variable] for variable in by_data}
    result = _instantiated(template.result, known) or "…"
    return f"({_instantiated(template.parameter, bindings) or ''} -> {result})"


def _misfit(
    definition: IntrinsicDef, index: int, expected: str, wanted: Type, value: Value
) -> TypeMismatchError:
    uri, fn = definition.uri, _functions.get(definition.uri)
    roles = list(inspect.signature(fn).parameters) if fn is not None else []
    role = repr(roles[index]) if index < len(roles) else f"number {index}"
    return messages.misfit(uri, role, expected, wanted, value.node, definition.do)


def _data(arg: Any, uri: str, template: Type) -> Value:
    if isinstance(template, FederatedType):
        return to_federated(arg, uri, template)
    return argument(arg, uri)


def to_federated(arg: Any, uri: str, template: FederatedType) -> Value:
    """A federated Value at the template's placement; structures are zipped."""
    value = zip_if_needed(argument(arg, uri))
    type_ = value.type_signature
    if not isinstance(type_, FederatedType):
        raise messages.not_federated(uri, template, value.node)
    if type_.placement is not template.placement:
        raise messages.another_placement(uri, template, type_, str(value))
    if template.all_equal and not type_.all_equal:
        raise TypeMismatchError(
            f"{uri} needs a value that is equal everywhere",
            expected=template,
            found=type_,
            where=str(value),
        )
    return value


def _function(arg: Any, uri: str, hint: Type | None) -> Value:
    """A function Value; polymorphic computations get their type from `hint`."""
    value = argument(arg, uri, hint)
    if not isinstance(value.type_signature, FunctionType):
        raise TypeMismatchError(
            f"{uri} needs a computation here",
            expected="a computation" if hint is None else f"({hint} -> …)",
            found=value.type_signature,
            where=str(value),
            do="check the order of the arguments",
        )
    for name, type_ in free_references(value.node).items():
        placed = type_.contains(Type.is_federated)
        if placed and not isinstance(type_, FunctionType):
            raise TracingError(
                f"a function given to {uri} uses {name!r} of the body around it, "
                "which has a placement",
                expected="captured values without a placement",
                found=f"{name}: {type_}",
                do=f"make {name!r} part of the value that is mapped "
                "(broadcast it first if it is at the server)",
            )
    return value


def _bindings(template: Type, found: Type) -> Bindings | None:
    """What the variables of a template stand for, if the type found has its form."""
    try:
        return unify(template, found)
    except TypeMismatchError:
        return None


def _instantiated(template: Type | None, bindings: Bindings) -> Type | None:
    """The template with its variables replaced, if all of them are bound."""
    if template is None or template.contains(
        lambda t: isinstance(t, AbstractType) and t.label not in bindings
    ):
        return None
    return substitute(template, bindings)
