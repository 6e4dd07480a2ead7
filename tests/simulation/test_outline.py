# SPDX-License-Identifier: Apache-2.0
"""The outline of a stack says what the factory really builds."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

import fedlearn_edu as fl
from fedlearn_edu.executors.base import Executor
from fedlearn_edu.simulation.outline import LayerOutline, outline_of
from tests.extension.own_strategy import OneRoomStrategy

fw = fl.framework
make = fw.local_executor_factory
PLAIN = make()
FACTORIES = {
    "plain": PLAIN,
    "sequences": make(support_sequence_ops=True),
    "no threads": make(use_threads=False),
}


def layers_from(executor: Executor) -> Iterator[str]:
    """The names of the layers from here down to the leaf."""
    below = [part for part in vars(executor).values() if isinstance(part, Executor)]
    if not below:
        yield "leaf"
        return
    assert len(below) == 1
    yield short_name(executor)
    yield from layers_from(below[0])


def short_name(executor: Executor) -> str:
    name = type(executor).__name__.removesuffix("Executor")
    return "[Thread]" if name == "ThreadDelegating" else name


def there(layers: Sequence[LayerOutline]) -> list[str]:
    return [layer.name for layer in layers if layer.is_there]


@pytest.mark.parametrize("name", FACTORIES)
@pytest.mark.parametrize("threads_help", [False, True])
def test_outline_has_the_layers_of_the_stack_that_is_built(
    name: str, threads_help: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    factory = replace(FACTORIES[name], leaf="numpy")
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    runtimes = frozenset({"one that lets go of the lock"} if threads_help else {})
    stack: Any = factory.create_executor({fl.CLIENTS: 3}, runtimes)
    federating = vars(stack)["_target"]
    targets = vars(federating.strategy)["_targets"]
    outline = outline_of(factory)

    assert there(outline.shared) == [short_name(stack), short_name(federating)]
    server, clients, unplaced = outline.groups
    assert [str(group) for group in (server, unplaced)] == [
        "SERVER × 1",
        "unplaced × 1",
    ]
    assert (clients.name, clients.count) == ("CLIENTS", "n")
    own = there(outline.own)
    assert list(layers_from(targets[fl.SERVER][0])) == own
    assert list(layers_from(federating.unplaced)) == own
    optional = set() if threads_help else {"[Thread]"}
    on_top = [layer for layer in clients.on_top if layer not in optional]
    for client in targets[fl.CLIENTS]:
        assert list(layers_from(client)) == [*on_top, *own]
    stack.close()


def test_a_recorded_stack_has_no_threads_and_a_remark() -> None:
    assert "sizing" in dict(outline_of(fw.sizing_executor_factory()).remarks)
    outline = outline_of(make(tape=fw.Tape()))
    assert [group.on_top for group in outline.groups] == [(), (), ()]
    assert "tape" in dict(outline.remarks)
    assert "tape" not in dict(outline_of(PLAIN).remarks)


@pytest.mark.parametrize(
    ("leaf", "words"),
    [
        (None, "NumPy or TensorFlow code"),
        ("numpy", "NumPy code"),
        ("tensorflow", "TensorFlow code"),
        ("torch", "torch code"),
        (fw.NumPyExecutor, "what NumPyExecutor makes"),
        (lambda: fw.NumPyExecutor(), "what your function makes"),
    ],
)
def test_the_leaf_is_the_one_that_was_asked_for(leaf: Any, words: str) -> None:
    assert outline_of(make(leaf=leaf)).own[-1] == LayerOutline("leaf", words)


WITH = """\
ReferenceResolving              names and functions
└─ Federating                   placements, federated_*
   ├─ SERVER × 1           ┐
   ├─ CLIENTS × n [Thread] ┤ each of them:
   └─ unplaced × 1         ┘
      ReferenceResolving        names and functions
      └─ Sequence               sequence_map, sequence_reduce
         └─ ReferenceResolving  names and functions
            └─ leaf             NumPy or TensorFlow code
n: one client per entry of the data; 3 without such data
strategy: FederatedResolvingStrategy, from 100 clients on FederatedComposingStrategy
leaf: TensorFlow runs all clients of a group in one call
[Thread]: where several clients can work side by side"""

WITHOUT = """\
ReferenceResolving        names and functions
└─ Federating             placements, federated_*
   ├─ SERVER × 1   ┐
   ├─ CLIENTS × n  ┤ each of them:
   └─ unplaced × 1 ┘
      ReferenceResolving  names and functions
      └─ (no Sequence)    sequence_map, sequence_reduce are refused
         └─ leaf          NumPy code
n: one client per entry of the data; 0 without such data
strategy: OneRoomStrategy"""


def test_text_is_a_tree() -> None:
    with_all = make(default_num_clients=3, support_sequence_ops=True)
    assert outline_of(with_all).to_text() == WITH
    small = make(strategy=OneRoomStrategy, leaf="numpy", use_threads=False)
    assert outline_of(small).to_text() == WITHOUT
    assert max(map(len, f"{WITH}\n{WITHOUT}".splitlines())) <= 88
