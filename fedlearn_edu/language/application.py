# SPDX-License-Identifier: Apache-2.0
"""Using an intrinsic: its arguments are checked, and the use recorded.

`define` makes an intrinsic known, and traces its expansion when one is needed.
`intrinsic` and `derived` make functions that record in a body and run outside of it;
`apply` records a call of an `Intrinsic` node at one concrete type.
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from fedlearn_edu.errors import (
    FedLearnError,
    TypeMismatchError,
    add_place,
    short_traceback,
)
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import free_references
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.language.context_stack import current_tracing_context
from fedlearn_edu.language.decorator import parameter_names
from fedlearn_edu.language.eager import bound_arguments, run_eagerly
from fedlearn_edu.language.federated_computation import (
    FederatedTracingContext,
    require_federated_context,
    trace_federated,
)
from fedlearn_edu.language.intrinsic import (
    IntrinsicDef,
    parameters_of,
    register,
    sequence_position,
)
from fedlearn_edu.language.messages import intrinsics as messages
from fedlearn_edu.language.messages.computations import ANYWHERE
from fedlearn_edu.language.value import Value, to_value
from fedlearn_edu.types import (
    AbstractType,
    FederatedType,
    FunctionType,
    StructType,
    Type,
    substitute,
    unify,
)

P = ParamSpec("P")
R = TypeVar("R")
Letters = dict[str, Type]
_functions: dict[str, Callable[..., Any]] = {}  # whose parameters name the arguments


def define(
    uri: str,
    *signatures: str,
    expand: Callable[..., Value] | None = None,
    require: Callable[..., object] | None = None,
) -> IntrinsicDef:
    """Registers an intrinsic; defining one again (a notebook cell) replaces it."""
    expand_at = None if expand is None else _traced_expansion(expand, uri)
    definition = IntrinsicDef(uri, signatures, expand_at, require)
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
    record: Callable[..., Any] = fn
    _functions[fn.__name__] = fn

    @functools.wraps(fn)
    @short_traceback
    def use(*args: P.args, **kwargs: P.kwargs) -> Any:
        in_body = isinstance(current_tracing_context(), FederatedTracingContext)
        given = bound_arguments(fn, args, kwargs)
        if in_body or any(isinstance(arg, Value) for arg in given.values()):
            return record(*given.values())
        return run_eagerly(fn, given, sequence_position(fn.__name__))

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
    values, result = fit_to_signature(definition, args, variant=variant)
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


def fit_to_signature(
    definition: IntrinsicDef, args: Sequence[Any], *, variant: int = 0
) -> tuple[list[Value], Type]:
    """The arguments as Values that fit the signature, and the type of the result.

    Data say first what the letters of the signature stand for. Functions get their
    types from that, one after the other, and say more by their results. In the end,
    every argument has to have the type that the signature then gives it.
    """
    uri, signature = definition.uri, definition.types[variant]
    require_federated_context(uri, ANYWHERE)
    templates = parameters_of(signature)
    if len(args) != len(templates):
        count = len(templates)
        raise messages.wrong_number_of_arguments(uri, signature, count, len(args))
    values: list[Any] = list(args)
    by_data = _convert_data(uri, templates, values)
    letters = _convert_functions(uri, templates, values, by_data)
    if definition.require is not None:
        definition.require(*(value.type_signature for value in values))
    # Functions first: data may not fit only because a function says so.
    order = sorted(
        range(len(values)), key=lambda i: not isinstance(templates[i], FunctionType)
    )
    for index in order:
        template, value = templates[index], values[index]
        wanted = _filled(template, letters)
        if wanted is None or not wanted.is_assignable_from(value.type_signature):
            known = {letter: letters[letter] for letter in by_data}
            expected = _expected(template, letters, known)
            raise _misfit(uri, index, expected, wanted or template, value)
    return values, substitute(signature.result, letters)


def _convert_data(uri: str, templates: Sequence[Type], values: list[Any]) -> Letters:
    """Makes Values of the data among the arguments; returns the letters they define."""
    letters: Letters = {}
    for index, template in enumerate(templates):
        if not isinstance(template, FunctionType):
            values[index] = value = _data(values[index], uri, template)
            found = _meanings(template, value.type_signature)
            if found is None:
                raise _misfit(uri, index, str(template), template, value)
            letters = found | letters
    return letters


def _convert_functions(
    uri: str, templates: Sequence[Type], values: list[Any], letters: Letters
) -> Letters:
    """Makes Values of the functions; returns the letters, with those of the results.

    The first function that returns a letter may widen it: what it returns, a state for
    example, may be more general than the data it starts from.
    """
    returned = set[str]()
    for index, template in enumerate(templates):
        if isinstance(template, FunctionType):
            hint = _filled(template.parameter, letters)
            values[index] = to_function(values[index], uri, hint)
            result = ir.function_type_of(values[index].node).result
            for letter, type_ in (_meanings(template.result, result) or {}).items():
                if letter not in returned:
                    wider = _wider(letters.get(letter, type_), type_)
                    letters = {**letters, letter: wider}
                    returned.add(letter)
    return letters


def _wider(known: Type, returned: Type) -> Type:
    narrows = known.is_assignable_from(returned)
    return known if narrows and not returned.is_assignable_from(known) else returned


def _expected(template: Type, letters: Letters, known: Letters) -> str:
    """What an argument should be; of a function, only what the others say."""
    if not isinstance(template, FunctionType):
        return str(_filled(template, letters))
    parameter = (
        "" if template.parameter is None else _filled(template.parameter, letters)
    )
    return f"({parameter} -> {_filled(template.result, known) or '…'})"


def _misfit(
    uri: str, index: int, expected: str, wanted: Type, value: Value
) -> TypeMismatchError:
    fn = _functions.get(uri)
    roles = list(inspect.signature(fn).parameters) if fn is not None else []
    role = repr(roles[index]) if index < len(roles) else f"number {index}"
    return messages.misfit(uri, role, expected, wanted, value)


def argument(arg: Any, uri: str, hint: Type | None = None) -> Value:
    """A Value of one argument; an error says of which intrinsic."""
    require_federated_context(uri, ANYWHERE)
    try:
        return to_value(arg, parameter_hint=hint)
    except FedLearnError as error:
        add_place(error, f"an argument of {uri}")
        raise


def _data(arg: Any, uri: str, template: Type) -> Value:
    if isinstance(template, FederatedType):
        return to_federated(arg, uri, template)
    return argument(arg, uri)


def to_federated(arg: Any, uri: str, template: FederatedType) -> Value:
    """A federated Value at the template's placement; structures are zipped."""
    from fedlearn_edu.language.mapping import zip_if_needed  # an intrinsic itself

    value = zip_if_needed(argument(arg, uri))
    type_ = value.type_signature
    if not isinstance(type_, FederatedType):
        raise messages.not_federated(uri, template, value)
    if type_.placement is not template.placement:
        raise messages.another_placement(uri, template, type_, value)
    if template.all_equal and not type_.all_equal:
        raise messages.not_all_equal(uri, template, value)
    return value


def to_function(arg: Any, uri: str, hint: Type | None) -> Value:
    """A function Value; polymorphic computations get their type from `hint`."""
    value = argument(arg, uri, hint)
    if not isinstance(value.type_signature, FunctionType):
        raise messages.not_a_computation(uri, hint, value)
    for name, type_ in free_references(value.node).items():
        placed = type_.contains(Type.is_federated)
        if placed and not isinstance(type_, FunctionType):
            raise messages.captured_a_placed_value(uri, name, type_)
    return value


def _meanings(template: Type, found: Type) -> Letters | None:
    """What the letters of a template stand for, if the type found has its form."""
    try:
        return unify(template, found)
    except TypeMismatchError:
        return None


def _filled(template: Type | None, letters: Letters) -> Type | None:
    """The template with its letters replaced, if all of them are known."""
    if template is None or template.contains(
        lambda t: isinstance(t, AbstractType) and t.label not in letters
    ):
        return None
    return substitute(template, letters)


def traced(fn: Callable[..., Any], *types: Type, name: str) -> Value:
    """A function Value made of Python code on Values, for use in expansions."""
    names = tuple(f"x{index}" for index in range(len(types)))
    whole = StructType([(None, t) for t in types]) if len(types) != 1 else types[0]
    return to_value(trace_federated(fn, names, whole, name))
