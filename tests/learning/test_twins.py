# SPDX-License-Identifier: Apache-2.0
"""Library and twin agree: the twins are plain loops in float64 that share no code.

The clients hold unequal numbers of examples, in batches of at most 4. Two of them have
batches of nothing, which are no steps, and one has nothing at all, takes part in every
round and weighs nothing. Most runs are step by step, where a new process costs no
tracing of whole rounds; two, the one with a correction and the one with most moments,
run in the default context too, where a round is one graph.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from examples import (
    fed_adagrad,
    fed_adam,
    fed_avg,
    fed_avg_m,
    fed_prox,
    fed_sgd,
    fed_yogi,
    federated_evaluation,
    scaffold,
)
from examples.softmax import FEATURES, Floats, count_examples, count_once, make_clients
from fedlearn_edu.language.context_stack import current_context
from tests.conformance.stacks import Stack
from tests.learning.runs import (
    as_array,
    as_data,
    assert_close,
    model,
    process,
    rounds,
    rounds_of,
    stack_named,
)

pytestmark = pytest.mark.tensorflow

NOTHING = (np.zeros([0, FEATURES], np.float32), np.zeros([0], np.int32))
FILLED = make_clients([9, 4, 14, 6])
LAST = [FILLED[3][0], NOTHING, FILLED[3][1]]
CLIENTS = [[NOTHING, *FILLED[0]], *FILLED[1:3], LAST, []]
STEP_BY_STEP = stack_named("stepwise")
DEFAULT = Stack("default", current_context)
NUM_ROUNDS = 4

Twin = Callable[..., Iterator[Floats]]
WEIGH = {"examples": count_examples, "uniform": count_once}

# Far from the defaults, so that a number which is not passed on is seen.
RATES = {"client_learning_rate": 0.3, "server_learning_rate": 0.7}
SMALL_RATES = {"client_learning_rate": 0.3, "server_learning_rate": 0.05}
AVERAGING: dict[str, tuple[Twin, dict[str, float]]] = {
    "fed_avg": (fed_avg.rounds, RATES),
    "fed_prox": (fed_prox.rounds, RATES | {"proximal_strength": 0.5}),
    "fed_avg_m": (fed_avg_m.rounds, RATES | {"momentum": 0.6}),
    "fed_adagrad": (fed_adagrad.rounds, SMALL_RATES | {"epsilon": 0.01}),
    "fed_adam": (fed_adam.rounds, SMALL_RATES | {"epsilon": 0.01}),
    "fed_yogi": (fed_yogi.rounds, SMALL_RATES | {"epsilon": 0.01}),
}


def _compare(
    stack: Stack, algorithm: str, weighting: str = "uniform", local_epochs: int = 3
) -> None:
    twin, settings = AVERAGING[algorithm]
    passes: dict[str, Any] = {**settings, "local_epochs": local_epochs}
    ours = process(algorithm, **passes, weighting=weighting)
    states = rounds(stack, ours, CLIENTS, NUM_ROUNDS)
    theirs = list(twin(CLIENTS, NUM_ROUNDS, **passes, weigh=WEIGH[weighting]))
    assert_close([as_array(state.weights) for state in states], theirs)


@pytest.mark.parametrize(
    ("weighting", "local_epochs"), [("examples", 1), ("uniform", 3)]
)
@pytest.mark.parametrize("algorithm", AVERAGING)
def test_library_agrees_with_twin(
    algorithm: str, weighting: str, local_epochs: int
) -> None:
    _compare(STEP_BY_STEP, algorithm, weighting, local_epochs)


def test_twins_do_not_see_batches_of_nothing() -> None:
    for twin in (*(each for each, _ in AVERAGING.values()), fed_sgd.rounds):
        assert_close(list(twin(CLIENTS, 2)), list(twin(FILLED, 2)))


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", ["fed_prox", "fed_yogi"])
def test_library_agrees_with_twin_in_the_default_context(algorithm: str) -> None:
    _compare(DEFAULT, algorithm)


@pytest.mark.parametrize("algorithm", AVERAGING)
def test_defaults_are_those_of_the_twin(algorithm: str) -> None:
    twin, _ = AVERAGING[algorithm]
    [state] = rounds(STEP_BY_STEP, process(algorithm), CLIENTS, 1)
    [expected] = twin(CLIENTS, 1)
    assert_close(as_array(state.weights), expected)


@pytest.mark.parametrize("name", ["adam", "yogi"])
def test_betas_of_ones_own_are_those_of_the_twin(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    twin: Any = {"adam": fed_adam, "yogi": fed_yogi}[name]
    monkeypatch.setattr(twin, "BETA_1", 0.8)
    monkeypatch.setattr(twin, "BETA_2", 0.95)
    at_server = getattr(fl.learning.optimizers, f"build_{name}")(0.01, 0.8, 0.95)
    at_clients = fl.learning.optimizers.build_sgd(0.1)
    ours = fl.learning.build_fed_opt(model(), at_clients, at_server)
    states = rounds(STEP_BY_STEP, ours, CLIENTS, 3)
    assert_close([as_array(s.weights) for s in states], list(twin.rounds(CLIENTS, 3)))


@pytest.mark.parametrize("stack", [STEP_BY_STEP, DEFAULT], ids=lambda s: s.name)
def test_fed_sgd_agrees_with_its_twin(stack: Stack) -> None:
    states = rounds(stack, process("fed_sgd", server_learning_rate=0.8), CLIENTS, 4)
    expected = list(fed_sgd.rounds(CLIENTS, 4, server_learning_rate=0.8))
    assert_close([as_array(state.weights) for state in states], expected)


@pytest.mark.parametrize("stack", [STEP_BY_STEP, DEFAULT], ids=lambda s: s.name)
def test_fed_avg_agrees_where_the_rate_of_clients_decays(stack: Stack) -> None:
    rate = fl.learning.optimizers.exponential_decay(0.4, 0.5)
    states = rounds(stack, process("fed_avg", client_learning_rate=rate), CLIENTS, 4)
    expected = list(fed_avg.rounds(CLIENTS, 4, client_learning_rate=0.4, decay=0.5))
    assert_close([as_array(state.weights) for state in states], expected)


# ---------------------------------------------------------------- SCAFFOLD

EVERYBODY = [[0, 1, 2, 3, 4]] * NUM_ROUNDS
# Somebody waits for two rounds, somebody comes late, and the order changes.
SOME = [[0, 1], [2, 0, 4], [1, 3], [3, 2], [0, 3]]


@pytest.mark.parametrize(
    ("stack", "cohorts", "local_epochs", "decay"),
    [
        pytest.param(STEP_BY_STEP, EVERYBODY, 1, 1.0, id="everybody"),
        pytest.param(STEP_BY_STEP, SOME, 1, 1.0, id="some"),
        pytest.param(STEP_BY_STEP, SOME, 3, 1.0, id="some, three epochs"),
        pytest.param(STEP_BY_STEP, SOME, 1, 0.5, id="some, decaying rate"),
        pytest.param(DEFAULT, SOME, 3, 0.5, id="default"),
        pytest.param(stack_named("reference"), SOME, 1, 1.0, id="reference"),
        pytest.param(stack_named("composing-2"), SOME, 1, 1.0, id="hierarchy"),
    ],
)
def test_scaffold_agrees_with_its_twin(
    stack: Stack, cohorts: list[list[int]], local_epochs: int, decay: float
) -> None:
    """Weights, the server's variate, and what each client keeps while it waits."""
    rate = fl.learning.optimizers.exponential_decay(0.3, decay) if decay < 1 else 0.3
    ours = process(
        "scaffold",
        num_clients=len(CLIENTS),
        client_learning_rate=rate,
        server_learning_rate=0.7,
        local_epochs=local_epochs,
    )
    theirs = scaffold.rounds(CLIENTS, cohorts, 0.3, 0.7, local_epochs, decay)
    found = rounds_of(stack, ours, CLIENTS, cohorts)
    for (state, kept), (w, c, c_k) in zip(found, theirs, strict=True):
        assert_close(as_array(state.weights), w)
        assert_close(as_array(state.aggregator), c)
        assert_close([as_array(each) for each in kept], c_k)


# ---------------------------------------------------------------- evaluation


@pytest.mark.parametrize("num_rounds", [1, 6])
def test_evaluation_agrees_with_its_twin(num_rounds: int) -> None:
    *_, w = fed_avg.rounds(CLIENTS, num_rounds)
    judge = fl.learning.build_federated_evaluation(model())
    weights = {"weights": np.float32(w[:-1]), "bias": np.float32(w[-1])}
    judged = CLIENTS[:-1]  # the twin leaves nobody out of a mean over clients
    found = judge(weights, [as_data(client) for client in judged])
    expected = federated_evaluation.evaluate(w, judged)
    for name, average in expected.items():
        np.testing.assert_allclose(
            getattr(found, name), average, rtol=1e-5, err_msg=name
        )
