# SPDX-License-Identifier: Apache-2.0
"""Epsilon beside published figures and closed forms; runs that stop at a budget."""

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedlearn_edu import learning
from fedlearn_edu.learning import Checkpoints, run
from fedlearn_edu.learning.accounting import (
    FixedSize,
    calibrate,
    composed,
    epsilon,
    epsilon_by_round,
)
from fedlearn_edu.learning.aggregators import GaussianMechanism, gaussian
from fedlearn_edu.learning.errors import RunError
from fedlearn_edu.learning.history import History
from fedlearn_edu.simulation import ClientSampling
from tests.learning.small import NOISY, POISSON, small_data, spend
from tests.programs import in_another_process

DATA = small_data(6)
LOUD = replace(NOISY, mechanism=GaussianMechanism(0.5, 1.0, 3.0))


# ------------------------------------------------------------------ figures


@pytest.mark.parametrize(
    ("probability", "noise", "rounds", "delta", "expected"),
    [  # what dp-accounting's own PLDAccountant says, on a grid of 1e-4
        (1.0, 1.0, 1, 1e-5, 4.3772),
        (1.0, 5.0, 100, 1e-5, 9.9973),
        (0.01, 1.0, 1000, 1e-5, 1.8282),
        (0.1, 1.0, 100, 1e-5, 7.0466),
        (0.1, 2.0, 100, 1e-3, 1.5439),
        (0.05, 1.1, 200, 1e-3, 2.6246),
        (0.1, 1.0, 50, 1e-3, 3.3139),
        (0.1, 50.0, 100, 1e-3, 0.02527),
        (0.001, 1.0, 10_000, 1e-6, 0.55514),
        (0.1, 0.2, 100, 1e-3, 215.838),
    ],
)
def test_poisson_sampling_and_everybody_cost_what_the_library_says(
    probability: float, noise: float, rounds: int, delta: float, expected: float
) -> None:
    found = epsilon(noise, probability, rounds, delta)
    assert found == pytest.approx(expected, rel=1e-3)
    assert found >= expected * (1 - 2e-5)  # never too small


@pytest.mark.parametrize(
    ("count", "clients", "rounds", "expected"),
    [(10, 100, 100, 10.8154), (100, 1000, 50, 7.1251)],
)
def test_fixed_cohorts_cost_what_the_library_says_of_half_the_noise(
    count: int, clients: int, rounds: int, expected: float
) -> None:
    """A client that is replaced moves the sum by twice the clipping norm."""
    found = epsilon(2.0, FixedSize(count, clients), rounds, 1e-3)
    assert found == pytest.approx(expected, rel=1e-4)


def test_a_fixed_cohort_of_all_is_everybody_who_may_be_replaced() -> None:
    """Two neighbors are 2·clip apart: the exact Gaussian mechanism with half of z."""
    assert epsilon(3.0, FixedSize(9, 9), 4, 1e-4) == epsilon(1.5, 1.0, 4, 1e-4)


def test_rounds_of_several_kinds_cost_what_the_library_says() -> None:
    """Sums with noises z are one with 1 / √Σ z⁻²; samples, its own composition."""
    z = (4 * 0.5**-2 + 9 * 2.0**-2) ** -0.5
    everybody = composed([(0.5, 1.0, 4), (2.0, 1.0, 9)], 1e-4)
    assert everybody == pytest.approx(epsilon(z, 1.0, 1, 1e-4), rel=1e-9)
    found = composed([(0.8, 0.1, 5), (2.0, 0.5, 20), (3.0, 1.0, 2), (50, 0.5, 3)], 1e-4)
    expected = 5.81113  # PLDAccountant on a grid of 1e-4
    assert found == pytest.approx(expected, rel=1e-3)
    assert found >= expected * (1 - 2e-5)
    fixed = composed([(1.0, FixedSize(3, 30), 4), (2.0, FixedSize(9, 30), 5)], 1e-3)
    assert fixed > epsilon(1.0, FixedSize(3, 30), 4, 1e-3)


@pytest.mark.parametrize("noise", [1e7, 1e300, 10**400])
@pytest.mark.parametrize("sampling", [1.0, 0.1, 1 - 1e-16, FixedSize(3, 10)])
def test_noise_without_end_costs_next_to_nothing(noise: Any, sampling: Any) -> None:
    assert 0 <= epsilon(noise, sampling, 100, 1e-5) < 1e-3


@pytest.mark.parametrize("sampling", [1.0, 0.2, FixedSize(5, 50)])
def test_epsilon_grows_with_rounds_and_falls_with_noise(sampling: Any) -> None:
    curve = epsilon_by_round(GaussianMechanism(1.5, 1, 9), sampling, 4, 1e-3)
    assert (np.diff(curve) > 0).all()
    assert curve[-1] == epsilon(1.5, sampling, 4, 1e-3) > epsilon(2, sampling, 4, 1e-3)
    assert epsilon(1.5, sampling, 0, 1e-3) == 0


@pytest.mark.parametrize(
    ("sampling", "limit"), [(0.1, 2.0), (FixedSize(10, 100), 8.0), (1.0, 0.001)]
)
def test_calibrated_noise_is_just_enough(sampling: Any, limit: float) -> None:
    noise = calibrate(limit, 1e-3, sampling, rounds=20)
    assert epsilon(noise, sampling, 20, 1e-3) <= limit
    assert epsilon(0.999 * noise, sampling, 20, 1e-3) > limit


def test_the_log_of_the_library_is_not_seen(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        epsilon(0.37, FixedSize(3, 30), 2, 1e-3)
        logging.getLogger("absl").warning("of somebody else")
    assert [record.message for record in caplog.records] == ["of somebody else"]


def test_without_the_library_it_says_what_to_install() -> None:
    program = """
import sys; sys.modules["dp_accounting"] = None
from fedlearn_edu import learning
try:
    learning.accounting.epsilon(1.0, 0.1, 10, 1e-3)
except ImportError as error:
    print(type(error).__name__, error.do, error, sep="; ")
"""
    said = in_another_process(program)
    assert said.startswith("MissingAccountantError; pip install dp-accounting; ")
    assert "which is not installed" in said


# ------------------------------------------------------------------ budgets


def test_a_run_stops_before_the_round_that_would_exceed_the_budget() -> None:
    curve = epsilon_by_round(2.0, 0.5, 6, 1e-3)
    limit = float(curve[3] + curve[4]) / 2
    learned = spend((limit, 1e-3))
    np.testing.assert_array_equal(learned.history["epsilon"], curve[:4])
    expected = f"round 5 would spend epsilon {curve[4]:.4g} of the budget of {limit:g}"
    assert str(learned.stopped).startswith(expected)
    assert spend((float(curve[5]), 1e-3)).stopped is None


def test_what_is_spent_already_stops_at_once_or_is_refused() -> None:
    start = spend(None, rounds=3)
    after = [epsilon(2.0, 0.5, number, 1e-3) for number in (3, 4)]
    at_once = spend(((after[0] + after[1]) / 2, 1e-3), start=start)
    assert at_once.rounds == 3
    assert "round 4 would spend" in str(at_once.stopped)
    with pytest.raises(RunError, match="spent already") as caught:
        spend((0.99 * after[0], 1e-3), start=start)
    assert "after 3 rounds" in str(caught.value)


def test_a_history_of_no_budget_has_the_same_rows_but_epsilon() -> None:
    start = spend(None, rounds=2)
    told = spend((50.0, 1e-3), rounds=2, start=start)
    rows = [dict(row) for row in told.history]
    assert [row.pop("epsilon") for row in rows] == [*epsilon_by_round(2, 0.5, 2, 1e-3)]
    assert History.of(rows).rows == start.history.rows


SAMPLINGS: list[tuple[Any, Any, tuple[Any, ...]]] = [
    (POISSON, 0.5, ()),
    (ClientSampling(probability=0.25, dropout=0.5), 0.25, ()),
    (None, 1.0, ()),
    (ClientSampling(count=2), FixedSize(2, 6), ("replace_one",)),
    (ClientSampling(fraction=1.0), FixedSize(6, 6), ("replace_one",)),
]


@pytest.mark.parametrize(("how", "sampling", "adjacency"), SAMPLINGS)
@pytest.mark.parametrize("before", [None, 1e-2])
def test_earlier_rounds_cost_what_they_did_when_they_were_made(
    how: Any, sampling: Any, adjacency: tuple[Any, ...], before: Any, tmp_path: Path
) -> None:
    """Another noise, another sampling, another delta; with a budget or without."""
    budget, saved = (1e4, 1e-3, *adjacency), Checkpoints(tmp_path)
    start = spend(before and (1e4, before, *adjacency), 2, how, LOUD)
    now = ClientSampling(count=3) if adjacency else POISSON
    spend(budget, 3, now, start=start, checkpoints=saved)
    learned = spend(budget, 4, now, checkpoints=saved)
    last = FixedSize(3, 6) if adjacency else 0.5
    expected = [
        composed([(0.5, sampling, min(n, 2)), (2.0, last, max(n - 2, 0))], 1e-3)
        for n in range(1, 5)
    ]
    np.testing.assert_array_equal(learned.history["epsilon"], expected)
    with pytest.raises(RunError, match="spent already"):
        spend((0.99 * expected[1], 1e-3, *adjacency), 4, now, start=start)


def test_a_fixed_cohort_is_taken_when_it_is_meant() -> None:
    learned = spend((50.0, 1e-3, "replace_one"), how=ClientSampling(count=3, seed=1))
    assert learned.history["epsilon"][-1] == epsilon(2.0, FixedSize(3, 6), 6, 1e-3)
    everybody = ClientSampling(fraction=1.0)
    cost = spend((50.0, 1e-3), 1, everybody).history["epsilon"][0]
    assert cost == epsilon(2.0, 1.0, 1, 1e-3)


@pytest.mark.tensorflow
def test_a_round_that_nobody_came_to_adds_its_noise() -> None:
    noise = gaussian(clip=1.0, noise_multiplier=2.0, expected_clients=4)
    model = learning.models.softmax_regression(features=3, classes=2)
    process = learning.build_fed_avg(model, aggregator=noise)
    nobody = ClientSampling(probability=1e-9)
    learned = run(process, DATA, 2, batch_size=5, client_sampling=nobody)
    assert learned.history["clients"].tolist() == [0, 0]
    assert learned.state.round_number == 2
    drawn = noise(model.weights_type)
    state, total = drawn.initialize(), 0.0
    zero = model.initialize(0)
    for _ in range(2):
        state, update, _ = drawn.next(state, [zero], [0.0])
        total = total + update["weights"]
    np.testing.assert_allclose(learned.weights["weights"], total, rtol=1e-6)
    assert np.abs(total).min() > 0
