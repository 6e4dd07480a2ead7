# SPDX-License-Identifier: Apache-2.0
"""Compressed updates: what the server reads of them, and how many bytes they are."""

from typing import Any

import numpy as np
import pytest

from fedlearn_edu.executors.traffic import TO_SERVER, bytes_by_edge
from fedlearn_edu.framework import Tape
from fedlearn_edu.learning.aggregators import quantize, top_k
from tests.conformance.stacks import Stack
from tests.learning.runs import SIZE, UPDATE, aggregated, call, stack_named, structured
from tests.programs import local

pytestmark = pytest.mark.tensorflow

ROWS = np.random.default_rng(4).standard_normal([5, SIZE]).astype(np.float32)
ROWS[1, 3] = 0.0
WEIGHTS = [9.0, 4.0, 0.0, 14.0, 6.0]
LOCAL = stack_named("local-tensorflow-sequence")


def weighted(rows: Any) -> Any:
    return np.average(rows, axis=0, weights=WEIGHTS)


def sparse(rows: Any, k: int) -> Any:
    """Only the k largest numbers of each row."""
    least = np.sort(abs(rows), axis=1)[:, -k, np.newaxis]
    return np.where(abs(rows) >= least, rows, 0)


def levels(rows: Any, bits: int) -> Any:
    """What one level is worth, for each number: both tensors have a scale."""
    scales = [abs(part).max(axis=1, keepdims=True) for part in np.split(rows, [6], 1)]
    worth = np.concatenate([np.repeat(scales[0], 6, 1), np.repeat(scales[1], 2, 1)], 1)
    return worth / (2 ** (bits - 1) - 1)


# ---------------------------------------------------------------- laws


def test_sparse_updates_agree_with_their_twin(stack: Stack) -> None:
    for share, k in ((0.3, 3), (0.01, 1)):
        found, state, metrics = aggregated(stack, top_k(share), ROWS, WEIGHTS)
        np.testing.assert_allclose(found, weighted(sparse(ROWS, k)), atol=1e-6)
        sizes = {"sent_bytes_per_client": 8 * k, "full_bytes_per_client": 32}
        assert (state, metrics) == ((), sizes)
    found, *_ = aggregated(stack, top_k(1.0), ROWS, WEIGHTS)
    np.testing.assert_allclose(found, weighted(ROWS), atol=1e-6)


def test_number_sent_is_not_rounded_up_by_float_and_nan_is_among_them() -> None:
    """0.07 * 100 is a little more than 7."""
    made = top_k(0.07)((np.float32, [100]))
    row = np.linspace(1.0, 9.0, 100, dtype=np.float32)
    row[2] = np.nan
    output = made.next(made.initialize(), [row], [1.0])
    assert np.nonzero(output.update)[0].tolist() == [2, *range(94, 100)]
    assert output.metrics["sent_bytes_per_client"] == 7 * 8


@pytest.mark.parametrize(("bits", "sent"), [(2, 4), (4, 6), (8, 8), (16, 16)])
def test_rounding_goes_to_a_level_beside_the_number(
    stack: Stack, bits: int, sent: int
) -> None:
    for i, row in enumerate(ROWS):
        found, state, metrics = aggregated(stack, quantize(bits), [row], [2.0])
        [step] = levels(row[np.newaxis], bits)
        whole = found / step
        np.testing.assert_allclose(whole, np.round(whole), atol=1e-4 * 2 ** (bits / 2))
        assert (abs(found - row) <= step * 1.001).all(), i
        assert metrics["sent_bytes_per_client"] == sent + 2 * 4  # and two scales
    assert (state.seed, state.round_number) == (0, 1)


def test_rounding_is_by_seed_and_round() -> None:
    first, state, _ = aggregated(LOCAL, quantize(2), ROWS, WEIGHTS)
    again, *_ = aggregated(LOCAL, quantize(2), ROWS, WEIGHTS)
    other, *_ = aggregated(LOCAL, quantize(2, seed=1), ROWS, WEIGHTS)
    later, *_ = aggregated(LOCAL, quantize(2), ROWS, WEIGHTS, state)
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    assert (first != later).any()


def test_updates_that_are_alike_are_rounded_each_for_itself() -> None:
    """Turned, negated, scaled or reordered: the errors of 60 cancel as chance has it.

    Rounded alike they would be 0.69 away; one and the same draw of each number, 0.12.
    """
    size, clients = 200, 60
    base = np.random.default_rng(0).normal(size=size).astype(np.float32)
    made = quantize(2)((np.float32, [size]))
    turned = [np.roll(base, k) for k in range(clients)]
    others = {
        "turned": turned,
        "both signs": [u * (-1) ** k for k, u in enumerate(turned)],
        "scaled": [base * np.float32(2.0**-k) for k in range(clients)],
        "a hair apart": [base * np.float32(1 + k * 1e-6) for k in range(clients)],
        "reordered": [np.sort(base)[:: (-1) ** k] for k in range(2)],
    }
    for name, updates in others.items():
        rows, weights = np.array(updates, np.float64), [1.0] * len(updates)
        found = made.next(made.initialize(), updates, weights).update
        units = abs(rows) / abs(rows).max(axis=1, keepdims=True)
        spread = rows / units * np.sqrt(units * (1 - units))
        expected = np.sqrt((spread**2).sum(axis=0).mean()) / len(rows)
        error = np.sqrt(np.mean((found - rows.mean(axis=0)) ** 2))
        assert abs(error / expected - 1) < 0.2, (name, error, expected)
        if name == "turned":
            assert abs(expected - 0.12) < 0.01


def test_update_of_a_round_without_clients_is_zero(stack: Stack) -> None:
    for code in (quantize(), top_k()):
        found, *_ = aggregated(stack, code, [], [])
        np.testing.assert_array_equal(found, np.zeros(SIZE))


# ---------------------------------------------------------------- error feedback


def flat(update: Any) -> Any:
    return np.concatenate([np.ravel(update["w"]), update["b"]])


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_what_is_sent_and_what_is_kept_are_all_updates_together(
    stack: Stack, share: float
) -> None:
    rule = top_k(share, error_feedback=True)(UPDATE)
    assert rule.initialize_client is not None
    kept = [call(stack, rule.initialize_client)] * len(ROWS)
    updates, sent = list(map(structured, ROWS)), np.zeros(SIZE)
    for _ in range(3):
        output = call(stack, rule.next, (), updates, WEIGHTS, kept)
        sent += flat(output.update)
        kept = list(output.client_states)
    memories = np.array(list(map(flat, kept)))
    np.testing.assert_allclose(sent + weighted(memories), 3 * weighted(ROWS), atol=1e-5)
    assert memories.any() == (share < 1)
    assert not memories[2].any()  # without examples


# ---------------------------------------------------------------- bytes, processes


@pytest.mark.parametrize("code", [quantize(2), top_k(0.3)], ids=repr)
def test_what_is_sent_is_as_small_as_the_metrics_say(code: Any) -> None:
    made, tape = code(UPDATE), Tape(keep_values=True)
    state = made.initialize()
    with local(support_sequence_ops=True, tape=tape):
        output = made.next(state, list(map(structured, ROWS)), WEIGHTS)
    assert len([event for event in tape if event.what == "batched_call"]) == 1
    sent = output.metrics["sent_bytes_per_client"] + 4  # and the weight
    assert bytes_by_edge(tuple(tape))[TO_SERVER] == len(ROWS) * sent
