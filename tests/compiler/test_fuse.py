# SPDX-License-Identifier: Apache-2.0
"""Which functions become one leaf, and what is left around it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.compiler.expansion import expand_intrinsics
from fedlearn_edu.compiler.pipeline import fuse, join_steps
from fedlearn_edu.framework import SyncExecutionContext, Tape, local_executor_factory
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.ir.traversal import leaves
from fedlearn_edu.runtimes.numpy.computation import PythonCode
from fedlearn_edu.runtimes.registry import RUNTIMES, fusers
from tests.programs import INT, INTS, NUMBERS, add, increment, local

NATIVE = {"federated_map", "federated_aggregate", "sequence_map", "sequence_reduce"}


class Whole:
    """Leaf code that remembers what it was made of."""

    def __init__(self, function: ir.Lambda, name: str) -> None:
        self.function = function
        self.name = name
        self.digest = name


def numpy_fuses(monkeypatch: pytest.MonkeyPatch, fuser: Any) -> None:
    monkeypatch.setitem(RUNTIMES, "numpy", replace(RUNTIMES["numpy"], fuse=fuser))


@pytest.fixture(autouse=True)
def _numpy_fuses(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(function: ir.Lambda, name: str) -> ir.Leaf:
        return ir.Leaf("numpy", Whole(function, name), function.type)  # type: ignore[arg-type]

    numpy_fuses(monkeypatch, make)


def fused_in(computation: Any) -> tuple[ir.Node, list[Whole]]:
    """The fused tree of a computation, and the code that was made."""
    expanded = expand_intrinsics(computation.tree, NATIVE)
    tree = fuse(join_steps(expanded, fusers(), frozenset()), fusers())
    codes: list[Any] = [leaf.code for leaf in leaves(tree)]
    return tree, [code for code in codes if isinstance(code, Whole)]


def test_a_function_without_placements_becomes_one_leaf() -> None:
    twice = fl.federated_computation(lambda x: increment(increment(x)) + 1, INT)
    tree, [whole] = fused_in(twice)
    assert isinstance(tree, ir.Leaf)
    assert tree.type == twice.type_signature
    assert whole.name == "increment"
    assert whole.function == twice.tree


def test_sequence_intrinsics_are_fused_and_named() -> None:
    total = fl.federated_computation(
        lambda s: fl.sequence_reduce(fl.sequence_map(increment, s), 0, add), NUMBERS
    )
    _, [whole] = fused_in(total)
    assert whole.name == "sequence_map, sequence_reduce, increment, add"


def test_a_mapped_function_becomes_one_leaf_and_what_is_around_it_stays() -> None:
    @fl.federated_computation(INTS)
    def program(values: Any) -> Any:
        twice = fl.federated_computation(lambda x: increment(increment(x)), INT)
        return fl.federated_map(twice, values)

    tree, [whole] = fused_in(program)
    assert isinstance(tree, ir.Lambda)
    assert whole.function.type == fl.FunctionType(INT, INT)
    assert "federated_map" in to_text(tree)


def test_what_was_captured_is_handed_over_by_a_thin_function() -> None:
    @fl.federated_computation(INTS, INT)
    def program(values: Any, step: Any) -> Any:
        far = fl.federated_computation(lambda x: add(add(x, step), step), INT)
        return fl.federated_map(far, values)

    tree, [whole] = fused_in(program)
    assert whole.function.type == fl.FunctionType(fl.StructType([INT, INT]), INT)
    thin = [n for n in _lambdas(tree) if n.parameter == "x"]
    assert [to_text(n.body) for n in thin] == ["add(<step,x>)"]


def _lambdas(tree: ir.Node) -> list[ir.Lambda]:
    from fedlearn_edu.ir.traversal import walk

    return [node for node in walk(tree) if isinstance(node, ir.Lambda)]


def test_a_function_without_parameter_becomes_one_leaf() -> None:
    one = fl.np_computation(lambda: np.int32(1))
    tree, [_] = fused_in(fl.federated_computation(lambda: increment(one())))
    assert isinstance(tree, ir.Leaf)


def test_one_step_alone_is_left_alone() -> None:
    single = fl.federated_computation(lambda x: increment(x), INT)
    tree, wholes = fused_in(single)
    assert (tree, wholes) == (single.tree, [])


def test_functions_as_arguments_are_left_alone() -> None:
    apply = fl.federated_computation(
        lambda fn, x: increment(fn(fn(x))), increment.type_signature, INT
    )
    assert fused_in(apply)[1] == []


def test_where_a_runtime_declines_its_parts_are_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    accept = fusers()["numpy"]

    def picky(function: ir.Lambda, name: str) -> ir.Leaf | None:
        return None if "sequence" in name else accept(function, name)

    numpy_fuses(monkeypatch, picky)
    twice = fl.federated_computation(lambda x: increment(increment(x)), INT)
    mapped = fl.federated_computation(lambda s: fl.sequence_map(twice, s), NUMBERS)
    tree, [whole] = fused_in(mapped)
    assert isinstance(tree, ir.Lambda)
    assert whole.name == "increment"


def test_trees_of_other_runtimes_are_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    numpy_fuses(monkeypatch, None)
    twice = fl.federated_computation(lambda x: increment(increment(x)), INT)
    assert fused_in(twice) == (twice.tree, [])


def test_after_an_error_the_program_is_run_step_by_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Failing(Whole):
        def __call__(self, argument: Any) -> Any:
            raise RuntimeError("something in a graph")

    def make(function: ir.Lambda, name: str) -> ir.Leaf:
        return ir.Leaf("numpy", Failing(function, name), function.type)

    numpy_fuses(monkeypatch, make)
    # Or else it is Python code, and nobody knows what happens if it runs again.
    monkeypatch.setattr(PythonCode, "is_pure", True, raising=False)

    def refuse(x: Any) -> Any:
        if x == 13:
            raise ValueError("thirteen")
        return x

    checked = fl.np_computation(refuse, INT)
    total = fl.federated_computation(
        lambda s: fl.sequence_reduce(fl.sequence_map(checked, s), 0, add), NUMBERS
    )
    program = fl.federated_computation(
        lambda v: fl.federated_map(total, v), fl.type_at_clients(NUMBERS)
    )
    tape = Tape()
    factory = local_executor_factory(support_sequence_ops=True, tape=tape)

    def told() -> list[tuple[str, str]]:
        events = [(str(e.what), e.detail) for e in tape if e.layer == "context"]
        tape.clear()
        return events

    with SyncExecutionContext(factory):
        with pytest.raises(ValueError, match="thirteen") as caught:
            program([[1, 2], [3, 13]])
        notes = " ".join(caught.value.__notes__)
        assert "element 1" in notes
        assert "client 1" in notes
        assert told() == [
            *(("compiled", "lambda"), ("built", "2 clients")),
            ("again, step by step", "RuntimeError"),
        ]
        # A generator function may do something else then: the first error is all.
        with pytest.raises(RuntimeError, match="something in a graph"):
            program([lambda: iter([1, 13])])
        assert told() == [("reused", "lambda"), ("built", "1 client")]
    with local(support_sequence_ops=True, fuse=False):
        assert program([[1, 2], [3]]) == [3, 3]
