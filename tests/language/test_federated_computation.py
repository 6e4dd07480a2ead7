# SPDX-License-Identifier: Apache-2.0
"""Tracing a body: the tree it leaves (semantics 2.8), captures (2.9), equality."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import ContextError
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.ir.traversal import walk
from fedlearn_edu.language.computation import check_closed
from tests.programs import INT, INTS, add, increment, same, seven


def bound_in(node: ir.Node) -> list[str]:
    if isinstance(node, ir.Lambda) and node.parameter:
        return [node.parameter]
    return [name for name, _ in node.locals] if isinstance(node, ir.Block) else []


def text(body: Callable[..., Any], *types: Any) -> str:
    return to_text(fl.federated_computation(body, *types).tree)


# ------------------------------------------------------------------ the tree, 2.8


def test_calls_are_named_in_program_order_and_selections_are_not() -> None:
    def body(pair: Any) -> Any:
        first = add(pair[0], 5)
        return add(pair.b, increment(first))

    assert text(body, OrderedDict(a=INT, b=INT)) == (
        "(pair -> (let body_0=add(<a=pair.a,b=5>),body_1=increment(body_0),"
        "body_2=add(<a=pair.b,b=body_1>) in body_2))"
    )


def test_a_body_without_calls_is_just_its_result() -> None:
    assert text(lambda x: [x, x], INT) == "(x -> <x,x>)"


def test_a_body_without_parameter_is_a_lambda_without_one() -> None:
    assert text(lambda: seven()) == "( -> (let lambda_0=seven() in lambda_0))"


def test_several_parameters_are_fields_with_their_names() -> None:
    assert text(lambda a, b: b, INT, INT) == (
        "(lambda_arg -> (let a=lambda_arg.a,b=lambda_arg.b in b))"
    )


def test_a_nested_body_uses_no_name_of_the_bodies_around_it() -> None:
    def outer(x: Any) -> Any:
        plus_outer = fl.federated_computation(lambda x, y: add(x, y), INT, INT)
        return plus_outer(x, increment(x))

    tree = fl.federated_computation(outer, INT).tree
    bound = [name for node in walk(tree) for name in bound_in(node)]
    assert {"x", "x_1"} <= set(bound)
    assert len(bound) == len(set(bound))


def test_tracing_needs_no_execution_context() -> None:
    with fl.framework.AsyncExecutionContext(fl.framework.local_executor_factory()):
        made = fl.federated_computation(lambda x: increment(x), INT)
    assert made(1) == 2


# ------------------------------------------------------------------ captures, 2.9


def test_a_captured_computed_value_is_computed_once() -> None:
    calls = []

    @fl.np_computation(np.int32)
    def noted(x: Any) -> Any:
        calls.append(int(x))
        return x

    def outer(k: Any, data: Any) -> Any:
        computed = noted(k)
        return fl.federated_map(
            fl.federated_computation(lambda x: add(x, computed), INT), data
        )

    made = fl.federated_computation(outer, INT, INTS)
    calls.clear()
    assert made(10, [1, 2, 3]) == [11, 12, 13]
    assert calls == [10]


def test_a_computation_that_captured_is_refused_in_a_strangers_body() -> None:
    kept: list[Any] = []

    def outer(k: Any) -> Any:
        kept.append(fl.federated_computation(lambda x: add(x, k), INT))
        return k

    fl.federated_computation(outer, INT)
    with pytest.raises(ContextError, match="another computation's body"):
        fl.federated_computation(lambda v: fl.federated_map(kept[0], v), INTS)


def test_constants_from_outside_are_baked_in() -> None:
    rate = 5
    made = fl.federated_computation(lambda x: add(x, rate), INT)
    rate = 100
    assert made(1) == 6


# ----------------------------------------
# A computation is a typed tree


def test_computations_of_equal_trees_are_equal() -> None:
    again = fl.federated_computation(lambda x: x, INT)
    once = fl.federated_computation(lambda x: x, INT)
    assert once == again
    assert len({once, again}) == 1
    assert once != fl.federated_computation(lambda x: [x], INT)
    assert once != "a computation"


def test_it_prints_its_name_and_its_type() -> None:
    assert str(add) == "add: (<a=int32,b=int32> -> int32)"
    assert repr(same) == "<computation same: (int32 -> int32)>"
    assert same.to_text() == "(x ->\n  x)"


def test_a_computation_that_captured_a_value_runs_only_where_it_was_made() -> None:
    kept: list[Any] = []

    def outer(x: Any) -> Any:
        kept.append(fl.federated_computation(lambda y: add(y, x), INT))
        return kept[0](x)

    assert fl.federated_computation(outer, INT)(4) == 8
    with pytest.raises(ContextError, match="'x'"):
        kept[0](1)
    with pytest.raises(ContextError, match="can run only inside it"):
        check_closed(kept[0])
