# SPDX-License-Identifier: Apache-2.0
"""Walking trees, which names are free in them, and what a type checker finds."""

from collections import ChainMap
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.operations import operation
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.ir.traversal import (
    children,
    free_references,
    intrinsics,
    rebuild,
    runtimes,
    substitute,
    walk,
)
from tests.ir.checking import check
from tests.programs import INT, INTS, add, increment, same, seven

X, Y = ir.Reference("x", INT), ir.Reference("y", INT)
FIVE = ir.Literal(np.int32(5), INT)
NEXT = operation("add", (INT, INT), INT)
EVERY_KIND: list[ir.Node] = [
    X,
    ir.Selection(ir.Struct(((None, X), (None, Y))), 1),
    ir.Struct((("a", X), (None, Y))),
    ir.Call(increment.tree),
    ir.Call(increment.tree, X),
    ir.Lambda("x", INT, X),
    ir.Block((("y", X),), Y),
    ir.Intrinsic("federated_sum", fl.FunctionType(INTS, fl.type_at_server(INT))),
    FIVE,
    NEXT,
    ir.PlacementLiteral(fl.SERVER),
]


def test_the_examples_are_every_kind_of_node() -> None:
    assert {type(node) for node in EVERY_KIND} == set(ir.Node.__args__)


@pytest.mark.parametrize("node", EVERY_KIND, ids=to_text)
def test_rebuilding_hands_over_every_child_and_changes_nothing(node: ir.Node) -> None:
    seen = []

    def note(child: ir.Node) -> ir.Node:
        seen.append(child)
        return child

    assert rebuild(node, note) == node
    assert tuple(seen) == children(node)


def test_a_walk_meets_parents_before_children() -> None:
    call = ir.Call(increment.tree, X)
    block = ir.Block((("y", call),), Y)
    assert list(walk(block)) == [block, call, increment.tree, X, Y]


def test_a_walk_goes_as_deep_as_there_is_something_below() -> None:
    node: ir.Node = ir.Reference("x", INT)
    for _ in range(5000):
        node = ir.Selection(node, 0)
    assert sum(1 for _ in walk(node)) == 5001


@pytest.mark.parametrize(
    ("node", "free"),
    [
        (X, {"x"}),
        (ir.Lambda("x", INT, X), set()),
        (ir.Lambda("x", INT, Y), {"y"}),
        (ir.Lambda(None, None, X), {"x"}),
        (ir.Block((("y", X),), Y), {"x"}),
        # A binding does not see itself, and its own value is outside of it.
        (ir.Block((("x", X),), X), {"x"}),
        (ir.Block((("y", FIVE), ("x", Y)), X), set()),
        (ir.Block((("x", Y), ("y", FIVE)), X), {"y"}),
        (ir.Call(ir.Lambda("x", INT, X), X), {"x"}),
        (ir.Struct(((None, X), (None, ir.Lambda("x", INT, Y)))), {"x", "y"}),
    ],
    ids=lambda value: to_text(value) if not isinstance(value, set) else "",
)
def test_free_names_are_those_bound_outside(node: ir.Node, free: set[str]) -> None:
    assert set(free_references(node)) == free


def test_free_names_come_with_their_types() -> None:
    assert free_references(ir.Lambda("x", INT, Y)) == {"y": INT}


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (X, "5"),
        (Y, "y"),
        (ir.Call(increment.tree, X), "increment(5)"),
        (ir.Lambda("x", INT, X), "(x -> x)"),
        (ir.Lambda("y", INT, X), "(y -> 5)"),
        # The value of a binding is still outside of it; later ones see it.
        (ir.Block((("x", X),), X), "(let x=5 in x)"),
        (ir.Block((("y", X), ("x", Y)), X), "(let y=5,x=y in x)"),
        (ir.Selection(ir.Struct(((None, X),)), 0), "<5>[0]"),
    ],
    ids=lambda value: value if isinstance(value, str) else to_text(value),
)
def test_substituting_stops_where_the_name_is_bound_again(
    node: ir.Node, text: str
) -> None:
    assert to_text(substitute(node, {"x": FIVE})) == text


def test_runtimes_are_those_of_the_leaves() -> None:
    both = ir.Struct(((None, increment.tree), (None, NEXT)))
    assert runtimes(both) == {"numpy"}
    assert runtimes(NEXT) == frozenset()


def test_intrinsics_are_listed_once_in_the_order_of_mention() -> None:
    def body(v: Any) -> Any:
        mapped = fl.federated_map(increment, v)
        return fl.federated_sum(fl.federated_map(increment, mapped))

    found = intrinsics(fl.federated_computation(body, INTS).tree)
    assert [intrinsic.uri for intrinsic in found] == ["federated_map", "federated_sum"]


# ----------------------------------------
# The type checker of trees: well-typed trees pass, every kind of fault is found


PAIR = ir.Struct(((None, X), (None, X)))


@pytest.mark.parametrize(
    "node",
    [
        ir.Lambda("x", INT, X),
        ir.Lambda("x", INT, ir.Call(add.tree, PAIR)),
        ir.Lambda("x", INT, ir.Selection(PAIR, 1)),
        ir.Block((("x", FIVE), ("y", X)), Y),
        ir.Call(seven.tree),
        ir.Call(ir.Lambda(None, None, FIVE)),
        same.tree,
        ir.PlacementLiteral(fl.SERVER),
        ir.Intrinsic("federated_sum", fl.FunctionType(INTS, fl.type_at_server(INT))),
    ],
    ids=to_text,
)
def test_a_well_typed_tree_passes(node: ir.Node) -> None:
    check(node)


def test_names_bound_outside_are_in_scope() -> None:
    check(X, ChainMap({"x": INT}))
    with pytest.raises(TypeMismatchError, match=r"one of \['a', 'b'\]"):
        check(X, ChainMap({"b": INT, "a": INT}))
