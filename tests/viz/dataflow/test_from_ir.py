# SPDX-License-Identifier: Apache-2.0
"""A tree becomes a flow: boxes where something is computed, messages where it moves."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.dataflow.flow import Flow, Kind, Lane
from fedlearn_edu.dataflow.from_ir import read
from fedlearn_edu.executors.traffic import size_of
from fedlearn_edu.viz.dataflow.captions import sentence, summary, words
from tests.viz.dataflow.programs import add, average, double, train


def rows(flow: Flow) -> list[tuple[str, str, str, list[int]]]:
    """Kind, lane, name and sources of each node."""
    return [
        (n.kind.value, n.lane.value, n.name, [s.number for s in flow.into(n)])
        for n in flow.nodes
    ]


def test_one_round_of_training() -> None:
    flow = read(train)
    assert rows(flow) == [
        ("parameter", "SERVER", "model", []),
        ("parameter", "SERVER", "rate", []),
        ("parameter", "CLIENTS", "data", []),
        ("message", "CLIENTS", "federated_broadcast", [0]),
        ("message", "CLIENTS", "federated_broadcast", [1]),
        ("step", "CLIENTS", "learn", [3, 4, 2]),
        ("message", "SERVER", "federated_mean", [5]),
        ("result", "SERVER", "result", [6]),
    ]
    sent = [[(i.name, i.size_bytes) for i in flow.nodes[n].items] for n in (3, 4, 6)]
    assert sent == [[("model", 31_400)], [("rate", 4)], [("result of learn", 31_400)]]


def test_expanded_a_mean_is_a_sum_and_a_count() -> None:
    flow = read(average, named=set())
    assert rows(flow) == [
        ("parameter", "CLIENTS", "values", []),
        ("message", "CLIENTS", "federated_value", []),
        ("message", "SERVER", "federated_aggregate", [0, 1]),
        ("step", "SERVER", "mean", [2]),
        ("result", "SERVER", "result", [3]),
    ]
    names = [(i.name, i.size_bytes) for i in flow.nodes[2].items]
    assert names == [("values", 4), ("constant 1", 4)]
    assert flow.nodes[3].inside == ("reciprocal", "multiply")
    assert flow.origin(flow.nodes[1]) is Lane.UNPLACED
    assert summary(flow) == "In one run each client sends 8 B."  # the 1 came with it


def test_fields_are_picked_without_a_box() -> None:
    state = fl.to_type([("weights", np.float32), ("steps", np.int32)])

    @fl.federated_computation(fl.type_at_server(state))
    def send(state: Any) -> Any:
        return fl.federated_broadcast(state.weights)

    flow = read(send)
    assert [node.kind for node in flow.nodes] == [
        Kind.PARAMETER,
        Kind.MESSAGE,
        Kind.RESULT,
    ]
    assert flow.nodes[1].items[0].name == "state.weights"


def test_a_value_within_a_lane_says_what_it_is() -> None:
    @fl.federated_computation(fl.type_at_clients(np.float32))
    def twice(x: Any) -> Any:
        return fl.federated_map(double, fl.federated_map(double, x))

    kinds = [node.kind.value for node in read(twice).nodes]
    assert kinds == ["parameter", "step", "value", "step", "result"]
    assert summary(read(twice)) == "Nothing travels."


def test_what_is_captured_travels() -> None:
    @fl.federated_computation(np.int32, fl.type_at_clients(np.float32))
    def program(number: Any, x: Any) -> Any:
        @fl.federated_computation(np.float32)
        def use(x: Any) -> Any:
            return [double(x), number]

        return fl.federated_map(use, x)

    flow = read(program)
    (message,) = flow.messages(Lane.CLIENTS)
    assert message.items[0].name == "number"
    assert words(message) == "travels with the code to every client"
    assert [node.name for node in flow.into(message)] == ["number"]


def test_zipped_values_stay_apart_unless_they_are_the_result() -> None:
    both = [fl.type_at_clients(np.float32), fl.type_at_clients(np.int32)]

    @fl.federated_computation(*both)
    def pair(a: Any, b: Any) -> Any:
        return fl.federated_zip([a, b])

    assert rows(read(pair))[-2:] == [
        ("step", "CLIENTS", "federated_zip", [0, 1]),
        ("result", "CLIENTS", "result", [2]),
    ]


def test_programs_without_placements() -> None:
    assert rows(read(add)) == [
        ("parameter", "unplaced", "x", []),
        ("parameter", "unplaced", "y", []),
        ("step", "unplaced", "add", [0, 1]),
        ("result", "unplaced", "result", [2]),
    ]
    assert sentence(read(add)).endswith(
        "takes x, y, does add, and returns a value (float32, 4 B); it has no placement."
    )


@pytest.mark.parametrize(
    ("notation", "size"),
    [
        ("float32", 4),
        ("{float64[3]}@CLIENTS", 24),
        ("<a=int32,b=<bool,complex64>>", 13),
        ("<>", 0),
        ("float32[0]", 0),
        ("string", None),
        ("int32*", None),
        ("<int32,int32[?]>", None),
    ],
    ids=str,
)
def test_sizes_are_known_where_shapes_are(notation: str, size: int | None) -> None:
    assert size_of(fl.parse_type(notation)) == size
