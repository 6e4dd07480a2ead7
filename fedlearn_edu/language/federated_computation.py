# SPDX-License-Identifier: Apache-2.0
"""`federated_computation`: the frontend for programs made of other computations.

The Python body runs once, at definition, on Values. Every call in it is given a name;
the names, in program order, become one Block. A context runs the result.
"""

from collections import ChainMap
from collections.abc import Callable
from typing import Any, TypeGuard, final

from fedlearn_edu.errors import ContextError, FedLearnError, TypeNotAssignableError
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.operations import operation
from fedlearn_edu.ir.traversal import free_nodes
from fedlearn_edu.language import messages
from fedlearn_edu.language.arithmetic import adopt_number, check_operands, leafwise
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.language.context_stack import current_tracing_context
from fedlearn_edu.language.decorator import Decorator, call_with_fields, returned_none
from fedlearn_edu.language.implied import mapped, placed, zip_if_needed, zipped
from fedlearn_edu.language.value import Body, Value, structure_like, to_value
from fedlearn_edu.signals import add_place
from fedlearn_edu.types import (
    CLIENTS,
    FederatedType,
    Placement,
    StructType,
    TensorType,
    Type,
)


@final
class FederatedTracingContext(Body):
    """Records the calls of one body, and knows the names of the bodies around it."""

    def __init__(self, name: str, outer: "FederatedTracingContext | None") -> None:
        self._name = name
        self._locals: list[tuple[str, ir.Node]] = []
        self._count = 0
        # The names this body may use, its own and those of the bodies around it.
        self._around: ChainMap[str, ir.Reference] = ChainMap()
        if outer is not None:
            self._around = outer._references
        self._references: ChainMap[str, ir.Reference] = self._around.new_child()

    def bind(self, node: ir.Node, name: str | None = None, what: str = "this") -> Value:
        """Gives `node` a name no enclosing body uses, and returns its stand-in."""
        self._check_visible(node, what)
        fresh = self.fresh(name or f"{self._name}_{self._count}")
        self._count += name is None
        self._locals.append((fresh, node))
        return self.declare(fresh, node.type)

    def declare(self, name: str, type_: Type) -> Value:
        """The stand-in for a name that is bound here."""
        reference = self._references[name] = ir.Reference(name, type_)
        return Value(reference)

    def fresh(self, name: str) -> str:
        """`name`, with a number behind it if an enclosing body uses it already."""
        candidate, count = name, 0
        while candidate in self._references:
            count += 1
            candidate = f"{name}_{count}"
        return candidate

    def invoke(self, computation: Computation, argument: Any) -> Value:
        """Records a call of `computation`."""
        parameter = computation.type_signature.parameter
        self._check_visible(computation.tree, computation.__name__)
        if parameter is None:
            return self.bind(ir.Call(computation.tree))
        value = _fitted(to_value(argument, parameter), parameter)
        where = f"{computation.__name__}'s argument"
        try:
            parameter.check_assignable_from(value.type_signature, where=where)
        except TypeNotAssignableError as error:
            if not parameter.contains(Type.is_federated):
                captured = filter(self._is_captured, free_nodes(value.node))
                names = [repr(reference.name) for reference in captured]
                do = messages.how_to_map(
                    computation.__name__, parameter, value.type_signature, names
                )
                error.do = do or error.do
            raise
        return self.bind(ir.Call(computation.tree, value.node), what=where)

    def _is_captured(self, reference: ir.Reference) -> bool:
        """Whether it is a placed value of a body around this one."""
        around = reference.name in self._around
        return around and reference.type.contains(Type.is_federated)

    def _check_visible(self, node: ir.Node, what: str) -> None:
        """Refuses values of a body that is over, or of an unrelated one."""
        # A name is not enough: a cell that is run twice binds the same names again.
        for reference in free_nodes(node):
            if self._references.get(reference.name) is not reference:
                raise ContextError(
                    f"{what} uses a value of another computation's body",
                    expected=f"values of {self._name} and of the bodies around it",
                    found=f"{reference.name}: {reference.type}",
                    where=f"the body of {self._name}",
                    do="return it from its own body, and pass it in as a parameter",
                )

    def select(self, value: Value, key: int | slice) -> Value:
        """A field of a federated structure, or several; keeps the all-equal bit."""
        type_ = value.type_signature
        assert isinstance(type_, FederatedType)
        fn = traced(lambda member: member[key], type_.member, name="select")
        return mapped(fn, value, all_equal=type_.all_equal)

    def combine(self, name: str, left: Any, right: Any) -> Value:
        """What `+ - * /` mean: work on members and on numbers, leaf by leaf."""
        left, right = adopt_number(left, right), adopt_number(right, left)
        values = [to_value(left), to_value(right)]
        places = [
            value.type_signature.placement
            for value in values
            if isinstance(value.type_signature, FederatedType)
        ]
        if not places:
            check_operands(name, *(value.type_signature for value in values))
            return leafwise(name, *values)
        both = zipped(to_value([_at(value, places[0]) for value in values]))
        member = both.type_signature.member  # type: ignore[attr-defined]
        check_operands(name, *member)
        fn = traced(lambda pair: leafwise(name, *pair), member, name=name)
        return mapped(fn, both)

    def finish(self, result: Value) -> ir.Node:
        """The body: all recorded names, then the result."""
        self._check_visible(result.node, f"the result of {self._name}")
        if not self._locals:
            return result.node
        return ir.Block(tuple(self._locals), result.node)


def _at(value: Value, placement: Placement) -> Value:
    is_placed = isinstance(value.type_signature, FederatedType)
    return value if is_placed else placed(value, placement)


def _fitted(value: Value, wanted: Type) -> Value:
    """Zips parts of an argument, and forgets all-equal bits, as its parameter wants."""
    found = value.type_signature
    if isinstance(wanted, FederatedType) and isinstance(found, StructType):
        return zip_if_needed(value)
    if _is_equal_at_clients(found) and wanted.is_assignable_from(found):
        forgets = not _is_equal_at_clients(wanted)
        return mapped(identity(found.member, "each"), value) if forgets else value
    if not isinstance(wanted, StructType) or not isinstance(found, StructType):
        return value
    if len(wanted) != len(found):
        return value
    parts = list(value)
    fitted = [_fitted(part, type_) for part, type_ in zip(parts, wanted, strict=True)]
    if all(new is old for new, old in zip(fitted, parts, strict=True)):
        return value
    return structure_like(found, fitted)


def _is_equal_at_clients(type_: Type) -> TypeGuard[FederatedType]:
    if not isinstance(type_, FederatedType):
        return False
    return type_.all_equal and type_.placement is CLIENTS


# ----------------------------------------------------------------------------- tracing


def trace_federated(
    fn: Callable[..., Any], names: tuple[str, ...], type_: Type | None, fn_name: str
) -> Computation:
    """Runs `fn` once on Values and returns the computation it describes."""
    outer = current_tracing_context()
    parent = outer if isinstance(outer, FederatedTracingContext) else None
    context = FederatedTracingContext(fn_name, parent)
    with context:
        # A lone parameter keeps its own name, so that messages and trees show it.
        name = names[0] if len(names) == 1 else f"{fn_name}_arg"
        parameter = None if type_ is None else context.fresh(name)
        result = _run_body(context, fn, names, parameter, type_)
        if result is None:
            raise returned_none(fn, fn_name)
        body = context.finish(_result_of(fn_name, result))
    return Computation(ir.Lambda(parameter, type_, body), fn_name, fn.__doc__)


def _result_of(fn_name: str, result: Any) -> Value:
    try:
        return to_value(result)
    except FedLearnError as error:
        add_place(error, f"the result of {fn_name}")
        raise


def _run_body(
    context: FederatedTracingContext,
    fn: Callable[..., Any],
    names: tuple[str, ...],
    parameter: str | None,
    type_: Type | None,
) -> Any:
    if parameter is None or type_ is None:
        return fn()
    whole = context.declare(parameter, type_)
    if len(names) == 1:
        return fn(whole)

    def field(index: int, name: str | None) -> Value:
        return context.bind(ir.Selection(whole.node, index), name)

    return call_with_fields(fn, names, type_, field)


def traced(fn: Callable[..., Any], *types: Type, name: str) -> Value:
    """A function Value made of Python code on Values, for use in expansions."""
    names = tuple(f"x{index}" for index in range(len(types)))
    whole = StructType([(None, t) for t in types]) if len(types) != 1 else types[0]
    return to_value(trace_federated(fn, names, whole, name))


def identity(type_: Type, name: str = "identity") -> Value:
    """The function `(T -> T)` that changes nothing."""
    return traced(lambda value: value, type_, name=name)


def binary(name: str, type_: Type) -> Value:
    """The function `(<T,T> -> T)` that applies an operation leaf by leaf."""
    if isinstance(type_, TensorType):
        return Value(operation(name, (type_, type_), type_))
    return traced(
        lambda left, right: leafwise(name, left, right), type_, type_, name=name
    )


federated_computation = Decorator(
    "federated_computation",
    trace_federated,
    """Makes a computation of a function that combines other computations.

    The function runs once, now, on stand-ins; what it does with them is recorded. It
    may call computations and intrinsics, take structures apart, and use `+ - * /`.

    >>> import numpy as np
    >>> from fedlearn_edu import federated_computation, federated_sum, type_at_clients
    >>> @federated_computation(type_at_clients(np.int32))
    ... def total(value):
    ...     return federated_sum(value)
    >>> print(total.type_signature)
    ({int32}@CLIENTS -> int32@SERVER)
    >>> int(total([1, 2, 3]))
    6

    Source: `tff.federated_computation`.
    """,
)
