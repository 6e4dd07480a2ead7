# SPDX-License-Identifier: Apache-2.0
"""The matrix of `matrix.py` on datasets inside `tf_computation` and `tf.function`.

Each computation works once in its own body and once in a `tf.function` nested in it,
and returns both results. The stack below has no sequence layer: what is part of a graph
needs none. The captured values are tensors of the body around.

A pairwise cover is tried, the whole matrix in the thorough tests. All forms come with
functions that capture nothing (a graph sees datasets only); the others get a list and a
dataset.
"""

from functools import cache
from typing import Any

import pytest

import fedlearn_edu as fl
from fedlearn_edu.testing.comparison import difference
from fedlearn_edu.types import infer_type
from tests.covering import pairwise_cover
from tests.programs import local
from tests.sequences.elements import Kind, leaves, strength
from tests.sequences.matrix import CELLS, FORMS, Cell, operate

pytestmark = pytest.mark.tensorflow
CONTEXT = local(leaf="tensorflow")
THOROUGH = pytest.mark.thorough
# How many elements there are does not depend on what is done with them.
FACTORS = {
    (cell.operation, cell.elements, cell.capture): cell
    for cell in CELLS
    if not cell.is_long or cell.operation == "reduce of map"
}
COVER = [FACTORS[chosen] for chosen in pairwise_cover(list(FACTORS))]


def _forms(cell: Cell) -> tuple[str, ...]:
    return FORMS if cell.capture == "no capture" else ("list", "dataset")


def _params(*, nested: bool) -> list[Any]:
    return [
        pytest.param(cell, id=str(cell), marks=() if cell in COVER else THOROUGH)
        for cell in CELLS
        if (cell.operation == "nested") == nested
    ]


@cache
def in_graph(operation: str, kind: Kind, capture: str) -> Any:
    """The operation in a graph, and in a graph of that graph."""
    leaf = leaves(kind, "tensorflow")
    captured_type = infer_type(kind.captures[capture])

    def body(dataset: Any, captured: Any) -> Any:
        def work(dataset: Any) -> Any:
            return operate(operation, dataset, fn, kind, leaf)

        fn = leaf.constant
        if capture != "no capture":
            fn = _capturing(captured, kind, is_model=capture == "captured model")
        return [work(dataset), fl.tf.function(work, autograph=False)(dataset)]

    return fl.tf_computation(body, kind.sequence, captured_type)


def _capturing(captured: Any, kind: Kind, *, is_model: bool) -> Any:
    def change(x: Any) -> Any:
        return kind.change(x, strength(captured) if is_model else captured)

    return fl.tf_computation(change, kind.element)


def _operation(cell: Cell) -> str:
    return "reduce of map" if cell.operation == "nested" else cell.operation


@pytest.mark.parametrize("cell", _params(nested=False))
def test_an_operation_becomes_part_of_the_graph(cell: Cell) -> None:
    program = in_graph(cell.operation, cell.kind, cell.capture)
    expected = [cell.expected()] * 2
    with CONTEXT:
        problems = {
            form: difference(program(data, cell.captured), expected)
            for form, data in cell.forms(_forms(cell))
        }
    assert problems
    assert not any(problems.values()), problems


@pytest.mark.parametrize("cell", _params(nested=True))
def test_every_client_runs_the_graph_on_another_form(cell: Cell) -> None:
    program = in_graph(_operation(cell), cell.kind, cell.capture)
    types = program.type_signature.parameter
    at_clients = fl.federated_computation(
        lambda data, captured: fl.federated_map(
            program, [data, fl.federated_broadcast(captured)]
        ),
        fl.type_at_clients(types[0]),
        fl.type_at_server(types[1]),
    )
    data = [data for _, data in cell.forms(_forms(cell))]
    with CONTEXT:
        found = at_clients(data, cell.captured)
    assert difference(found, [[cell.expected()] * 2 for _ in data]) is None
