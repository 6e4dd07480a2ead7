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

from examples.softmax import Client, Floats, first_weights, gradient, make_clients
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


def _in_single_examples(client: Client) -> Client:
    return [(x[i : i + 1], y[i : i + 1]) for x, y in client for i in range(len(y))]


def _trained_alone(client: Client, w: Floats) -> Floats:
    """Gradient descent on one pile of data, as if there were no federation."""
    for batch in client:
        w = w - RATE * gradient(w, batch)
    return w


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


def test_one_client_alone_is_plain_gradient_descent(stack: Stack) -> None:
    alone = _fed_avg(stack, CLIENTS[:1])
    once = _trained_alone(CLIENTS[0], first_weights())
    assert_close(alone, [once, _trained_alone(CLIENTS[0], once)])


def test_round_ends_in_the_mean_of_the_models_of_clients(stack: Stack) -> None:
    """Weighted by 9, 4, 14 and 6 examples; the server's rate is 1."""
    alone = [_fed_avg(stack, [client])[0] for client in CLIENTS if client]
    mean = np.average(alone, axis=0, weights=[9, 4, 14, 6])
    assert_close(_fed_avg(stack)[0], mean)


def test_fed_sgd_does_not_care_how_examples_are_batched(stack: Stack) -> None:
    expected = _fed_sgd(stack)
    for batched in (_in_one_batch, _in_single_examples):
        assert_close(_fed_sgd(stack, [batched(c) for c in CLIENTS]), expected)


def test_order_of_clients_changes_rounding_at_most(stack: Stack) -> None:
    other = [CLIENTS[k] for k in (3, 2, 0, 4, 1)]
    assert_close(_fed_avg(stack, other), _fed_avg(stack))
    assert_close(_fed_sgd(stack, other), _fed_sgd(stack))


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
