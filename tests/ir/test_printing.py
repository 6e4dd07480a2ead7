# SPDX-License-Identifier: Apache-2.0
"""Trees as text: on one line, and indented."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_indented_text, to_text
from tests.programs import INT, INTS, add, increment, seven

X = ir.Reference("x", INT)
PAIR = ir.Struct((("a", X), (None, X)))


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (X, "x"),
        (PAIR, "<a=x,x>"),
        (ir.Selection(PAIR, 0), "<a=x,x>.a"),
        (ir.Selection(PAIR, 1), "<a=x,x>[1]"),
        (ir.Call(increment.tree, X), "increment(x)"),
        (ir.Call(seven.tree), "seven()"),
        (ir.Lambda("x", INT, X), "(x -> x)"),
        (ir.Lambda(None, None, X), "( -> x)"),
        (ir.Block((("y", X), ("z", X)), X), "(let y=x,z=x in x)"),
        (ir.PlacementLiteral(fl.CLIENTS), "CLIENTS"),
        (ir.Literal(np.int32(5), INT), "5"),
        (ir.Literal(np.arange(3), fl.to_type((np.int64, [3]))), "constant int64[3]"),
        (ir.Literal((1, 2), fl.SequenceType(INT)), "constant int32*"),
        (ir.Literal(b"x" * 50, fl.to_type(np.str_)), "constant string"),
        (increment.tree, "increment"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_node_on_one_line(node: ir.Node, text: str) -> None:
    assert to_text(node) == text


@fl.federated_computation(np.int32, INTS)
def shifted_sum(by: Any, values: Any) -> Any:
    shift = fl.federated_computation(lambda x: add(x, by), np.int32)
    return fl.federated_sum(fl.federated_map(shift, values))


def test_an_indented_tree_has_one_binding_per_line() -> None:
    assert to_indented_text(shifted_sum.tree).splitlines() == [
        "(shifted_sum_arg ->",
        "  let",
        "    by = shifted_sum_arg.by",
        "    values = shifted_sum_arg.values",
        "    shifted_sum_0 = federated_map(<",
        "      (x ->",
        "        let",
        "          lambda_0 = add(<a=x,b=by>)",
        "        in lambda_0),",
        "      values",
        "    >)",
        "    shifted_sum_1 = federated_sum(shifted_sum_0)",
        "  in shifted_sum_1)",
    ]


def test_both_forms_say_the_same() -> None:
    indented = "".join(line.strip() for line in shifted_sum.to_text().splitlines())
    compact = to_text(shifted_sum.tree)
    marks = str.maketrans("", "", " (),")
    assert indented.translate(marks) == compact.translate(marks)
