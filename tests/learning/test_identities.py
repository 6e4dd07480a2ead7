# SPDX-License-Identifier: Apache-2.0
"""Where two algorithms are the same one, or a law holds.

One at a time on the stack that is quickest to build; one, with client states, also on
the oracle and on stacks that fuse and nest. That all stacks agree is what
`tests/conformance` tries.

The five clients hold 9, 4, 0, 14 and 6 examples in batches of at most 4; one of them
has nothing at all, and takes part in every round nevertheless.
"""

from collections.abc import Sequence

import numpy as np
import pytest

from examples.softmax import Client, Floats, make_clients
from fedlearn_edu.learning import LearningProcess
from tests.conformance.stacks import Stack
from tests.learning.runs import (
    as_array,
    assert_close,
    process,
    rounds,
    rounds_of,
    stack_named,
)

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

CLIENTS = make_clients([9, 4, 0, 14, 6])
RATE = 0.3
NUM_ROUNDS = 2


STACKS = ("reference", "local-tensorflow-sequence", "composing-2", "stepwise")


@pytest.fixture
def stack() -> Stack:
    return stack_named("stepwise")


def _weights(
    stack: Stack, learning: LearningProcess, clients: Sequence[Client] = CLIENTS
) -> list[Floats]:
    states = rounds(stack, learning, clients, NUM_ROUNDS)
    return [as_array(state.weights) for state in states]


def _fed_avg(stack: Stack, clients: Sequence[Client] = CLIENTS) -> list[Floats]:
    return _weights(stack, process("fed_avg", client_learning_rate=RATE), clients)


def _unweighted(stack: Stack, clients: Sequence[Client] = CLIENTS) -> list[Floats]:
    alike = process("fed_avg", client_learning_rate=RATE, weighting="uniform")
    return _weights(stack, alike, clients)


def _fed_sgd(stack: Stack, clients: Sequence[Client] = CLIENTS) -> list[Floats]:
    return _weights(stack, process("fed_sgd", server_learning_rate=RATE), clients)


def _scaffold() -> LearningProcess:
    return process("scaffold", num_clients=len(CLIENTS), client_learning_rate=RATE)


def _in_one_batch(client: Client) -> Client:
    if not client:
        return client
    x, y = zip(*client, strict=True)
    return [(np.concatenate(x), np.concatenate(y))]


# ---------------------------------------------------------------- same algorithms


def test_fed_avg_with_one_full_batch_is_fed_sgd(stack: Stack) -> None:
    """One step per client: averaging models is averaging gradients."""
    whole = [_in_one_batch(client) for client in CLIENTS]
    assert_close(_fed_avg(stack, whole), _fed_sgd(stack))


def test_fed_prox_that_does_not_pull_is_fed_avg(stack: Stack) -> None:
    free = process("fed_prox", client_learning_rate=RATE, proximal_strength=0.0)
    assert_close(_weights(stack, free), _fed_avg(stack))


def test_fed_avg_m_without_momentum_is_fed_avg(stack: Stack) -> None:
    lazy = process("fed_avg_m", client_learning_rate=RATE, momentum=0.0)
    assert_close(_weights(stack, lazy), _fed_avg(stack))


@pytest.mark.parametrize("name", STACKS)
def test_scaffold_begins_as_unweighted_fed_avg(name: str) -> None:
    """While all variates are zero; from the second round on, they are not."""
    stack = stack_named(name)
    corrected, plain = _weights(stack, _scaffold()), _unweighted(stack)
    assert_close(corrected[0], plain[0])
    assert np.abs(corrected[1] - plain[1]).max() > 1e-3


# ---------------------------------------------------------------- what a round is


def test_client_without_batches_weighs_nothing(stack: Stack) -> None:
    """Neither by its examples nor as one of many."""
    others = [client for client in CLIENTS if client]
    assert_close(_fed_avg(stack), _fed_avg(stack, others))
    assert_close(_fed_sgd(stack), _fed_sgd(stack, others))
    assert_close(_unweighted(stack), _unweighted(stack, others))


# ---------------------------------------------------------------- variates


def test_variate_of_the_server_is_the_mean_of_all(stack: Stack) -> None:
    """As long as everybody takes part, or sits out with a variate of zero."""
    for state, kept in rounds_of(stack, _scaffold(), CLIENTS, [range(5)] * NUM_ROUNDS):
        variates = [as_array(each) for each in kept]
        assert_close(as_array(state.variate), np.mean(variates, axis=0))
        assert np.abs(variates[0]).max() > 1e-2
        assert_close(variates[2], np.zeros_like(variates[2]))
