# SPDX-License-Identifier: Apache-2.0
"""The type checker of trees: well-typed trees pass, every kind of fault is found."""

from collections import ChainMap

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import TypeMismatchError, TypeNotAssignableError
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from tests.ir.checking import check
from tests.programs import FLOAT, INT, INTS, add, increment, same, seven

X, Y = ir.Reference("x", INT), ir.Reference("y", INT)
PAIR = ir.Struct(((None, X), (None, X)))
FIVE = ir.Literal(np.int32(5), INT)


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


@pytest.mark.parametrize(
    ("node", "problem"),
    [
        (X, "'x' is not bound"),
        (ir.Lambda("y", INT, X), "'x' is not bound"),
        (ir.Block((("y", X), ("x", FIVE)), Y), "'x' is not bound"),
        (ir.Block((("x", X),), X), "'x' is not bound"),
        (ir.Lambda("x", INT, ir.Selection(PAIR, 2)), "out of range"),
        (ir.Lambda("x", INT, ir.Selection(PAIR, -1)), "out of range"),
        (ir.Call(increment.tree), "number of arguments"),
        (ir.Call(seven.tree, FIVE), "number of arguments"),
    ],
    ids=lambda value: value if isinstance(value, str) else to_text(value),
)
def test_a_fault_is_found_and_named(node: ir.Node, problem: str) -> None:
    with pytest.raises(TypeMismatchError, match=problem):
        check(node)


def test_an_argument_must_fit_the_parameter() -> None:
    wrong = ir.Call(increment.tree, ir.Literal(np.float32(1), FLOAT))
    with pytest.raises(TypeNotAssignableError, match="the argument of increment"):
        check(wrong)


def test_a_name_must_be_used_with_the_type_it_was_bound_with() -> None:
    with pytest.raises(TypeNotAssignableError, match="the name 'x'"):
        check(ir.Lambda("x", FLOAT, X))


def test_names_bound_outside_are_in_scope() -> None:
    check(X, ChainMap({"x": INT}))
    with pytest.raises(TypeMismatchError, match=r"one of \['a', 'b'\]"):
        check(X, ChainMap({"b": INT, "a": INT}))


def test_a_fault_deep_inside_is_found() -> None:
    inner = ir.Lambda("y", INT, ir.Struct((("a", ir.Call(increment.tree, X)),)))
    with pytest.raises(TypeMismatchError, match="'x' is not bound"):
        check(ir.Block((("f", inner),), FIVE))
