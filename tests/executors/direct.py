# SPDX-License-Identifier: Apache-2.0
"""Asking a federating executor directly, without a context or a compiler above it."""

from collections.abc import Callable
from typing import Any

import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import FedLearnError
from fedlearn_edu.executors.base import Executor
from tests.executors.examples import federating, run

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


def refused(work: Any, kind: type[Exception], match: str) -> str:
    """The message of an error of that builtin class, which must say all it can."""
    with pytest.raises(kind, match=match) as caught:
        run(work)
    error = caught.value
    assert isinstance(error, FedLearnError)
    assert error.expected is not None
    assert error.found is not None
    assert error.where or error.do
    text = str(error)
    assert "\n\n" not in text
    assert " at 0x" not in text
    return text
