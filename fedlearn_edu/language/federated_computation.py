# SPDX-License-Identifier: Apache-2.0
"""`federated_computation`: the frontend for programs made of other computations.

The Python body runs once, at definition, on Values. Every call in it is given a name;
the names, in program order, become one Block. A context runs the result.
"""

from collections import ChainMap
from collections.abc import Callable
from typing import Any, final

from fedlearn_edu.errors import FedLearnError, TypeNotAssignableError, add_place
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import free_nodes
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.language.context_stack import TracingContext, current_tracing_context
from fedlearn_edu.language.decorator import Decorator, call_with_fields
from fedlearn_edu.language.messages import computations as messages
from fedlearn_edu.language.value import Value, to_value
from fedlearn_edu.types import SequenceType, Type


@final
class FederatedTracingContext(TracingContext):
    """Records the calls of one body, and knows the names of the bodies around it."""

    has_values = True

    def __init__(self, name: str, outer: "FederatedTracingContext | None") -> None:
        self._name = name
        self._locals: list[tuple[str, ir.Node]] = []
        self._count = 0
        # The names this body may use, its own and those of the bodies around it.
        self._around: ChainMap[str, ir.Reference] = ChainMap()
        if outer is not None:
            self._around = outer._references
        self._references: ChainMap[str, ir.Reference] = self._around.new_child()

    def bind(self, node: ir.Node, name: str | None = None) -> Value:
        """Gives `node` a name no enclosing body uses, and returns its stand-in."""
        self.check_visible(node, "this")
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
        from fedlearn_edu.language.mapping import fit  # which traces, too

        parameter = computation.type_signature.parameter
        self.check_visible(computation.tree, computation.__name__)
        if parameter is None:
            return self.bind(ir.Call(computation.tree))
        # A Python list is a structure, unless a sequence is wanted.
        wanted = parameter if isinstance(parameter, SequenceType) else None
        value = fit(to_value(argument, wanted), parameter)
        where = f"{computation.__name__}'s argument"
        try:
            parameter.check_assignable_from(value.type_signature, where=where)
        except TypeNotAssignableError as error:
            if not parameter.contains(Type.is_federated):
                captured = filter(self._is_captured, free_nodes(value.node))
                names = [repr(reference.name) for reference in captured]
                error.do = messages.how_to_map(computation, value, names) or error.do
            raise
        self.check_visible(value.node, where)
        return self.bind(ir.Call(computation.tree, value.node))

    def _is_captured(self, reference: ir.Reference) -> bool:
        """Whether it is a placed value of a body around this one."""
        around = reference.name in self._around
        return around and reference.type.contains(Type.is_federated)

    def check_visible(self, node: ir.Node, what: str) -> None:
        """Refuses values of a body that is over, or of an unrelated one."""
        # A name is not enough: a cell that is run twice binds the same names again.
        for reference in free_nodes(node):
            if self._references.get(reference.name) is not reference:
                raise messages.of_another_body(what, self._name, reference)

    def finish(self, result: Value) -> ir.Node:
        """The body: all recorded names, then the result."""
        self.check_visible(result.node, f"the result of {self._name}")
        if not self._locals:
            return result.node
        return ir.Block(tuple(self._locals), result.node)


def require_federated_context(what: str, do: str) -> FederatedTracingContext:
    """The context that records `what`, or an error that says where it may be used."""
    context = current_tracing_context()
    if not isinstance(context, FederatedTracingContext):
        raise messages.outside_of_bodies(what, do)
    return context


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
            raise messages.returned_none(fn, fn_name)
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
