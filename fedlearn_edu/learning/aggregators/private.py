# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""The Gaussian mechanism: a sum of clipped updates, and noise that hides each of them.

How much privacy the noise of many rounds gives is up to an accountant, which reads
`Aggregator.mechanism`.
"""

from dataclasses import dataclass, replace
from typing import Any, final

import fedlearn_edu as fl
from fedlearn_edu.errors import short_traceback
from fedlearn_edu.learning.aggregators.base import (
    Aggregator,
    AggregatorFactory,
    AggregatorOutput,
    GaussianMechanism,
    aggregation,
    at_each,
    at_server,
    nothing,
)
from fedlearn_edu.learning.aggregators.checks import (
    call_of,
    check_expected_clients,
    check_not_negative,
    check_positive,
    check_seed,
)
from fedlearn_edu.learning.aggregators.norms import clipping
from fedlearn_edu.learning.optimizers import map_structure


@short_traceback
def gaussian(
    clip: float, noise_multiplier: float, expected_clients: float, *, seed: int = 0
) -> AggregatorFactory:
    r"""The mean of clipped updates with Gaussian noise, as in DP-FedAvg.

    $$\Delta = \frac{1}{m} \Bigl(\sum_k \Delta_k \cdot \min(1, C / \lVert \Delta_k
    \rVert_2) + \mathcal{N}(0, z^2 C^2 I)\Bigr)$$

    One client changes the sum by at most C, and the noise has z times that standard
    deviation. The sum is divided by the number of clients that are *expected*, m, as
    how many came is private, too; and all clients count alike: weights are ignored.

    `(<STATE@SERVER,{UPDATE}@CLIENTS,{float32}@CLIENTS> ->
    <STATE@SERVER,UPDATE@SERVER,METRICS@SERVER>)`. STATE is
    `<seed=int32,round_number=int32>`, which alone decides the noise: it is the same on
    every stack, in every run and after a resume. A real server draws it from a source
    that nobody can read. An update with NaN or infinite numbers counts as
    zeros, as no noise would hide it. METRICS are `clipped_share` and `clip_norm` as in
    `clipping`; like the losses of a round they are exact, so publish none of them. With
    z = 0 and m clients it is the mean of `clipping` for equal weights.

    >>> import numpy as np
    >>> private = gaussian(clip=1.0, noise_multiplier=0.5, expected_clients=2)
    >>> private(np.float32).mechanism
    GaussianMechanism(noise_multiplier=0.5, clip=1.0, expected_clients=2.0)
    >>> quiet = gaussian(1.0, 0.0, 2)(np.float32)
    >>> quiet.next(quiet.initialize(), [0.5, 4.0], [1.0, 9.0]).update
    np.float32(0.75)

    Args:
        clip: C, the largest L2 norm of an update, all its tensors together.
        noise_multiplier: z, which with the sampling of clients decides ε.
        expected_clients: m, for Poisson sampling the rate times all clients.
        seed: Of the noise.

    Raises:
        ProcessError: if clip <= 0, noise_multiplier < 0 or expected_clients < 1, or
            one of them is no finite number.

    Source: H. B. McMahan et al., "Learning Differentially Private Recurrent Language
    Models", ICLR 2018, Algorithm 1; `tff.learning.dp_aggregator`.
    """
    check_positive("clip", clip)
    check_not_negative("noise_multiplier", noise_multiplier)
    check_expected_clients(expected_clients)
    check_seed(seed)
    mechanism = GaussianMechanism(
        float(noise_multiplier), float(clip), float(expected_clients)
    )
    name = call_of(
        gaussian,
        clip=mechanism.clip,
        noise_multiplier=mechanism.noise_multiplier,
        expected_clients=mechanism.expected_clients,
        seed=seed,
    )
    noisy = AggregatorFactory(name, lambda update: _noisy_mean(mechanism, seed, update))
    clipped = clipping(noisy, norm=clip)

    def build(update: fl.Type) -> Aggregator:
        return replace(clipped(update), name=name)

    return AggregatorFactory(name, build)


@final
@dataclass(frozen=True, eq=False)
class NoiseState:
    """What decides the noise of the next round.

    Attributes:
        seed: `int32`, as given.
        round_number: `int32`, how often noise was drawn.
    """

    seed: Any
    round_number: Any


def _noisy_mean(mechanism: GaussianMechanism, seed: int, update: fl.Type) -> Aggregator:
    """The mean of updates that are clipped already."""
    stddev = mechanism.noise_multiplier * mechanism.clip

    @fl.tf_computation
    def begin() -> Any:
        return NoiseState(fl.tf.constant(int(seed)), fl.tf.constant(0))

    initialize = at_server(begin)

    def release(state: Any, total: Any) -> Any:
        noise = _normal_like(total, [state.seed, state.round_number])
        return fl.tf.nest.map_structure(
            lambda x, n: (x + stddev * n) / mechanism.expected_clients, total, noise
        )

    def advance(state: Any) -> Any:
        return replace(state, round_number=state.round_number + 1)

    @aggregation(initialize, update)
    def next_noisy(state: Any, updates: Any, weights: Any) -> Any:
        total = fl.federated_sum(at_each(_finite, updates))
        return AggregatorOutput(
            at_each(advance, state), at_each(release, state, total), nothing()
        )

    name = "the noisy mean"
    return Aggregator(name, initialize, next_noisy, mechanism)


def _finite(update: Any) -> Any:
    """Zeros in the place of NaN, which is all that clipping leaves of such numbers."""
    tf = fl.tf
    return map_structure(
        lambda x: tf.where(tf.math.is_finite(x), x, tf.zeros_like(x)), update
    )


def _normal_like(tensors: Any, seed: list[Any]) -> Any:
    """Standard normal noise in the structure of these tensors, in one draw."""
    tf, flat = fl.tf, fl.tf.nest.flatten(tensors)
    sizes = [x.shape.num_elements() for x in flat]
    # By name, since the default generator may differ from device to device.
    drawn = tf.random.stateless_normal([sum(sizes)], seed, alg="philox")
    parts = tf.split(drawn, sizes)
    noise = [
        tf.cast(tf.reshape(part, x.shape), x.dtype)
        for part, x in zip(parts, flat, strict=True)
    ]
    return tf.nest.pack_sequence_as(tensors, noise)
