# SPDX-License-Identifier: Apache-2.0
"""Notebooks show executors built by hand, factories and contexts as drawings."""

from typing import Any

import fedlearn_edu as fl
from fedlearn_edu.viz.executors import (
    Layer,
    draw_context,
    draw_custom,
    draw_executor,
    draw_factory,
    layer_of,
)
from tests.extension.own_strategy import OneRoomStrategy
from tests.viz.html_reader import check_html

fw = fl.framework
NUMPY = Layer("NumPyExecutor", "Runs NumPy leaf code on plain data.")
NAMES = "Interprets names, functions, blocks, calls and structures."
PARTICIPANT = Layer("ReferenceResolvingExecutor", NAMES, (("target", 1, NUMPY),))


def participant() -> Any:
    return fw.ReferenceResolvingExecutor(fw.NumPyExecutor())


def by_hand(num_clients: int) -> Any:
    targets: dict[Any, Any] = {  # the server is drawn first nevertheless
        fl.CLIENTS: [participant() for _ in range(num_clients)],
        fl.SERVER: participant(),
    }
    strategy = fw.FederatedResolvingStrategy.factory(targets)
    return fw.FederatingExecutor(strategy, participant())


def test_what_an_executor_holds_is_below_it() -> None:
    assert layer_of(participant()) == PARTICIPANT
    layer = layer_of(by_hand(3))
    assert layer.name == "FederatingExecutor"
    assert layer.below == (
        ("SERVER", 1, PARTICIPANT),
        ("CLIENTS", 3, PARTICIPANT),
        ("unplaced", 1, PARTICIPANT),
    )


def test_groups_of_clients_are_seen_through() -> None:
    stack = fw.local_executor_factory(max_fanout=3).create_executor({fl.CLIENTS: 7})
    ((_, _, federating),) = layer_of(stack).below
    assert [(word, count) for word, count, _ in federating.below] == [
        ("SERVER", 1),
        ("group of clients", 2),
        ("group of clients", 1),
        ("unplaced", 1),
    ]


def test_clients_are_one_pile() -> None:
    reader = check_html(draw_executor(by_hand(100)))
    assert "CLIENTS × 100" in reader.text
    assert reader.tags["li"] == 3
    assert draw_executor(by_hand(100)).count("box-shadow") == 1
    assert "box-shadow" not in draw_executor(by_hand(1))


def test_executors_and_strategies_of_your_own_are_shown() -> None:
    strategy = OneRoomStrategy.factory({fl.SERVER: participant(), fl.CLIENTS: []})
    layer = layer_of(fw.FederatingExecutor(strategy, participant()))
    assert [(count, held) for _, count, held in layer.below] == [
        (1, PARTICIPANT),
        (1, PARTICIPANT),
    ]

    class Mine(fw.NumPyExecutor):  # type: ignore[misc]
        """Does <nothing> new.

        And this is not shown.
        """

        def __init__(self) -> None:
            self.itself = self

    assert layer_of(Mine()) == Layer("Mine", "Does <nothing> new.")
    assert "Mine Does <nothing> new." in check_html(draw_executor(Mine())).text


def test_factories_and_contexts_show_the_stacks_they_build() -> None:
    factory = fw.local_executor_factory()
    text = check_html(draw_factory(factory)).text
    assert text.startswith("Executor factory, sequence operators: no")
    waiting = check_html(draw_context(fw.SyncExecutionContext(factory))).text
    awaited = check_html(draw_context(fw.AsyncExecutionContext(factory))).text
    same = text.removeprefix("Executor factory")
    assert waiting == f"Context that waits for results{same}"
    assert awaited == f"Context that is awaited{same}"


def test_of_a_factory_built_by_hand_its_intrinsics_are_said() -> None:
    factory = fw.CustomExecutorFactory(lambda _: by_hand(1), ["federated_map"])
    assert check_html(draw_custom(factory)).text == (
        "Executor factory, built by hand: CustomExecutorFactory"
        "implements federated_map; others are expanded"
    )
    context = check_html(draw_context(fw.SyncExecutionContext(factory))).text
    assert context.startswith("Context that waits for results, built by hand")
