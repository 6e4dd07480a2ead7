# SPDX-License-Identifier: Apache-2.0
"""The whole meaning of the language on one page, without executors: the oracle.

Values are in plain form, except that a federated value is always a tuple with one entry
per participant, and a function is a Python function from one plain value to another.
Derived intrinsics mean what they expand to. Every stack must agree with this file.
"""

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any, assert_never, final

from fedlearn_edu import types
from fedlearn_edu.compiler.expand_intrinsics import expansion
from fedlearn_edu.computations.arguments import private
from fedlearn_edu.computations.computation import Computation, check_closed
from fedlearn_edu.computations.context_stack import Context
from fedlearn_edu.contexts.cardinalities import infer_cardinalities
from fedlearn_edu.contexts.execution import prepare
from fedlearn_edu.intrinsics.definition import intrinsic_named
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.structure import Struct

Scope = Mapping[str, Any]
Count = Callable[[types.Placement], int]
Fn = Callable[[Any], Any]


@final
class ReferenceContext(Context):
    """Runs computations by the definitions in this file."""

    def __init__(self, default_num_clients: int = 0) -> None:
        self._default_num_clients = default_num_clients

    def invoke(self, computation: Computation, argument: Any) -> Any:
        """Evaluates the computation's tree."""
        check_closed(computation)
        type_, name, plain = computation.type_signature, computation.__name__, None
        if type_.parameter is not None:
            plain = prepare(argument, type_.parameter, name)
        inferred = infer_cardinalities(plain, type_.parameter)
        clients = inferred.get(types.CLIENTS, self._default_num_clients)

        def count(placement: types.Placement) -> int:
            return clients if placement is types.CLIENTS else 1

        fn = evaluate(computation.tree, {}, count)
        none = type_.parameter is None
        result = fn() if none else fn(_inside(plain, type_.parameter, count))
        return types.restore(private(_outside(result, type_.result)), type_.result)


def evaluate(node: ir.Node, scope: Scope, count: Count) -> Any:
    """The meaning of a tree, given the meaning of the names around it."""
    match node:
        case ir.Reference(name=name):
            return scope[name]
        case ir.Selection(source=source, index=index):
            return evaluate(source, scope, count)[index]
        case ir.Struct(elements=elements):
            return Struct([(n, evaluate(e, scope, count)) for n, e in elements])
        case ir.Call(function=function, argument=argument):
            fn = evaluate(function, scope, count)
            return fn(evaluate(argument, scope, count)) if argument else fn()
        case ir.Lambda(parameter=None, body=body):
            return lambda: evaluate(body, scope, count)
        case ir.Lambda(parameter=name, body=body):
            return lambda value: evaluate(body, {**scope, str(name): value}, count)
        case ir.Block(locals=bound, result=result):
            for name, value in bound:
                scope = {**scope, name: evaluate(value, scope, count)}
            return evaluate(result, scope, count)
        case ir.Intrinsic(uri=uri, type=type_):
            return _intrinsic(uri, type_, count)
        case ir.Leaf(code=code):
            return lambda value=None: code(value)
        case ir.Literal(value=literal):
            return literal
        case ir.PlacementLiteral(placement=placement):
            return placement
        case _:
            assert_never(node)


def _intrinsic(uri: str, type_: types.FunctionType, count: Count) -> Fn:
    if uri not in _PRIMITIVES:
        meaning: Fn = evaluate(expansion(intrinsic_named(uri), type_), {}, count)
        return meaning
    placed = isinstance(type_.result, types.FederatedType)
    who = range(count(type_.result.placement) if placed else 0)  # type: ignore[attr-defined]
    return lambda argument: _PRIMITIVES[uri](who, argument)


def _member(value: Any, i: int) -> Any:
    """Participant i's part of a structure of federated values."""
    return value.map(lambda v: _member(v, i)) if isinstance(value, Struct) else value[i]


def _fold(items: Any, zero: Any, fn: Fn) -> Any:
    return reduce(lambda state, item: fn(Struct.unnamed(state, item)), items, zero)


def _select(who: range, arg: Any) -> Any:
    keys, _max_key, (source,), fn = arg
    return tuple(tuple(fn(Struct.unnamed(source, k)) for k in keys[i]) for i in who)


_PRIMITIVES: dict[str, Callable[[range, Any], Any]] = {
    "federated_value": lambda who, value: tuple(value for _ in who),
    "federated_broadcast": lambda who, value: tuple(value[0] for _ in who),
    "federated_eval": lambda who, fn: tuple(fn() for _ in who),
    "federated_map": lambda who, arg: tuple(arg[0](arg[1][i]) for i in who),
    "federated_zip": lambda who, value: tuple(_member(value, i) for i in who),
    # One group: accumulate is arg[2], merge has nothing to do, report is arg[4].
    "federated_aggregate": lambda who, arg: (arg[4](_fold(*arg[:3])),),
    "federated_select": _select,
    # Masks cancel in every sum, so all-zero ones mean the same.
    "federated_pairwise_masks": lambda who, zeros: tuple(zeros for _ in who),
    "sequence_map": lambda who, arg: tuple(map(arg[0], arg[1])),
    "sequence_reduce": lambda who, arg: _fold(*arg),
}


def _inside(plain: Any, type_: types.Type | None, count: Count) -> Any:
    """An argument with every federated part as a tuple, every function callable."""
    match type_:
        case types.FederatedType(placement=placement, all_equal=True):
            return tuple(plain for _ in range(count(placement)))
        case types.StructType():
            parts = [_inside(v, t, count) for v, t in zip(plain, type_, strict=True)]
            return Struct(zip(type_.names(), parts, strict=True))
        case types.FunctionType():
            return evaluate(plain, {}, count)
        case _:
            return plain


def _outside(value: Any, type_: types.Type) -> Any:
    """A result with every all-equal part as its one value."""
    match type_:
        case types.FederatedType(all_equal=True):
            return types.one_of(value, type_)
        case types.StructType():
            parts = [_outside(v, t) for v, t in zip(value, type_, strict=True)]
            return Struct(zip(type_.names(), parts, strict=True))
        case _:
            return value
