# SPDX-License-Identifier: Apache-2.0
"""Aggregators: laws and twins in plain NumPy on several stacks, and rounds with them.

The third client weighs nothing: it has no examples.
"""

from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import learning
from fedlearn_edu.framework import Tape
from fedlearn_edu.learning.aggregators import (
    Aggregator,
    AggregatorOutput,
    GaussianMechanism,
    clipping,
    gaussian,
    gaussian_adaptive,
    mean,
    secure_mean,
    zeroing,
)
from fedlearn_edu.learning.pytree import flatten
from tests.conformance.stacks import Stack
from tests.learning.runs import UPDATE, aggregated, assert_close, stack_named
from tests.programs import local

pytestmark = pytest.mark.tensorflow

MODEL = learning.models.softmax_regression(features=3, classes=2)
LENGTHS = (0.5, 1.5, 0.0, 8.0, 2.0)
WEIGHTS = [9.0, 4.0, 0.0, 14.0, 6.0]


def made_updates() -> Any:
    """One row of eight numbers for each client, of these lengths."""
    rows = np.random.default_rng(5).standard_normal([5, 8])
    return (
        rows
        / np.linalg.norm(rows, axis=1, keepdims=True)
        * np.array(LENGTHS)[:, np.newaxis]
    )


ROWS = made_updates()


def once(stack: Stack, factory: Any, rows: Any = ROWS) -> tuple[Any, Any, Any]:
    """The state, the flat update and the metrics after one round."""
    return rounds(stack, factory, 1, rows)[-1]


def rounds(
    stack: Stack, factory: Any, number: int, rows: Any = ROWS
) -> list[tuple[Any, Any, Any]]:
    state, found = None, []
    for _ in range(number):
        update, state, metrics = aggregated(stack, factory, rows, WEIGHTS, state)
        found.append((state, update, metrics))
    return found


def weighted(rows: Any, weights: Any = WEIGHTS) -> Any:
    return np.average(rows, axis=0, weights=weights)


def clipped(rows: Any, norm: float) -> Any:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows * np.minimum(1.0, norm / np.maximum(lengths, 1e-30))


# ---------------------------------------------------------------- laws and twins


def test_identities(stack: Stack) -> None:
    plain = once(stack, mean())[1]
    assert_close(plain, weighted(ROWS))
    for free in (clipping(mean(), norm=float("inf")), zeroing(mean(), norm=1e9)):
        np.testing.assert_array_equal(once(stack, free)[1], plain)
    equal = [1.0, 1.0, 0.0, 1.0, 1.0]  # the mean of a private sum weighs all alike
    private = once(stack, gaussian(1.0, 0.0, expected_clients=4))[1]
    assert_close(private, weighted(clipped(ROWS, 1.0), equal))


LENGTHS_OF: list[tuple[Any, float, float]] = [  # clipped where they are longer
    (np.float32, 3e-30, 1e-30),
    (np.float32, 1e-24, 1.0),
    (np.float32, 3e38, 1.0),
    (np.float32, 3e38, 1e30),
    (np.float64, 1e300, 1.0),
    (np.float64, 1.7e308, 1e38),
    (np.float16, 6e4, 1e-2),
]


@pytest.mark.parametrize("norm", [clipping, gaussian, gaussian_adaptive])
@pytest.mark.parametrize(("dtype", "far", "bound"), LENGTHS_OF)
def test_finite_updates_of_any_length_are_shortened_to_the_bound(
    norm: Any, dtype: Any, far: float, bound: float
) -> None:
    """A plain sum of squares overflows, or is zero."""
    rule = {
        clipping: lambda: clipping(mean(), norm=bound),
        gaussian: lambda: gaussian(bound, 0.0, 1),
        gaussian_adaptive: lambda: gaussian_adaptive(0.0, 1, initial_norm=bound),
    }[norm]()
    made, update = rule((dtype, [100])), np.full(100, far, dtype)
    output = made.next(made.initialize(), [update], [1.0])
    within = far * 10 <= bound
    np.testing.assert_allclose(
        output.update, np.full(100, far if within else bound / 10), rtol=1e-3
    )
    assert output.update.dtype == dtype
    assert output.metrics["clipped_share"] == 1 - within


def test_length_of_a_round_is_a_number_whatever_the_numbers() -> None:
    process = learning.build_fed_avg(MODEL, 1.0)
    batch = {"x": np.full([2, 3], 1e30, np.float32), "y": np.array([0, 0], np.int32)}
    _, metrics = process.next(process.initialize(), [[batch]])
    assert metrics["update_norm"] == pytest.approx(1e30 * np.sqrt(1.5), rel=1e-5)


def test_nest_of_adaptive_bounds_agrees_with_its_twin(stack: Stack) -> None:
    zero, clip, here = 10.0, 1.0, np.array(WEIGHTS) > 0
    factory = zeroing(clipping(mean(), quantile=0.5), learning_rate=1.0)
    for state, update, metrics in rounds(stack, factory, 3):
        assert_close(update, weighted(clipped(ROWS, clip)))
        lengths = np.linalg.norm(ROWS, axis=1)[here]
        assert metrics["clipped_share"] == np.mean(lengths > clip)
        assert_close(
            [metrics["zeroing_norm"], metrics["clip_norm"]], [2 * zero + 1, clip]
        )
        largest = np.abs(ROWS).max(axis=1)[here]
        zero *= np.exp(-1.0 * (np.mean(largest <= zero) - 0.98))
        clip *= np.exp(-0.2 * (np.mean(lengths <= clip) - 0.5))
        assert_close([state.estimate, state.inner.estimate], [zero, clip])


def test_zeroing_leaves_out_what_is_corrupt(stack: Stack) -> None:
    broken = np.concatenate([ROWS[:3], np.full([1, 8], np.nan), np.full([1, 8], 99)])
    _, update, metrics = once(stack, zeroing(mean(), norm=5.0), broken)
    assert_close(update, weighted(ROWS[:2], WEIGHTS[:2]))
    assert metrics["zeroed_share"] == 0.5
    _, update, _ = once(stack, zeroing(mean(), norm=1e-9))
    np.testing.assert_array_equal(update, np.zeros(8))


def test_secure_mean_is_within_its_bound(stack: Stack) -> None:
    for bits in (4, 12):
        step = 2 * 3.0 / (2**bits - 1)
        _, update, metrics = once(stack, secure_mean(3.0, bits=bits))
        inside = np.clip(ROWS, -3.0, 3.0)
        assert np.abs(update - weighted(inside)).max() <= step / 2 + 1e-6
        twin = weighted(np.round((np.float32(inside) + 3.0) / step)) * step - 3.0
        assert_close(update, twin)
        outside = np.mean(np.abs(ROWS) > 3.0, axis=1)
        assert_close(metrics["saturated_share"], weighted(outside))


# ---------------------------------------------------------------- one at a time


LOCAL = stack_named("local-tensorflow-sequence")


def test_noise_on_the_count_moves_the_estimate() -> None:
    def estimate(**noise: Any) -> Any:
        return once(LOCAL, clipping(mean(), quantile=0.5, **noise))[0].estimate

    noisy = {float(estimate(count_noise=1.0, seed=seed)) for seed in (1, 1, 2)}
    assert len({*noisy, float(estimate())}) == 3


def test_what_an_accountant_reads_is_there_where_it_is_true() -> None:
    mechanism = GaussianMechanism(1.1, 0.5, 100.0)
    private = gaussian(0.5, 1.1, 100)
    assert private(UPDATE).mechanism == mechanism
    assert zeroing(private, norm=9.0)(UPDATE).mechanism == mechanism
    assert learning.build_fed_avg(MODEL, aggregator=private).mechanism == mechanism
    assert learning.build_fed_sgd(MODEL, aggregator=private).mechanism == mechanism
    # An estimate tells of the clients, too, and its noise is not counted.
    assert zeroing(private)(UPDATE).mechanism is None
    assert clipping(mean(), norm=1.0)(UPDATE).mechanism is None


def test_factories_are_written_as_they_are_called() -> None:
    nest = zeroing(clipping(mean(), quantile=0.8), seed=2)
    assert repr(nest) == "zeroing(clipping(mean(), quantile=0.8), seed=2)"
    assert nest(UPDATE).name == repr(nest)
    given: Any = np.float32(0.5), np.int64(3)
    text = "gaussian(clip=0.5, noise_multiplier=3.0, expected_clients=10.0)"
    assert repr(gaussian(given[0], given[1], 10)) == text
    assert clipping(mean(), norm=1.0) == clipping(mean(), norm=np.float64(1))
    assert clipping(mean(), norm=1.0) != clipping(mean(), norm=2.0)
    assert secure_mean(1) == secure_mean(1.0)


def test_a_metric_that_is_measured_twice_gets_a_number() -> None:
    twice = clipping(clipping(mean(), norm=1.0), norm=5.0)
    _, _, metrics = once(LOCAL, twice)
    shares = metrics["clipped_share"], metrics["clipped_share2"]
    assert shares == (0.25, 0.75)


# ---------------------------------------------------------------- rounds

DATA = [
    [{"x": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], "y": [0, 1]}],
    [{"x": [[1.0, 0.0, 1.0]], "y": [0]}, {"x": [[0.0, 1.0, 1.0]], "y": [1]}],
    [{"x": [[0.5, 0.5, 1.0]], "y": [1]}],
]
NOTHING: Any = [[{"x": np.zeros([0, 3]), "y": []}], []]
ADAPTIVE = zeroing(clipping(mean(), quantile=0.8))
PRIVATE = gaussian(0.1, 1.0, expected_clients=3)
BOTH = gaussian_adaptive(1.0, 3, count_noise=1.0)


def together(factory: Any, **options: Any) -> tuple[bytes, list[str]]:
    """The bits of two rounds, and the group calls of the second one."""
    process, tape = learning.build_fed_avg(MODEL, 0.5, aggregator=factory), Tape()
    with local(support_sequence_ops=True, tape=tape, **options):
        state, _ = process.next(process.initialize(), DATA)
        before = len(tape)
        result = process.next(state, DATA)
    calls = [event for event in list(tape)[before:] if event.what == "batched_call"]
    bits = b"".join(np.asarray(leaf).tobytes() for leaf in flatten(result).values())
    return bits, [event.detail for event in calls]


@pytest.mark.parametrize(
    ("max_fanout", "factories"),
    [(100, [mean(), clipping(mean(), norm=0.1), ADAPTIVE, PRIVATE]), (2, [BOTH])],
    ids=["flat", "hierarchy"],
)
def test_clients_do_all_of_a_round_in_one_group_call(
    max_fanout: int, factories: list[Any]
) -> None:
    bits, plain = together(None, max_fanout=max_fanout)
    # As many as without an aggregator; with a hierarchy, one in each group of two.
    for factory in factories:
        found, calls = together(factory, max_fanout=max_fanout)
        assert len(calls) == len(plain)
        assert factory == mean() or all("send" in call for call in calls)
        assert (found == bits) == (factory == mean())


def test_mean_leaves_no_trace_in_what_a_checkpoint_knows() -> None:
    default, explicit = (
        learning.build_fed_avg(MODEL, aggregator=each) for each in (None, mean())
    )
    assert explicit.settings == default.settings
    assert explicit.next.to_text() == default.next.to_text()
    assert "aggregator clipping(mean(), norm=1.0)" in str(
        learning.build_fed_avg(MODEL, aggregator=clipping(mean(), norm=1.0))
    )


@pytest.mark.usefixtures("step_by_step")
@pytest.mark.parametrize("name", ["fed_sgd", "fed_avg", "fed_prox", "fed_adam"])
def test_every_averaging_builder_takes_an_aggregator(name: str) -> None:
    process = getattr(learning, f"build_{name}")(MODEL, aggregator=ADAPTIVE)
    assert process.settings.endswith(f", aggregator {ADAPTIVE!r}")
    if name not in ("fed_sgd", "fed_avg"):
        return  # the others build a round of FedAvg's
    state, metrics = process.next(process.initialize(), DATA)
    assert list(metrics)[:4] == [*learning.averaging.ROUND_METRICS]
    assert metrics["clip_norm"] == 1.0
    before = flatten(state)
    after, _ = process.next(state, NOTHING)
    assert all(np.array_equal(leaf, before[k]) for k, leaf in flatten(after).items())


@pytest.mark.usefixtures("step_by_step")
@pytest.mark.parametrize("private", [PRIVATE, BOTH])
def test_metrics_are_columns_and_a_resumed_run_ends_the_same(
    private: Any, tmp_path: Path
) -> None:
    def trained(rounds: int, folder: str) -> Any:
        checkpoints = learning.Checkpoints(tmp_path / folder)
        process = learning.build_fed_avg(MODEL, 0.5, aggregator=private)
        options = learning.Options(checkpoints=checkpoints)
        return learning.run(process, DATA, rounds, options=options)

    trained(2, "resumed")
    resumed, straight = trained(4, "resumed"), trained(4, "straight")
    assert straight.history["clipped_share"].shape == (4,)
    found, expected = flatten(resumed.state), flatten(straight.state)
    assert all(np.array_equal(found[path], leaf) for path, leaf in expected.items())
    assert straight.state.aggregator.round_number == 4


def test_an_aggregator_of_your_own_is_a_function_of_a_type() -> None:
    """Of two computations of any runtime, here a sum in the place of a mean."""

    def total(update: fl.Type) -> Aggregator:
        @fl.federated_computation
        def initialize() -> Any:
            return fl.federated_value(np.int32(0), fl.SERVER)

        @fl.federated_computation(
            fl.type_at_server(np.int32),
            fl.type_at_clients(update),
            fl.type_at_clients(np.float32),
        )
        def add(state: Any, updates: Any, weights: Any) -> Any:
            measured = fl.federated_zip(OrderedDict(weight=fl.federated_sum(weights)))
            return AggregatorOutput(state, fl.federated_sum(updates), measured)

        return Aggregator("total()", initialize, add)

    process = learning.build_fed_avg(MODEL, aggregator=total)
    assert process.settings.endswith(", aggregator total()")
    state, metrics = process.next(process.initialize(), DATA)
    assert metrics["weight"] == 5.0
    assert state.aggregator == 0
