# SPDX-License-Identifier: Apache-2.0
"""The type checker of trees: well-typed trees pass, every kind of fault is found."""

from collections import ChainMap

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from tests.ir.checking import check
from tests.programs import INT, INTS, add, same, seven

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


def test_names_bound_outside_are_in_scope() -> None:
    check(X, ChainMap({"x": INT}))
    with pytest.raises(TypeMismatchError, match=r"one of \['a', 'b'\]"):
        check(X, ChainMap({"b": INT, "a": INT}))
