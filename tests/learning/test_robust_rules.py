# SPDX-License-Identifier: Apache-2.0
"""Robust rules and their twins in plain NumPy, on several stacks.

The third client has no examples, and the last one sends NaN: neither takes part.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.framework import Tape
from fedlearn_edu.learning.aggregators import krum, median, multi_krum
from tests.conformance.stacks import Stack
from tests.ids import plain
from tests.learning.runs import SIZE, UPDATE, aggregated, stack_named, structured
from tests.programs import local

pytestmark = pytest.mark.tensorflow

ROWS = np.random.default_rng(3).standard_normal([9, SIZE]).astype(np.float32)
ROWS[5] *= 50  # a bad one
ROWS[8] = np.nan
WEIGHTS = [9.0, 4.0, 0.0, 14.0, 6.0, 900.0, 1.0, 2.0, 3.0]
HERE = ROWS[[0, 1, 3, 4, 5, 6, 7]]
LOCAL = stack_named("local-tensorflow-sequence")


# ---------------------------------------------------------------- twins


def least_scores(rows: Any, f: int, m: int) -> Any:
    gaps = rows[:, np.newaxis].astype(np.float64) - rows
    distances = np.sort((gaps**2).sum(axis=2), axis=1)
    scores = distances[:, 1 : len(rows) - f - 1].sum(axis=1)
    return rows[np.argsort(scores)[:m]].mean(axis=0)


def trimmed(rows: Any, share: float) -> Any:
    cut = int(share * len(rows))
    return np.sort(rows, axis=0)[cut : len(rows) - cut].mean(axis=0)


RULES: list[tuple[Any, Callable[[Any], Any]]] = [
    (median(trim=0.0), lambda rows: rows.mean(axis=0)),
    (median(trim=0.29), lambda rows: trimmed(rows, 0.29)),
    (krum(1), lambda rows: least_scores(rows, 1, 1)),
    (multi_krum(2), lambda rows: least_scores(rows, 2, len(rows) - 2)),
    (multi_krum(1, 3), lambda rows: least_scores(rows, 1, 3)),
    (multi_krum(0, len(HERE)), lambda rows: rows.mean(axis=0)),
]


@pytest.mark.parametrize(("rule", "twin"), RULES, ids=lambda x: plain(x)[:40])
def test_rule_agrees_with_its_twin(stack: Stack, rule: Any, twin: Any) -> None:
    found, state, metrics = aggregated(stack, rule, ROWS, WEIGHTS)
    np.testing.assert_allclose(found, twin(HERE), rtol=1e-5, atol=1e-6)
    assert (state, metrics) == ((), {"compared_clients": len(HERE)})


@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_median_is_that_of_numpy(stack: Stack, count: int) -> None:
    found, *_ = aggregated(stack, median(), ROWS[:count], [1.0] * count)
    finite = ROWS[: min(count, 8)]
    np.testing.assert_array_equal(found, np.median(finite, axis=0))


def test_median_of_ties_is_that_of_numpy() -> None:
    for count in (4, 6, 7):
        rows = np.random.default_rng(count).integers(0, 3, [count, SIZE])
        found, *_ = aggregated(LOCAL, median(), rows, [1.0] * count)
        np.testing.assert_array_equal(found, np.median(np.float32(rows), axis=0))


def test_share_is_not_rounded_down_by_float() -> None:
    """0.29 * 100 is a little less than 29."""
    rows = np.arange(100.0)[:, np.newaxis] ** np.arange(SIZE) / 100.0 ** np.arange(SIZE)
    found, *_ = aggregated(LOCAL, median(trim=0.29), rows, [1.0] * 100)
    np.testing.assert_allclose(found, rows[29:71].mean(axis=0), rtol=1e-5)


@pytest.mark.parametrize("clients", [[], [2, 8]], ids=["none", "none-with-examples"])
def test_update_of_a_round_without_clients_is_zero(
    stack: Stack, clients: list[int]
) -> None:
    weights = [WEIGHTS[i] for i in clients]
    for rule in (median(), median(trim=0.1), krum(1)):
        found, _, metrics = aggregated(stack, rule, ROWS[clients], weights)
        np.testing.assert_array_equal(found, np.zeros(SIZE))
        assert metrics == {"compared_clients": 0}


@pytest.mark.parametrize("rule", [krum(2), multi_krum(2)])
def test_rule_is_near_honest_clients_whatever_bad_ones_send(rule: Any) -> None:
    """The square of the last one overflows a `float32`."""
    honest = 1.0 + 0.01 * ROWS[:5]
    for far in (-1e6, 1e25, 3e38):
        rows = np.concatenate([honest, np.full([2, SIZE], far, np.float32)])
        found, *_ = aggregated(LOCAL, rule, rows, [1.0] * 7)
        assert np.abs(found - 1.0).max() < 0.05
    wide = rule(fl.to_type((np.float64, [SIZE])))
    rows = np.concatenate([honest, np.full([2, SIZE], 1e160)]).astype(np.float64)
    rows[0] += 1.0  # honest, and far from the others
    output = wide.next(wide.initialize(), list(rows), [1.0] * 7)
    assert np.abs(output.update - 1.0).max() < 0.3


# ---------------------------------------------------------------- in a process


def test_clients_work_together_before_their_updates_are_collected() -> None:
    assert median()(UPDATE).sees_single_updates
    assert "federated_collect" in median()(UPDATE).next.to_text()
    step = fl.tf_computation(lambda u: fl.tf.nest.map_structure(abs, u), UPDATE)
    made = median()(UPDATE)

    @fl.federated_computation(
        fl.type_at_clients(UPDATE), fl.type_at_clients(np.float32)
    )
    def program(updates: Any, weights: Any) -> Any:
        worked = fl.federated_map(step, updates)
        return made.next(made.initialize(), worked, weights).update

    tape = Tape()
    with local(support_sequence_ops=True, tape=tape):
        found = program(list(map(structured, ROWS)), WEIGHTS)
    np.testing.assert_array_equal(found["b"], np.median(abs(HERE), axis=0)[6:])
    assert len([event for event in tape if event.what == "batched_call"]) == 1
