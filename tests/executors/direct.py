# SPDX-License-Identifier: Apache-2.0
"""Asking a federating executor directly, without a context or a compiler above it."""

from collections.abc import Callable
from typing import Any

import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import FedLearnError
from fedlearn_edu.executors.base import Executor
from fedlearn_edu.framework import Handle
from tests.executors.examples import Plain, federating, run

fw = fl.framework

Leaf = Callable[[], Executor]


def federated(clients: int = 2, *, leaf: Leaf = fw.NumPyExecutor) -> Any:
    """The older form, over one resolving stack for everybody's work."""
    targets: Any = {
        fl.SERVER: fw.ReferenceResolvingExecutor(leaf()),
        fl.CLIENTS: [fw.ReferenceResolvingExecutor(leaf()) for _ in range(clients)],
        None: fw.ReferenceResolvingExecutor(leaf()),
    }
    return fw.FederatedExecutor(targets)


def with_sequences(leaf: Leaf) -> Executor:
    """A participant that also runs `sequence_*`."""
    below = fw.SequenceExecutor(fw.ReferenceResolvingExecutor(leaf()))
    return fw.ReferenceResolvingExecutor(below)


def composed(clients: int = 2, *, leaf: Leaf = fw.NumPyExecutor) -> Any:
    """A server above a child for the first client, and one for all others."""
    counts = [1, clients - 1]
    children = [federating(count, leaf=leaf) for count in counts]
    strategy = fw.FederatedComposingStrategy.factory(
        with_sequences(leaf), children, counts
    )
    return fw.FederatingExecutor(strategy, with_sequences(leaf))


FLAT = {"FederatingExecutor": federating, "FederatedExecutor": federated}


async def called(executor: Any, fn: Any, *arguments: Any) -> Any:
    """Calls on what `fn` and the arguments, pairs of value and type, become."""
    values = [await executor.create_value(*argument) for argument in arguments]
    arg = await executor.create_struct(values) if len(values) > 1 else None
    if len(values) == 1:
        [arg] = values
    return await (
        await executor.create_call(await executor.create_value(*fn), arg)
    ).compute()


def told_by_both(work: Callable[[Any], Any]) -> None:
    """Raises the error that this work ends with: the same for both, but for a name."""
    told = []
    for make in FLAT.values():
        with pytest.raises(FedLearnError) as caught:
            run(work(make()))
        told.append(caught.value)
    first, second = map(str, told)
    assert first == second.replace("FederatedExecutor", "FederatingExecutor")
    raise told[0]


def embedded(value: Any, type_: Any) -> None:
    """Embeds the value in both forms."""
    told_by_both(lambda executor: executor.create_value(value, type_))


class Twofold(Plain):
    """Represents a structure by two words."""

    @fw.implements("federated_value")
    async def _value(self, type_: Any, value: Handle) -> Any:
        return ("one", "two")
