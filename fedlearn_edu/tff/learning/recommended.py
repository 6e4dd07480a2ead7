# SPDX-License-Identifier: Apache-2.0
"""The aggregators that TFF recommends: a mean, with limits that adapt around it.

Source: `tff.learning.robust_aggregator` and the others of these names.
"""

from math import log
from typing import Any

from fedlearn_edu.tff.aggregators import (
    DifferentiallyPrivateFactory,
    EncodedSumFactory,
    MeanFactory,
    PrivateQuantileEstimationProcess,
    SecureSumFactory,
    UnweightedMeanFactory,
    clipping_factory,
    zeroing_factory,
)

_ESTIMATE = PrivateQuantileEstimationProcess.no_noise
# More examples than a client has: the range of a secure sum of weights.
_MOST_EXAMPLES = float(2**20 - 1)


def robust_aggregator(
    *, zeroing: bool = True, clipping: bool = True, weighted: bool = True
) -> Any:
    """A mean in which large updates are clipped, and far larger ones zeroed."""
    return _limited(_mean(weighted), zeroing=zeroing, clipping=clipping)


def dp_aggregator(
    noise_multiplier: float, clients_per_round: float, zeroing: bool = True
) -> Any:
    """A mean with Gaussian noise, and clipping that adapts."""
    noisy = DifferentiallyPrivateFactory.gaussian_adaptive(
        noise_multiplier, clients_per_round
    )
    return _limited(noisy, zeroing=zeroing, clipping=False)


def compression_aggregator(
    *, zeroing: bool = True, clipping: bool = True, weighted: bool = True
) -> Any:
    """A mean of updates of which large tensors are rounded to eight bits."""
    mean = _mean(weighted, EncodedSumFactory.quantize_above_threshold())
    return _limited(mean, zeroing=zeroing, clipping=clipping)


def secure_aggregator(
    *, zeroing: bool = True, clipping: bool = True, weighted: bool = True
) -> Any:
    """A mean of which the server sees sums only, of its limits, too."""
    bound = _ESTIMATE(50.0, 0.95, 1.0, multiplier=2.0, secure_estimation=True)
    values = SecureSumFactory(bound)
    if weighted:
        mean: Any = MeanFactory(values, SecureSumFactory(_MOST_EXAMPLES, 0.0))
    else:
        mean = UnweightedMeanFactory(values, SecureSumFactory(1, 0))
    return _limited(mean, zeroing=zeroing, clipping=clipping, secure=True)


def _mean(weighted: bool, *sums: Any) -> Any:
    return MeanFactory(*sums) if weighted else UnweightedMeanFactory(*sums)


def _limited(
    factory: Any, *, zeroing: bool, clipping: bool, secure: bool = False
) -> Any:
    counts = [SecureSumFactory(1, 0)] if secure else []
    if clipping:
        norm = _ESTIMATE(1.0, 0.8, 0.2, secure_estimation=secure)
        factory = clipping_factory(norm, factory, *counts)
    if zeroing:
        norm = _ESTIMATE(10.0, 0.98, log(10.0), 2.0, 1.0, secure_estimation=secure)
        count = counts[0] if secure else None
        factory = zeroing_factory(norm, factory, zeroed_count_sum_factory=count)
    return factory
