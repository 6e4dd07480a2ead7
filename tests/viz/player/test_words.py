# SPDX-License-Identifier: Apache-2.0
"""Events in words, and the values they made."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.viz.player.words import does, value_of, who
from tests.programs import INTS, add, increment
from tests.viz.player.tapes import event


@pytest.mark.parametrize(
    ("participant", "layer", "text"),
    [
        ("clients[7]", "leaf", "client 7 (leaf)"),
        ("server", "sequence", "the server (sequence)"),
        ("all", "reference_resolving", "the stack (reference resolving)"),
        ("unplaced", "participant", "the program (participant)"),
        ("", "NumPyExecutor", "an executor (NumPyExecutor)"),
        ("somebody", "x", "somebody (x)"),
    ],
)
def test_who(participant: str, layer: str, text: str) -> None:
    assert who(event(0, participant=participant, layer=layer)) == text


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"what": "create_call"}, "calls add"),
        (
            {"what": "create_value", "given": np.int32(1)},
            "is handed a value of type int32",
        ),
        (
            {"what": "create_value", "given": increment.tree, "detail": "increment"},
            "is handed increment",
        ),
        (
            {
                "what": "create_value",
                "given": ir.Lambda(None, None, increment.tree),
                "detail": "Lambda, captured k: int32",
                "caller": 3,
            },
            "is handed a lambda, captured k: int32",
        ),
        ({"what": "create_struct", "operands": (1, 2)}, "puts 2 values side by side"),
        ({"what": "create_struct", "operands": (1,)}, "puts 1 value side by side"),
        ({"what": "create_selection", "detail": "w"}, "selects w"),
        ({"what": "compute"}, "hands out a value of type int32"),
        ({"what": "convert"}, "converts data of type int32"),
        (
            {"what": "batched_call", "detail": "f, 3 clients"},
            "runs in one call f, 3 clients",
        ),
        ({"what": "compiled", "detail": "train"}, "compiled train"),
        ({"what": "close"}, "close"),
        ({"what": "create_call", "error": "ValueError"}, "calls add, and fails"),
        (
            {"what": "batched_call", "detail": "failed_logins, 3 clients"},
            "runs in one call failed_logins, 3 clients",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what(fields: dict[str, Any], text: str) -> None:
    assert does(event(0, **fields), "add") == text


def values(program: Any, *arguments: Any) -> list[str]:
    with fl.record() as tape:
        program(*arguments)
    return [value_of(event) for event in tape]


def test_values_are_fetched_when_somebody_looks() -> None:
    found = values(add, 1, 2)
    assert "<a=1, b=2>" in found
    assert found.count("3") >= 4  # the call, and what is handed out, layer by layer
    assert "add" in found


def test_values_of_clients_are_listed_the_first_of_many() -> None:
    program = fl.federated_computation(lambda v: fl.federated_map(increment, v), INTS)
    assert "client 0: 2\nclient 1: 3" in values(program, [1, 2])
    assert "client 0: 2\nclient 1: 3\nclient 2: 4\nclient 3: 5\n… 6 more" in values(
        program, list(range(1, 11))
    )
    assert "nobody" in values(program, [])


def test_sequences_are_not_read_only_to_be_shown() -> None:
    read = []

    @fl.np_computation(np.int32)
    def seen(x: Any) -> Any:
        read.append(int(x))
        return x

    def body(numbers: Any) -> Any:
        return fl.sequence_map(seen, numbers), fl.sequence_sum(numbers)

    with fl.record() as tape:
        fl.federated_computation(body, fl.SequenceType(np.int32))([1, 2])
    before = list(read)
    found = [value_of(event) for event in tape]
    assert read == before
    assert any("read only where it is needed" in value for value in found)


def test_what_makes_nothing_says_so() -> None:
    assert value_of(event(0)) == "none: it is only noted that it happened"
