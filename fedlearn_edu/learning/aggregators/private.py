# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""The Gaussian mechanism: a sum of clipped updates, and noise that hides each of them.

The server draws it (`_noisy`), once a round, from the seed and the number of the round
in the aggregator's state: also in a round without clients, for which `run` calls `next`
with one that has no data, and `averaging.py` takes a step all the same. How much
privacy the noise of many rounds gives is up to an accountant, which reads
`Aggregator.mechanism`.
"""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, final

import numpy as np

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
    check_share,
)
from fedlearn_edu.learning.aggregators.norms import CLIP, clipping
from fedlearn_edu.learning.arrays import leaf_computation, tf
from fedlearn_edu.learning.errors import ProcessError
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


@short_traceback
def gaussian_adaptive(
    noise_multiplier: float,
    expected_clients: float,
    *,
    quantile: float = 0.5,
    initial_norm: float = 0.1,
    learning_rate: float = 0.2,
    count_noise: float | None = None,
    seed: int = 0,
) -> AggregatorFactory:
    r"""The same with a norm C that follows a quantile of the clients', privately.

    Besides its update a client sends whether it is within C, as a bit
    $b_k = [\lVert \Delta_k \rVert_2 \le C]$, and the sum of both is noisy:

    $$\Delta = \frac{1}{m} \Bigl(\sum_k \Delta_k \cdot \min(1, C / \lVert \Delta_k
    \rVert_2) + \mathcal{N}(0, z_\Delta^2 C^2 I)\Bigr), \qquad
    C \leftarrow C \cdot \exp\Bigl(-\eta\,\Bigl(\frac{1}{2} + \frac{1}{m}
    \Bigl(\sum_k \bigl(b_k - \tfrac{1}{2}\bigr) + \mathcal{N}(0, \sigma^2)\Bigr) -
    q\Bigr)\Bigr)$$

    One client moves the second sum by 1/2. With $z_\Delta = (z^{-2} - (2
    \sigma)^{-2})^{-1/2}$, a little more than z, both together tell as much as one sum
    with noise z: that is the `mechanism`, and what rounds cost is what they cost with
    `gaussian`.

    `(<STATE@SERVER,{UPDATE}@CLIENTS,{float32}@CLIENTS> ->
    <STATE@SERVER,UPDATE@SERVER,METRICS@SERVER>)`. STATE is
    `<clip=float32,seed=int32,round_number=int32>`. METRICS are those of `gaussian`, of
    which `clip_norm` (C in this round) is as private as the update.

    >>> import numpy as np
    >>> private = gaussian_adaptive(noise_multiplier=1.0, expected_clients=100)
    >>> private(np.float32).mechanism
    GaussianMechanism(noise_multiplier=1.0, clip=0.1, expected_clients=100.0)

    Args:
        noise_multiplier: z, of both sums together.
        expected_clients: m.
        quantile: q, the share of clients within C once it has settled.
        initial_norm: C in the first round.
        learning_rate: η.
        count_noise: σ, more than z/2; m/20 by default, and 0 where z is.
        seed: Of the noise.

    Raises:
        ProcessError: a number is out of its range, or σ is too small for z.

    Source: G. Andrew et al., "Differentially Private Learning with Adaptive Clipping",
    NeurIPS 2021, Algorithm 1 and Theorem 1;
    `tff.aggregators.DifferentiallyPrivateFactory.gaussian_adaptive`.
    """
    rule = _Adaptive(
        noise_multiplier,
        expected_clients,
        quantile,
        initial_norm,
        learning_rate,
        count_noise,
        seed,
    )
    name = call_of(gaussian_adaptive, **asdict(rule))
    return AggregatorFactory(name, lambda update: _adaptive_mean(name, rule, update))


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


@final
@dataclass(frozen=True, eq=False)
class AdaptiveNoiseState:
    """What decides the next round: the norm to clip to, and the noise.

    Attributes:
        clip: `float32`, C.
        seed: `int32`, as given.
        round_number: `int32`, how often noise was drawn.
    """

    clip: Any
    seed: Any
    round_number: Any


def first_noise(seed: int) -> fl.Computation:
    """`( -> <seed=int32,round_number=int32>@SERVER)`."""

    @leaf_computation
    def begin() -> Any:
        return NoiseState(tf.constant(int(seed)), tf.constant(0))

    return at_server(begin)


def next_noise(state: Any) -> Any:
    """The state of the round after this one."""
    return replace(state, round_number=state.round_number + 1)


def _noisy_mean(mechanism: GaussianMechanism, seed: int, update: fl.Type) -> Aggregator:
    """The mean of updates that are clipped already."""
    stddev = mechanism.noise_multiplier * mechanism.clip

    initialize = first_noise(seed)

    def release(state: Any, total: Any) -> Any:
        return _noisy(state, total, stddev, mechanism.expected_clients)

    @aggregation(initialize, update)
    def next_noisy(state: Any, updates: Any, weights: Any) -> Any:
        total = fl.federated_sum(at_each(_finite, updates))
        return AggregatorOutput(
            at_each(next_noise, state), at_each(release, state, total), nothing()
        )

    name = "the noisy mean"
    return Aggregator(name, initialize, next_noisy, mechanism)


@final
@dataclass(frozen=True)
class _Adaptive:
    """The settings; see the arguments of `gaussian_adaptive`."""

    noise_multiplier: float
    expected_clients: float
    quantile: float
    initial_norm: float
    learning_rate: float
    count_noise: float | None
    seed: int

    def __post_init__(self) -> None:
        check_not_negative("noise_multiplier", self.noise_multiplier)
        check_expected_clients(self.expected_clients)
        check_share("quantile", self.quantile)
        check_positive("initial_norm", self.initial_norm)
        check_positive("learning_rate", self.learning_rate)
        if self.count_noise is not None:
            check_not_negative("count_noise", self.count_noise)
        check_seed(self.seed)
        for name, number in asdict(self).items():
            plain = int if name == "seed" else float
            object.__setattr__(self, name, None if number is None else plain(number))
        z, least = self.noise_multiplier, self.noise_multiplier / 2
        if z and self.sigma <= least:
            raise ProcessError(
                "with so little noise the count alone tells more than both sums may",
                expected=f"count_noise > {least:g}, half of the noise multiplier",
                found=f"count_noise {self.sigma:g}",
                where="count_noise",
                do=f"count_noise={z:g} costs 15 % more noise in the updates; the "
                "default is a twentieth of expected_clients",
            )

    @property
    def sigma(self) -> float:
        """The noise of the count."""
        if self.count_noise is not None:
            return self.count_noise
        return self.expected_clients / 20 if self.noise_multiplier else 0.0

    @property
    def noise_of_updates(self) -> float:
        """The noise multiplier that the updates need, beside the count."""
        z = self.noise_multiplier
        return z and z / math.sqrt(1 - (z / (2 * self.sigma)) ** 2)

    @property
    def mechanism(self) -> GaussianMechanism:
        """Both sums together."""
        return GaussianMechanism(
            self.noise_multiplier, self.initial_norm, self.expected_clients
        )

    def begin(self) -> AdaptiveNoiseState:
        first = tf.constant(self.initial_norm, tf.float32)
        return AdaptiveNoiseState(first, tf.constant(self.seed), tf.constant(0))

    def release(self, state: Any, total: Any) -> Any:
        stddev = self.noise_of_updates * state.clip
        return _noisy(state, total, stddev, self.expected_clients)

    def advance(self, state: Any, counts: Any) -> AdaptiveNoiseState:
        # Not the seed of the updates: two draws of the same noise hide neither.
        seed = [state.seed, -1 - state.round_number]
        noise = self.sigma * tf.random.stateless_normal([], seed, alg="philox")
        centred = counts["within"] - counts["clients"] / 2
        share = 0.5 + (centred + noise) / self.expected_clients
        factor = tf.exp(self.learning_rate * (self.quantile - share))
        return AdaptiveNoiseState(
            state.clip * factor, state.seed, state.round_number + 1
        )


def _adaptive_mean(name: str, rule: _Adaptive, update: fl.Type) -> Aggregator:
    initialize = at_server(leaf_computation(rule.begin))

    @aggregation(initialize, update)
    def next_adaptive(state: Any, updates: Any, weights: Any) -> Any:
        clip = fl.federated_broadcast(state.clip)
        sent = at_each(CLIP.send, updates, weights, clip)
        total = fl.federated_sum(at_each(_finite, sent.update))
        counts = fl.federated_sum(sent.counts)
        return AggregatorOutput(
            at_each(rule.advance, state, counts),
            at_each(rule.release, state, total),
            at_each(CLIP.measure, counts, state.clip),
        )

    return Aggregator(name, initialize, next_adaptive, rule.mechanism)


def _noisy(state: Any, total: Any, stddev: Any, divisor: float) -> Any:
    """The total with this round's noise, divided."""
    noise = _normal_like(total, [state.seed, state.round_number])
    return tf.nest.map_structure(
        lambda x, n: (x + tf.cast(stddev, x.dtype) * n) / divisor, total, noise
    )


def _finite(update: Any) -> Any:
    """Zeros in the place of NaN, which is all that clipping leaves of such numbers."""
    return map_structure(
        lambda x: tf.where(tf.math.is_finite(x), x, tf.zeros_like(x)), update
    )


def _normal_like(tensors: Any, seed: list[Any]) -> Any:
    """Standard normal noise in the structure of these tensors, in one draw."""
    flat = tf.nest.flatten(tensors)
    sizes = [int(np.prod(x.shape)) for x in flat]
    # By name, since the default generator may differ from device to device.
    drawn = tf.random.stateless_normal([sum(sizes)], seed, alg="philox")
    parts = tf.split(drawn, sizes)
    noise = [
        tf.cast(tf.reshape(part, x.shape), x.dtype)
        for part, x in zip(parts, flat, strict=True)
    ]
    return tf.nest.pack_sequence_as(tensors, noise)
