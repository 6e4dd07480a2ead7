# SPDX-License-Identifier: Apache-2.0
"""The whole meaning of the language on one page, without executors: the oracle.

Values are in plain form, except that a federated value is always a tuple with one entry
per participant, and a function is a Python function from one plain value to another.
Every stack of executors must agree with this file.
"""

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any, assert_never, final

from fedlearn_edu.compiler.expand_intrinsics import expansion
from fedlearn_edu.computations.computation import Computation, check_closed
from fedlearn_edu.computations.context_stack import Context
from fedlearn_edu.contexts.cardinalities import infer_cardinalities
from fedlearn_edu.contexts.execution import prepare
from fedlearn_edu.intrinsics.definition import intrinsic_named
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    CLIENTS,
    FederatedType,
    FunctionType,
    Placement,
    StructType,
    Type,
    restore,
)

Scope = Mapping[str, Any]
Count = Callable[[Placement], int]


@final
class ReferenceContext(Context):
    """Runs computations by the definitions in this file."""

    def __init__(self, default_num_clients: int = 0) -> None:
        self._default_num_clients = default_num_clients

    def invoke(self, computation: Computation, argument: Any) -> Any:
        """Evaluates the computation's tree."""
        check_closed(computation)
        type_ = computation.type_signature
        if type_.parameter is None:
            count = self._counter({})
            return restore(
                _outside(evaluate(computation.tree, {}, count)(), type_.result),
                type_.result,
            )
        plain = prepare(argument, type_.parameter, computation.__name__)
        count = self._counter(infer_cardinalities(plain, type_.parameter))
        value = _inside(plain, type_.parameter, count)
        result = evaluate(computation.tree, {}, count)(value)
        return restore(_outside(result, type_.result), type_.result)

    def _counter(self, inferred: Mapping[Placement, int]) -> Count:
        clients = inferred.get(CLIENTS, self._default_num_clients)
        return lambda placement: clients if placement is CLIENTS else 1


def evaluate(node: ir.Node, scope: Scope, count: Count) -> Any:
    """The meaning of a tree, given the meaning of the names around it."""
    match node:
        case ir.Reference(name=name):
            return scope[name]
        case ir.Selection(source=source, index=index):
            return evaluate(source, scope, count)[index]
        case ir.Struct(elements=elements):
            return Struct([(n, evaluate(e, scope, count)) for n, e in elements])
        case ir.Call(function=function, argument=None):
            return evaluate(function, scope, count)()
        case ir.Call(function=function, argument=argument):
            assert argument is not None
            fn = evaluate(function, scope, count)
            return fn(evaluate(argument, scope, count))
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


def _intrinsic(uri: str, type_: FunctionType, count: Count) -> Callable[[Any], Any]:
    if uri in _SEQUENCE:
        return _SEQUENCE[uri]
    if uri in _FEDERATED:
        assert isinstance(type_.result, FederatedType)
        participants = range(count(type_.result.placement))
        return lambda value: _FEDERATED[uri](participants, value)
    meaning: Callable[[Any], Any]
    meaning = evaluate(expansion(intrinsic_named(uri), type_), {}, count)
    return meaning


def _member(value: Any, i: int) -> Any:
    """Participant i's part of a structure of federated values."""
    return value.map(lambda v: _member(v, i)) if isinstance(value, Struct) else value[i]


def _aggregate(_: range, arg: Any) -> Any:
    value, zero, accumulate, _merge, report = arg
    return (report(_fold(value, zero, accumulate)),)


def _fold(items: Any, zero: Any, fn: Callable[[Any], Any]) -> Any:
    return reduce(lambda state, item: fn(Struct.unnamed(state, item)), items, zero)


def _select(clients: range, arg: Any) -> Any:
    keys, _max_key, (server_value,), fn = arg
    pairs = [[Struct.unnamed(server_value, key) for key in keys[i]] for i in clients]
    return tuple(tuple(map(fn, client)) for client in pairs)


def _no_masks(clients: range, prototype: Any) -> Any:
    # Masks cancel in every sum, so all-zero ones mean the same.
    return tuple(prototype for _ in clients)


_FEDERATED: dict[str, Callable[[range, Any], Any]] = {
    "federated_value": lambda who, value: tuple(value for _ in who),
    "federated_broadcast": lambda who, value: tuple(value[0] for _ in who),
    "federated_eval": lambda who, fn: tuple(fn() for _ in who),
    "federated_map": lambda who, arg: tuple(arg[0](arg[1][i]) for i in who),
    "federated_zip": lambda who, value: tuple(_member(value, i) for i in who),
    "federated_aggregate": _aggregate,
    "federated_select": _select,
    "federated_pairwise_masks": _no_masks,
}
_SEQUENCE: dict[str, Callable[[Any], Any]] = {
    "sequence_map": lambda arg: tuple(map(arg[0], arg[1])),
    "sequence_reduce": lambda arg: _fold(arg[0], arg[1], arg[2]),
}


def _inside(plain: Any, type_: Type, count: Count) -> Any:
    """An argument with every federated part as a tuple, every function callable."""
    match type_:
        case FederatedType(placement=placement, all_equal=True):
            return tuple(plain for _ in range(count(placement)))
        case StructType():
            parts = [_inside(v, t, count) for v, t in zip(plain, type_, strict=True)]
            return Struct(zip(type_.names(), parts, strict=True))
        case FunctionType():
            return evaluate(plain, {}, count)
        case _:
            return plain


def _outside(value: Any, type_: Type) -> Any:
    """A result with every all-equal part as its one value."""
    match type_:
        case FederatedType(all_equal=True):
            return value[0]
        case StructType():
            parts = [_outside(v, t) for v, t in zip(value, type_, strict=True)]
            return Struct(zip(type_.names(), parts, strict=True))
        case _:
            return value
