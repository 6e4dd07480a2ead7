# SPDX-License-Identifier: Apache-2.0
"""Who takes part: pure in seed and round, and only who finished is left."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedlearn_edu.errors import FedLearnError
from fedlearn_edu.simulation import Draw, Participation, Stragglers
from fedlearn_edu.simulation.participation import ParticipationError

SIZES = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
ROUNDS = range(2000)


def invited_share(participation: Participation, sizes: list[int]) -> list[float]:
    """How often each client was invited, per round."""
    counts = np.zeros(len(sizes))
    for number in ROUNDS:
        np.add.at(counts, list(participation.draw(number, sizes).invited), 1)
    return list(counts / len(ROUNDS))


def test_everybody_takes_part_unless_told_otherwise() -> None:
    everybody = tuple(range(10))
    assert Participation().draw(0, SIZES) == Draw(everybody, everybody)


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
    participation = Participation(
        count, "uniform", replace, dropout, Stragglers(deadline), seed
    )
    draw = participation.draw(number, SIZES)
    assert len(draw.invited) == count
    assert sorted(draw.finished + draw.dropped + draw.late) == list(draw.invited)
    assert not set(draw.finished) & (set(draw.dropped) | set(draw.late))
    assert list(draw.finished) == sorted(draw.finished)
    assert replace or len(set(draw.invited)) == count
    assert participation.draw(number, np.array(SIZES)) == draw


def test_rounds_may_be_asked_for_in_any_order() -> None:
    participation = Participation(3, dropout=0.4, stragglers=Stragglers(1.0), seed=5)
    forwards = [participation.draw(number, SIZES) for number in range(20)]
    backwards = [participation.draw(number, SIZES) for number in reversed(range(20))]
    assert forwards == backwards[::-1]
    assert len(set(forwards)) > 15


def test_another_seed_is_another_draw() -> None:
    draws = {Participation(3, seed=seed).draw(0, SIZES).invited for seed in range(20)}
    assert len(draws) > 15


@pytest.mark.parametrize(
    ("count", "clients", "invited"),
    [(1, 10, 1), (1.0, 10, 10), (0.1, 100, 10), (0.1, 3, 1), (0.5, 7, 4), (7, 7, 7)],
)
def test_number_or_share_of_clients(
    count: int | float, clients: int, invited: int
) -> None:
    draw = Participation(count).draw(0, [1] * clients)
    assert len(draw.invited) == invited


def test_uniform_draws_are_fair() -> None:
    np.testing.assert_allclose(
        invited_share(Participation(3), SIZES), [0.3] * 10, atol=0.04
    )


def test_draws_by_examples_follow_the_examples() -> None:
    by_examples = Participation(1, weights="examples")
    expected = np.array(SIZES) / sum(SIZES)
    np.testing.assert_allclose(invited_share(by_examples, SIZES), expected, atol=0.03)


def test_draws_by_weight_follow_the_weights() -> None:
    by_weight = Participation(2, weights=[0, 1, 3], replace=True)
    np.testing.assert_allclose(
        invited_share(by_weight, [1, 1, 1]), [0, 0.5, 1.5], atol=0.05
    )


def test_with_replacement_a_client_may_come_twice() -> None:
    draw = Participation(50, replace=True).draw(0, SIZES)
    assert len(draw.finished) == 50
    assert len(set(draw.finished)) <= 10


def test_dropouts_are_as_frequent_as_asked_for() -> None:
    participation = Participation(dropout=0.3)
    dropped = [len(participation.draw(number, SIZES).dropped) for number in ROUNDS]
    assert np.mean(dropped) == pytest.approx(3.0, abs=0.1)


def test_whether_a_client_drops_out_depends_on_nobody_else() -> None:
    everybody = Participation(dropout=0.5).draw(3, SIZES)
    some = Participation(5, dropout=0.5).draw(3, SIZES)
    assert some.dropped == tuple(k for k in some.invited if k in everybody.dropped)


def test_nobody_finished_is_a_draw() -> None:
    assert Participation(stragglers=Stragglers(1e-6)).draw(0, [5, 5]) == Draw(
        (0, 1), (), (), (0, 1)
    )


def test_who_dropped_out_is_not_late_too() -> None:
    participation = Participation(dropout=0.5, stragglers=Stragglers(1e-6))
    draw = participation.draw(0, SIZES)
    assert draw.dropped
    assert draw.late
    assert not set(draw.dropped) & set(draw.late)


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


def test_without_spread_almost_nobody_is_late() -> None:
    strict = Participation(stragglers=Stragglers(2.0, spread=0.0))
    assert all(not strict.draw(number, [7] * 20).late for number in range(50))


def test_late_are_those_whose_time_is_over_the_deadline() -> None:
    stragglers = Stragglers(1.2, spread=0.7)
    draw = Participation(stragglers=stragglers, seed=4).draw(2, SIZES)
    times = stragglers.times(SIZES, seed=4, round_number=2)
    assert draw.late == tuple(np.flatnonzero(times > 1.2).tolist())
    assert 0 < len(draw.late) < 10


# ------------------------------------------------------------------ values and errors


def test_participation_is_a_value() -> None:
    one = Participation(3, weights=np.array([1, 2, 3]))
    assert one == Participation(3, weights=[1.0, 2.0, 3.0])
    assert hash(one) == hash(Participation(3, weights=(1.0, 2.0, 3.0)))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Participation(0), "clients_per_round"),
        (lambda: Participation(1.5), "a float: 1.5"),
        (lambda: Participation(0.0), "a float: 0.0"),
        (lambda: Participation(True), "a bool: True"),
        (lambda: Participation(float("nan")), "a float: nan"),
        (lambda: Participation(dropout=1.0), r"a number in \[0, 1\)"),
        (lambda: Participation(dropout=-0.1), "dropout"),
        (lambda: Participation(weights="size"), "'uniform', 'examples'"),
        (lambda: Participation(weights=[1, -1]), "of at least 0"),
        (lambda: Participation(weights=[1, np.nan]), "finite numbers"),
        (lambda: Participation(weights=[]), "one per client"),
        (lambda: Participation(seed=-1), "a whole number from 0 on"),
        (lambda: Participation(stragglers=1.0), "Stragglers"),  # type: ignore[arg-type]
        (lambda: Stragglers(0.0), "deadline"),
        (lambda: Stragglers(1.0, spread=-1.0), "spread"),
        (lambda: Participation(11).draw(0, SIZES), "not enough clients"),
        (lambda: Participation(11).draw(0, SIZES), "11 of 10 clients"),
        (lambda: Participation(weights=[1, 0]).draw(0, [1, 1]), "at most 1 clients"),
        (lambda: Participation(weights=[1]).draw(0, [1, 1]), "one weight for each"),
        (lambda: Participation(1, [0, 0]).draw(0, [1, 1]), "not all 0"),
        (lambda: Participation(1, "examples").draw(0, [0]), "not all 0"),
        (lambda: Participation().draw(-1, SIZES), "round_number"),
        (lambda: Participation().draw(0, []), "num_examples"),
        (lambda: Participation().draw(0, [-1]), "num_examples"),
    ],
)
def test_bad_input_says_what_is_wrong(
    wrong: Callable[[], object], message: str
) -> None:
    with pytest.raises(ParticipationError, match=message) as caught:
        wrong()
    assert isinstance(caught.value, FedLearnError)
    assert isinstance(caught.value, ValueError)
