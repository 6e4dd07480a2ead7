# SPDX-License-Identifier: Apache-2.0
"""TFF's aggregators: what they make of three clients, and what they measure."""

import math
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu.tff as tff

pytestmark = pytest.mark.tensorflow
made = tff.aggregators
PAIR = tff.to_type([("a", np.float32), ("b", (np.float32, [2]))])
VALUES: list[Any] = [
    OrderedDict(a=3.0, b=[0.0, 4.0]),
    OrderedDict(a=0.0, b=[1.0, 0.0]),
    OrderedDict(a=-6.0, b=[8.0, 0.0]),
]
ESTIMATE = made.PrivateQuantileEstimationProcess.no_noise


def flat(value: Any) -> list[float]:
    return [float(value["a"]), *map(float, value["b"])]


MEAN = made.UnweightedMeanFactory
ROWS: dict[str, tuple[Any, list[float]]] = {
    "sum": (made.SumFactory(), [-3.0, 9.0, 4.0]),
    "unweighted mean": (MEAN(), [-1.0, 3.0, 4 / 3]),
    # Norms 5, 1 and 10: scaled by 2/5, 1 and 2/10.
    "clipping": (made.clipping_factory(2.0, made.SumFactory()), [0.0, 2.6, 1.6]),
    "zeroing": (made.zeroing_factory(5.0, made.SumFactory()), [3.0, 1.0, 4.0]),
    "zeroing by length": (
        made.zeroing_factory(2.0, made.SumFactory(), norm_order=2.0), [0.0, 1.0, 0.0]
    ),
    "secure": (made.SecureSumFactory(10.0), [-3.0, 9.0, 4.0]),
    "secure, clipped": (made.SecureSumFactory(2.0, -1.0), [1.0, 3.0, 2.0]),
    "secure inside a mean": (MEAN(made.SecureSumFactory(10.0)), [-1.0, 3.0, 4 / 3]),
    "rounded": (
        made.EncodedSumFactory.quantize_above_threshold(1, threshold=1),
        [-3.0, 9.0, 4.0],
    ),
    "private, without noise": (
        made.DifferentiallyPrivateFactory.gaussian_fixed(0.0, 3.0, 100.0),
        [-1.0, 3.0, 4 / 3],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_what_it_makes_of_three_clients(name: str) -> None:
    factory, expected = ROWS[name]
    process = factory.create(PAIR)
    found = process.next(process.initialize(), VALUES).result
    np.testing.assert_allclose(flat(found), expected, atol=1e-5)


def test_a_weighted_mean() -> None:
    process = made.MeanFactory().create(PAIR, np.float32)
    found = process.next(process.initialize(), VALUES, [1.0, 2.0, 1.0])
    np.testing.assert_allclose(flat(found.result), [-0.75, 2.5, 1.0])
    assert found.measurements == {"mean_value": (), "mean_weight": ()}


def test_no_weight_at_all_makes_zeros_if_asked() -> None:
    for no_nan, expected in ((True, 0.0), (False, math.nan)):
        factory = made.MeanFactory(no_nan_division=no_nan)
        process = factory.create(np.float32, np.float32)
        found = process.next(process.initialize(), [1.0], [0.0]).result
        np.testing.assert_equal(float(found), expected)


def test_whole_numbers_are_summed_securely() -> None:
    process = made.SecureSumFactory(7, -2).create(np.int32)
    found = process.next(process.initialize(), [5, -9, 100])
    assert found.result == 5 - 2 + 7
    assert {name: int(n) for name, n in found.measurements.items()} == {
        "secure_upper_clipped_count": 1,
        "secure_lower_clipped_count": 1,
        "secure_upper_threshold": 7,
        "secure_lower_threshold": -2,
    }


def test_steps_of_a_secure_sum_are_fine_and_zero_is_one_of_them() -> None:
    process = made.SecureSumFactory(100.0).create(np.float32)
    state = process.initialize()
    for number, near in ((0.0, 0.0), (1e-6, 3e-8), (1.234567e-3, 3e-8)):
        total = process.next(state, [number] * 2000).result
        assert float(total) / 2000 == pytest.approx(number, abs=near, rel=0)


def test_a_limit_follows_a_quantile() -> None:
    for secure in (False, True):
        norm = ESTIMATE(2.0, 0.8, 0.5, secure_estimation=secure)
        process = made.clipping_factory(norm, made.SumFactory()).create(PAIR)
        first = process.next(process.initialize(), VALUES)
        second = process.next(first.state, VALUES).measurements
        # One of three is within the limit.
        moved = 2.0 * math.exp(-0.5 * (1 / 3 - 0.8))
        assert second["clipping_norm"] == pytest.approx(moved, rel=1e-5)
        assert (second["clipped_count"], second["clipping"]) == (2, ())


def test_a_range_of_secure_sums_follows_a_quantile_too() -> None:
    bound = ESTIMATE(4.0, 0.5, 1.0, multiplier=2.0)
    process = made.SecureSumFactory(bound).create(PAIR)
    first = process.next(process.initialize(), VALUES)
    second = process.next(first.state, VALUES).measurements
    assert first.measurements["secure_upper_threshold"] == pytest.approx(8.0)
    moved = 8.0 * math.exp(-1.0 * (2 / 3 - 0.5))
    assert second["secure_upper_threshold"] == pytest.approx(moved, rel=1e-5)
    assert second["secure_lower_threshold"] == pytest.approx(-moved, rel=1e-5)


RECOMMENDED = {
    "robust": tff.learning.robust_aggregator,
    "compression": tff.learning.compression_aggregator,
    "secure": tff.learning.secure_aggregator,
}


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("name", RECOMMENDED)
def test_recommended_ones_are_means_of_small_updates(name: str, weighted: bool) -> None:
    factory = RECOMMENDED[name](weighted=weighted)
    small = [OrderedDict(a=v["a"] / 100, b=np.divide(v["b"], 100)) for v in VALUES]
    if weighted:
        process = factory.create(PAIR, np.float32)
        found = process.next(process.initialize(), small, [1.0, 2.0, 1.0])
        expected = [-0.0075, 0.025, 0.01]
    else:
        process = factory.create(PAIR)
        found = process.next(process.initialize(), small)
        expected = [-0.01, 0.03, 0.04 / 3]
    np.testing.assert_allclose(flat(found.result), expected, atol=1e-5)
    assert list(found.measurements) == ["zeroing", "zeroing_norm", "zeroed_count"]
