# SPDX-License-Identifier: Apache-2.0
"""Who takes part: pure in seed and round, and only who finished is left."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedlearn_edu.simulation import ClientSampling, Cohort, Stragglers

SIZES = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
ROUNDS = range(2000)


def invited_share(sampling: ClientSampling, sizes: list[int]) -> list[float]:
    """How often each client was invited, per round."""
    counts = np.zeros(len(sizes))
    for number in ROUNDS:
        np.add.at(counts, list(sampling.draw(number, sizes).invited), 1)
    return list(counts / len(ROUNDS))


def test_everybody_takes_part_unless_told_otherwise() -> None:
    everybody = tuple(range(10))
    assert ClientSampling().draw(0, SIZES) == Cohort(everybody, everybody)


@given(
    count=st.integers(1, 10),
    replace=st.booleans(),
    dropout=st.floats(0, 0.9),
    deadline=st.floats(0.1, 3.0),
    seed=st.integers(0, 2**40),
    number=st.integers(0, 100),
)
def test_every_invited_client_finishes_drops_out_or_is_late(
    count: int, replace: bool, dropout: float, deadline: float, seed: int, number: int
) -> None:
    sampling = ClientSampling(
        count=count,
        replace=replace,
        dropout=dropout,
        stragglers=Stragglers(deadline),
        seed=seed,
    )
    cohort = sampling.draw(number, SIZES)
    assert len(cohort.invited) == count
    became = cohort.finished + cohort.dropped + cohort.late
    assert sorted(became) == list(cohort.invited)
    assert not set(cohort.finished) & (set(cohort.dropped) | set(cohort.late))
    assert list(cohort.finished) == sorted(cohort.finished)
    assert replace or len(set(cohort.invited)) == count
    assert sampling.draw(number, np.array(SIZES)) == cohort


def test_another_seed_is_another_draw() -> None:
    samplings = [ClientSampling(count=3, seed=seed) for seed in range(20)]
    draws = {sampling.draw(0, SIZES).invited for sampling in samplings}
    assert len(draws) > 15


@pytest.mark.parametrize(
    ("sampling", "clients", "invited"),
    [
        (ClientSampling(count=1), 10, 1),
        (ClientSampling(fraction=1), 10, 10),
        (ClientSampling(fraction=0.1), 100, 10),
        (ClientSampling(fraction=0.1), 3, 1),
        (ClientSampling(fraction=0.5), 7, 4),
        (ClientSampling(count=7), 7, 7),
    ],
)
def test_count_or_fraction_of_clients(
    sampling: ClientSampling, clients: int, invited: int
) -> None:
    cohort = sampling.draw(0, [1] * clients)
    assert len(cohort.invited) == invited


def test_with_a_probability_clients_take_part_independently_of_each_other() -> None:
    poisson = ClientSampling(probability=0.2, seed=2)
    np.testing.assert_allclose(invited_share(poisson, SIZES), [0.2] * 10, atol=0.03)
    counts = [len(poisson.draw(number, SIZES).invited) for number in ROUNDS]
    assert np.var(counts) == pytest.approx(10 * 0.2 * 0.8, rel=0.1)
    assert counts.count(0) / len(ROUNDS) == pytest.approx(0.8**10, abs=0.02)
    assert poisson.cohort_size(10) is None


@pytest.mark.parametrize(
    ("how", "sizes", "expected"),
    [
        ({"count": 3}, SIZES, [0.3] * 10),
        ({"count": 1, "weights": "examples"}, SIZES, np.array(SIZES) / sum(SIZES)),
        ({"count": 2, "weights": [0, 1, 3], "replace": True}, [1] * 3, [0, 0.5, 1.5]),
    ],
)
def test_draws_follow_the_weights(how: Any, sizes: list[int], expected: Any) -> None:
    found = invited_share(ClientSampling(**how), sizes)
    np.testing.assert_allclose(found, expected, atol=0.03)


def test_dropouts_are_as_frequent_as_asked_for() -> None:
    sampling = ClientSampling(dropout=0.3)
    dropped = [len(sampling.draw(number, SIZES).dropped) for number in ROUNDS]
    assert np.mean(dropped) == pytest.approx(3.0, abs=0.1)


def test_whether_a_client_drops_out_depends_on_nobody_else() -> None:
    everybody = ClientSampling(dropout=0.5).draw(3, SIZES)
    some = ClientSampling(count=5, dropout=0.5).draw(3, SIZES)
    assert some.dropped == tuple(k for k in some.invited if k in everybody.dropped)


# ------------------------------------------------------------------ stragglers


def test_who_has_more_to_do_takes_longer() -> None:
    times = Stragglers(1.0, spread=0.0).times([10, 20, 30], seed=0, round_number=0)
    work = times / np.array([0.5, 1.0, 1.5])
    np.testing.assert_allclose(work, 1.0, atol=0.4)  # the jitter


def test_pace_belongs_to_the_client_and_jitter_to_the_round() -> None:
    stragglers, sizes = Stragglers(1.0, spread=1.0), [10] * 50
    first, second = (stragglers.times(sizes, 0, number) for number in (0, 1))
    ratio = np.log(first / second)
    assert 0.05 < ratio.std() < 0.3
    assert np.corrcoef(np.log(first), np.log(second))[0, 1] > 0.95
    assert np.log(first).std() == pytest.approx(1.0, abs=0.3)


def test_late_are_those_whose_time_is_over_the_deadline() -> None:
    stragglers = Stragglers(1.2, spread=0.7)
    cohort = ClientSampling(stragglers=stragglers, seed=4).draw(2, SIZES)
    times = stragglers.times(SIZES, seed=4, round_number=2)
    assert cohort.late == tuple(np.flatnonzero(times > 1.2).tolist())
    assert 0 < len(cohort.late) < 10


# ------------------------------------------------------------------ values and errors


def test_sampling_is_a_value() -> None:
    assert "probability" not in repr(ClientSampling(count=3))  # as old checkpoints say
    one = ClientSampling(count=3, weights=np.array([1, 2, 3]))
    assert one == ClientSampling(count=3, weights=[1.0, 2.0, 3.0])
    assert hash(one) == hash(ClientSampling(count=3, weights=(1.0, 2.0, 3.0)))


def test_one_field_of_a_sampling_is_replaced() -> None:
    assert replace(ClientSampling(count=3), seed=1) == ClientSampling(count=3, seed=1)
    assert not hasattr(ClientSampling(), "clients_per_round")
