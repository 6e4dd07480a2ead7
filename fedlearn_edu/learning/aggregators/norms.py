# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Clipping and zeroing: they bound what one client can do to the sum.

The bound is a number, or follows a quantile of the clients' norms, which the server
learns from one bit per client: whether its norm is within the estimate.
"""

import zlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.errors import short_traceback
from fedlearn_edu.learning.aggregators.base import (
    Aggregator,
    AggregatorFactory,
    AggregatorOutput,
    Body,
    Factory,
    aggregation,
    at_each,
    check_keeps_nothing,
    join_metrics,
    make,
    state_type,
)
from fedlearn_edu.learning.aggregators.checks import (
    call_of,
    check_factory,
    check_not_negative,
    check_positive,
    check_seed,
    check_share,
)
from fedlearn_edu.learning.arrays import (
    in_units_of,
    l2_norm,
    largest_of,
    leaf_computation,
    tf,
)
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.learning.optimizers import map_structure

_LN_10 = 2.302585092994046


@short_traceback
def clipping(
    inner: Factory,
    norm: float | None = None,
    *,
    quantile: float | None = None,
    initial_norm: float = 1.0,
    learning_rate: float = 0.2,
    count_noise: float = 0.0,
    seed: int = 0,
) -> AggregatorFactory:
    r"""Shortens long updates before `inner` combines them.

    Client k sends, with the L2 norm of all its tensors together,

    $$\Delta_k \cdot \min(1, C / \lVert \Delta_k \rVert_2)$$

    C is `norm`, or it follows the `quantile` q of the clients' norms: it begins at
    `initial_norm`, and after a round with n clients

    $$C \leftarrow C \cdot \exp\Bigl(-\eta\,\Bigl(\frac{1}{n} \Bigl(\sum_k
    [\lVert \Delta_k \rVert_2 \le C] + \mathcal{N}(0, \sigma^2)\Bigr) -
    q\Bigr)\Bigr)$$

    `(<STATE@SERVER,{UPDATE}@CLIENTS,{float32}@CLIENTS> ->
    <STATE@SERVER,UPDATE@SERVER,METRICS@SERVER>)`. STATE is that of `inner`, and with a
    quantile `<estimate=float32,round_number=int32,inner=STATE>`. METRICS are
    `clipped_share`, `clip_norm` (C in this round), and those of `inner`. Clients
    without examples, whose weight is 0, are not counted. An update with NaN or infinite
    numbers has no length to keep to: `zeroing` leaves it out.

    >>> import numpy as np
    >>> from fedlearn_edu.learning.aggregators import mean
    >>> clipped = clipping(mean(), norm=1.0)(np.float32)
    >>> output = clipped.next(clipped.initialize(), [0.5, 4.0], [1.0, 1.0])
    >>> output.update, output.metrics["clipped_share"]
    (np.float32(0.75), np.float32(0.5))

    Args:
        inner: Combines the clipped updates.
        norm: C; infinity clips nothing.
        quantile: q, the share of clients within C once it has settled.
        initial_norm: C in the first round.
        learning_rate: η.
        count_noise: σ, which hides each client's bit. The result has no `mechanism`,
            since C tells more than the noise of `inner` accounts for.
        seed: Of that noise.

    Raises:
        ProcessError: unless exactly one of `norm` and `quantile` is given, in range.

    Source: G. Andrew et al., "Differentially Private Learning with Adaptive Clipping",
    NeurIPS 2021, Algorithm 1; `tff.aggregators.clipping_factory` and
    `PrivateQuantileEstimationProcess`.
    """
    if (norm is None) == (quantile is None):
        raise ProcessError(
            "clipping needs a norm, or a quantile of the clients' norms to follow",
            expected="norm=… or quantile=…",
            found="neither" if norm is None else "both",
            where="clipping",
            do="clipping(mean(), norm=1.0) or clipping(mean(), quantile=0.8)",
        )
    bound = _Bound(norm, quantile, initial_norm, learning_rate, count_noise, seed)
    text = call_of(clipping, inner, **asdict(bound))
    return _limited(CLIP, bound, inner, text)


@short_traceback
def zeroing(
    inner: Factory,
    norm: float | None = None,
    *,
    quantile: float = 0.98,
    initial_norm: float = 10.0,
    learning_rate: float = _LN_10,
    count_noise: float = 0.0,
    seed: int = 0,
) -> AggregatorFactory:
    r"""Leaves out updates that are far too large, or no numbers.

    An update stays as it is where its greatest absolute value is within the bound,
    $\lVert \Delta_k \rVert_\infty \le B$. Otherwise it becomes zeros, and its weight 0:
    one corrupt client spoils nothing. B is `norm`, or $2 E + 1$, with the estimate E of
    the `quantile` of the clients' norms, see `clipping`.

    `(<STATE@SERVER,{UPDATE}@CLIENTS,{float32}@CLIENTS> ->
    <STATE@SERVER,UPDATE@SERVER,METRICS@SERVER>)`. STATE is that of `inner`, and with a
    quantile `<estimate=float32,round_number=int32,inner=STATE>`. METRICS are
    `zeroed_share` of the clients with examples, `zeroing_norm` (B in this round), and
    those of `inner`. If all are left out, the NaN of a mean of nothing becomes zeros.

    >>> import numpy as np
    >>> from fedlearn_edu.learning.aggregators import mean
    >>> robust = zeroing(mean(), norm=10.0)(np.float32)
    >>> robust.next(robust.initialize(), [0.5, np.nan, 1e9], [1.0, 1.0, 1.0]).update
    np.float32(0.5)

    Args:
        inner: Combines the updates that are left.
        norm: B, instead of one that follows the quantile.
        quantile: Of the norms, that E follows.
        initial_norm: E in the first round.
        learning_rate: η of the estimate; ln 10 changes it by up to ten times a round.
        count_noise: σ of the estimate, as in `clipping`.
        seed: Of that noise.

    Raises:
        ProcessError: a number is out of its range.

    Source: `tff.aggregators.zeroing_factory` and the defaults of
    `tff.learning.robust_aggregator`; the quantile as in `clipping`.
    """
    bound = _Bound(norm, quantile, initial_norm, learning_rate, count_noise, seed)
    text = call_of(zeroing, inner, **asdict(bound))
    above = (1.0, 0.0) if norm is not None else (2.0, 1.0)
    limit = _Limit("zeroing", "zeroed", largest_of, _zeroed, *above, drops=True)
    return _limited(limit, bound, inner, text)


@final
@dataclass(frozen=True, eq=False)
class AdaptiveBoundState:
    """What the server keeps of a bound that follows a quantile.

    Attributes:
        estimate: `float32`, of the quantile of the clients' norms.
        round_number: `int32`, rounds finished, for the noise.
        inner: the state of the aggregator inside.
    """

    estimate: Any
    round_number: Any
    inner: Any


@final
@dataclass(frozen=True)
class _Bound:
    """The settings of a bound; see the arguments of `clipping`."""

    norm: float | None
    quantile: float | None
    initial_norm: float
    learning_rate: float
    count_noise: float
    seed: int

    def __post_init__(self) -> None:
        if self.norm not in (None, np.inf):  # which limits nothing
            check_positive("norm", self.norm)
        if self.quantile is not None:
            check_share("quantile", self.quantile)
        check_positive("initial_norm", self.initial_norm)
        check_positive("learning_rate", self.learning_rate)
        check_not_negative("count_noise", self.count_noise)
        check_seed(self.seed)
        # NumPy's numbers would turn float32 into float64 in the body.
        for name, number in asdict(self).items():
            plain = int if name == "seed" else float
            object.__setattr__(self, name, None if number is None else plain(number))

    def initialize(self, inner: Aggregator) -> fl.Computation:
        """`( -> STATE@SERVER)`: that of `inner`, and the first estimate if any."""
        if self.norm is not None:
            return inner.initialize

        @leaf_computation(state_type(inner))
        def begin(inner: Any) -> Any:
            first = tf.constant(self.initial_norm, tf.float32)
            return AdaptiveBoundState(first, tf.constant(0), inner)

        @fl.federated_computation
        def initialize() -> Any:
            return fl.federated_map(begin, inner.initialize())

        return initialize

    def estimate(self, state: Any, placement: Any) -> Any:
        """The estimate of this round at the server or the clients, in a body."""
        if self.norm is not None:
            return fl.federated_value(np.float32(self.norm), placement)
        is_here = placement is fl.SERVER
        return state.estimate if is_here else fl.federated_broadcast(state.estimate)

    def finish_state(self, state: Any, counts: Any, inner: Any) -> Any:
        """The state after a round, with the new one of the aggregator inside."""
        if self.norm is not None:
            return inner
        return at_each(self._renewed, state, counts, inner)

    def _renewed(self, state: Any, counts: Any, inner: Any) -> AdaptiveBoundState:
        # Bounds in a nest draw noise of their own, even if their seeds are the same.
        seed = [zlib.crc32(repr(self).encode()) >> 1, state.round_number]
        noise = self.count_noise * tf.random.stateless_normal([], seed, alg="philox")
        share = (counts["within"] + noise) / counts["clients"]
        estimate = state.estimate * tf.exp(self.learning_rate * (self.quantile - share))
        anybody = counts["clients"] > 0.0
        return AdaptiveBoundState(
            tf.where(anybody, estimate, state.estimate),
            state.round_number + tf.cast(anybody, tf.int32),
            inner,
        )


@final
@dataclass(frozen=True)
class _Limit:
    """What happens to updates whose norm is over a bound.

    Attributes:
        name: of the metric of the bound, `"clip"` for `clip_norm`.
        verb: of the metric of those over it, `"clipped"` for `clipped_share`.
        norm: of the tensors of an update.
        apply: `<UPDATE,weight,norm,bound> -> <UPDATE,weight>`.
        times: the bound is so many times the estimate of a quantile,
        plus: and so much more.
        drops: whether clients over it have no weight.
    """

    name: str
    verb: str
    norm: Callable[[Any], Any]
    apply: Callable[[Any, Any, Any, Any], tuple[Any, Any]]
    times: float = 1.0
    plus: float = 0.0
    drops: bool = False

    def bound(self, estimate: Any) -> Any:
        """The bound that goes with this estimate."""
        return self.times * estimate + self.plus

    def send(self, update: Any, weight: Any, estimate: Any) -> Any:
        """What a client sends, and what is counted of it."""
        norm = self.norm(tf.nest.flatten(update))
        estimate = tf.cast(estimate, norm.dtype)
        bound = self.bound(estimate)
        counted = tf.cast(weight > 0.0, tf.float32)

        def one_if(condition: Any) -> Any:
            return counted * tf.cast(condition, tf.float32)

        counts = OrderedDict(
            within=one_if(norm <= estimate),
            # NaN is over any bound; `not` of a comparison may become another one.
            over=counted - one_if(norm <= bound),
            clients=counted,
        )
        update, weight = self.apply(update, weight, norm, bound)
        return OrderedDict(update=update, weight=weight, counts=counts)

    def measure(self, counts: Any, estimate: Any) -> Any:
        """The metrics of the round."""
        share = counts["over"] / counts["clients"]
        names = f"{self.verb}_share", f"{self.name}_norm"
        return OrderedDict(zip(names, (share, self.bound(estimate)), strict=True))

    def finish_update(self, update: Any, counts: Any) -> Any:
        """The update; zeros for the NaN of a mean of clients that all are left out."""
        if not self.drops:
            return update

        def without_nan(update: Any, counts: Any) -> Any:
            nobody = counts["over"] >= counts["clients"]

            def repaired(x: Any) -> Any:
                is_none = tf.logical_and(nobody, tf.math.is_nan(x))
                return tf.where(is_none, tf.zeros_like(x), x)

            return map_structure(repaired, update)

        return at_each(without_nan, update, counts)


def _clipped(update: Any, weight: Any, norm: Any, bound: Any) -> tuple[Any, Any]:
    """The update, no longer than the bound; a short one keeps its bits."""
    leaves = tf.nest.flatten(update)
    # By units, as the norm of finite numbers may be none.
    units = in_units_of(largest_of(leaves), leaves)
    factor = bound / l2_norm(units)
    kept = [
        tf.where(norm <= bound, x, tf.cast(unit * factor, x.dtype))
        for x, unit in zip(leaves, units, strict=True)
    ]
    return tf.nest.pack_sequence_as(update, kept), weight


CLIP = _Limit("clip", "clipped", l2_norm, _clipped)
"""What `clipping` does to updates, whatever its bound."""


def _zeroed(update: Any, weight: Any, norm: Any, bound: Any) -> tuple[Any, Any]:
    is_kept = norm <= bound
    update = map_structure(lambda x: tf.where(is_kept, x, tf.zeros_like(x)), update)
    return update, tf.where(is_kept, weight, 0.0)


# ------------------------------------------------------------------ one round


def _limited(
    limit: _Limit, bound: _Bound, inner: Factory, name: str
) -> AggregatorFactory:
    check_factory(inner, "inner")

    def build(update: fl.Type) -> Aggregator:
        made = make(inner, update)
        check_keeps_nothing(made, name)
        initialize = bound.initialize(made)
        next_limited = _build_next(limit, bound, made, aggregation(initialize, update))
        mechanism = None if bound.norm is None else made.mechanism
        return replace(
            made,
            name=name,
            initialize=initialize,
            next=next_limited,
            mechanism=mechanism,
        )

    return AggregatorFactory(name, build)


def _build_next(
    limit: _Limit, bound: _Bound, inner: Aggregator, decorate: Body
) -> fl.Computation:
    @decorate
    def next_limited(state: Any, updates: Any, weights: Any) -> Any:
        estimate = bound.estimate(state, fl.CLIENTS)
        sent = at_each(limit.send, updates, weights, estimate)
        kept = state if bound.norm is not None else state.inner
        output = inner.next(kept, sent.update, sent.weight)
        counts = fl.federated_sum(sent.counts)
        measured = at_each(limit.measure, counts, bound.estimate(state, fl.SERVER))
        return AggregatorOutput(
            bound.finish_state(state, counts, output.state),
            limit.finish_update(output.update, counts),
            join_metrics(measured, output.metrics),
        )

    return next_limited
