# SPDX-License-Identifier: Apache-2.0
"""The whole meaning of the language on two pages, without executors: the oracle.

Here are placements and intrinsics; names, functions and structures are evaluated in
`compiler/evaluation.py`. Values are in plain form, except that a federated value is
always a tuple with one entry per participant, and a function is a Python function from
one plain value to another. Every stack must agree with these two files.
"""

from collections.abc import Callable
from functools import partial, reduce
from typing import Any, final

from fedlearn_edu import types
from fedlearn_edu.compiler.evaluation import Fn, Semantics, evaluate
from fedlearn_edu.contexts.arguments import prepare
from fedlearn_edu.errors import short_traceback
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.language.context_stack import Context
from fedlearn_edu.signals import contained
from fedlearn_edu.structure import Struct, tree_map
from fedlearn_edu.types.containers import one_of, private
from fedlearn_edu.types.sequences import unwrap

Count = Callable[[types.Placement], int]


@final
class ReferenceContext(Context):
    """Runs computations by the definitions in this file."""

    @short_traceback
    def __init__(self, default_num_clients: int = 0) -> None:
        self._default = default_num_clients

    def invoke(self, computation: Computation, argument: Any) -> Any:
        """Evaluates the computation's tree."""
        type_, default = computation.type_signature, self._default
        plain, counts = prepare(computation, argument, default)
        plain = unwrap(plain)
        clients = counts.get(types.CLIENTS, default)

        def count(placement: types.Placement) -> int:
            return clients if placement is types.CLIENTS else 1

        semantics = _semantics(count)
        fn = evaluate(computation.tree, semantics)
        none = type_.parameter is None
        result = fn() if none else fn(_inside(plain, type_.parameter, count, semantics))
        return types.restore(private(_outside(result, type_.result)), type_.result)


def _semantics(count: Count) -> Semantics:
    def bind(primitive: Callable[[range, Any], Any], node: ir.Intrinsic) -> Fn:
        result = node.type.result
        placed = isinstance(result, types.FederatedType)
        who = range(count(result.placement) if placed else 0)  # type: ignore[attr-defined]
        return lambda argument: primitive(who, argument)

    primitives = {uri: partial(bind, fn) for uri, fn in _PRIMITIVES.items()}
    return Semantics(
        lambda leaf: _run(leaf.code), lambda literal: literal.value, primitives
    )


def _run(code: Any) -> Fn:
    def run(value: Any = None) -> Any:
        with contained(code.name):
            return code(value)

    return run


def _member(value: Any, i: int) -> Any:
    """Participant i's part of a structure of federated values."""
    return tree_map(lambda members: members[i], value)


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
    "sequence_map": lambda who, arg: tuple([arg[0](x) for x in arg[1]]),
    "sequence_reduce": lambda who, arg: _fold(*arg),
}


def _inside(
    plain: Any, type_: types.Type | None, count: Count, semantics: Semantics
) -> Any:
    """An argument with every federated part as a tuple, every function callable."""

    def enter(leaf: types.Type | None, part: Any) -> Any:
        match leaf:
            case types.FederatedType(placement=placement, all_equal=True):
                return (part,) * count(placement)
            case types.FunctionType():
                return evaluate(part, semantics)
        return part

    return tree_map(enter, type_, plain)


def _outside(value: Any, type_: types.Type) -> Any:
    """A result with every all-equal part as its one value."""

    def one(leaf: types.Type, part: Any) -> Any:
        is_equal = isinstance(leaf, types.FederatedType) and leaf.all_equal
        return one_of(part, leaf) if is_equal else part

    return tree_map(one, type_, value)
