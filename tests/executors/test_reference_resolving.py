# SPDX-License-Identifier: Apache-2.0
"""Names, functions and blocks, over a target that never sees a name."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.executors.base import Executor
from fedlearn_edu.ir import nodes as ir
from tests.executors.examples import CountingExecutor, call, pair, run
from tests.programs import INT, add, increment, seven

X, Y = ir.Reference("x", INT), ir.Reference("y", INT)
FIVE = ir.Literal(np.int32(5), INT)


def over(target: Executor | None = None) -> Any:
    return fl.framework.ReferenceResolvingExecutor(
        target or fl.framework.NumPyExecutor()
    )


def evaluate(node: ir.Node) -> Any:
    async def work() -> Any:
        return await (await over().create_value(node)).compute()

    return run(work())


@pytest.mark.parametrize(
    ("node", "value"),
    [
        (FIVE, 5),
        (ir.Block((("x", FIVE),), X), 5),
        (ir.Block((("x", FIVE), ("y", ir.Call(increment.tree, X))), Y), 6),
        # A later binding of the same name shadows the earlier one.
        (ir.Block((("x", FIVE), ("x", ir.Call(increment.tree, X))), X), 6),
        (ir.Block((("x", FIVE),), ir.Block((("x", ir.Call(seven.tree)),), X)), 7),
        (ir.Call(ir.Lambda("x", INT, X), FIVE), 5),
        (ir.Call(ir.Lambda(None, None, FIVE)), 5),
        (ir.Selection(ir.Struct((("a", FIVE), ("b", ir.Call(seven.tree)))), 1), 7),
    ],
)
def test_a_tree_has_its_meaning(node: ir.Node, value: Any) -> None:
    assert evaluate(node) == value


def test_a_function_sees_the_scope_it_was_written_in() -> None:
    """Static scoping: let x=5 in (f -> let x=7 in f())( -> x) is 5."""
    thunk = ir.Lambda(None, None, X)
    seven_literal = ir.Literal(np.int32(7), INT)
    caller = ir.Lambda(
        "f",
        thunk.type,
        ir.Block((("x", seven_literal),), ir.Call(ir.Reference("f", thunk.type))),
    )
    assert evaluate(ir.Block((("x", FIVE),), ir.Call(caller, thunk))) == 5


def test_the_locals_of_a_block_run_in_program_order() -> None:
    order: list[int] = []

    @fl.np_computation(np.int32)
    def noted(x: Any) -> Any:
        order.append(int(x))
        return x

    def body(x: Any) -> Any:
        noted(add(x, 1))
        noted(add(x, 2))
        return noted(add(x, 3))

    program = fl.federated_computation(body, INT)
    order.clear()
    assert run(call(over(), program, np.int32(0))) == 3
    assert order == [1, 2, 3]


def test_a_structure_is_taken_apart_here_and_not_below() -> None:
    target = CountingExecutor()
    program = fl.federated_computation(lambda p: p[1], [INT, INT])
    assert run(call(over(target), program, pair(np.int32(1), np.int32(2)))) == 2
    assert target.calls == {"create_value": 2, "compute": 1}
