# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Limits to what one client can do: clipping, zeroing, and norms that adapt.

Source: G. Andrew et al., "Differentially Private Learning with Adaptive Clipping",
NeurIPS 2021.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.errors import describe
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.rules import is_number, number
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.tff.aggregators.factory import (
    SumFactory,
    UnweightedAggregationFactory,
    WeightedAggregationFactory,
    check_floats,
    unchanging,
    with_containers,
)
from fedlearn_edu.tff.aggregators.secure import SecureSumFactory
from fedlearn_edu.tff.templates import (
    AggregationProcess,
    EstimationProcess,
    MeasuredProcessOutput,
)

_ESTIMATE = ("current_estimate", "aggregator")


@final
class PrivateQuantileEstimationProcess:
    r"""An estimate $C$ of a quantile of numbers at the clients.

    In each round $C \leftarrow C\, e^{-\eta (b - q)}$, where $b$ is the share of
    clients with a number of at most $C$.
    """

    @staticmethod
    def no_noise(
        initial_estimate: float,
        target_quantile: float,
        learning_rate: float,
        multiplier: float = 1.0,
        increment: float = 0.0,
        secure_estimation: bool = False,
    ) -> EstimationProcess:
        """The process; it reports `multiplier * C + increment`.

        Args:
            initial_estimate: of the quantile.
            target_quantile: from 0 to 1.
            learning_rate: of the update above.
            multiplier: of the report.
            increment: of the report.
            secure_estimation: whether the share comes out of a secure sum.

        Raises:
            ProcessError: if one of them makes no sense.
        """
        number(initial_estimate, "initial_estimate > 0", ProcessError)
        number(target_quantile, "0 <= target_quantile <= 1", ProcessError)
        number(learning_rate, "learning_rate > 0", ProcessError)
        number(multiplier, "multiplier > 0", ProcessError)
        number(increment, "increment >= 0", ProcessError)
        sums: Any = SecureSumFactory(1.0) if secure_estimation else SumFactory()
        affine = fl.tf_computation(lambda c: multiplier * c + increment, np.float32)
        begin = fl.tf_computation(lambda: tf.constant(initial_estimate, tf.float32))

        @fl.tf_computation(np.float32, (np.float32, np.float32))
        def follow(estimate: Any, counts: Any) -> Any:
            share = tf.math.divide_no_nan(counts[0], counts[1])
            moved = estimate * tf.exp(-learning_rate * (share - target_quantile))
            return tf.where(counts[1] > 0, moved, estimate)

        return _estimation(begin, follow, affine, sums)


def _estimation(begin: Any, follow: Any, affine: Any, sums: Any) -> EstimationProcess:
    """Counts who is within the estimate; `follow` moves it, `affine` reports it."""
    below = sums.create(fl.to_type((np.float32, np.float32)))

    @fl.tf_computation(np.float32, np.float32)
    def compare(value: Any, estimate: Any) -> Any:
        return tf.cast(value <= estimate, tf.float32), tf.constant(1.0)

    @fl.federated_computation
    def initialize() -> Any:
        estimate = fl.federated_eval(begin, fl.SERVER)
        return fl.federated_zip(_named(_ESTIMATE, (estimate, below.initialize())))

    @fl.federated_computation(
        initialize.type_signature.result, fl.type_at_clients(np.float32)
    )
    def observe(state: Any, value: Any) -> Any:
        sent = fl.federated_broadcast(state.current_estimate)
        counted = below.next(state.aggregator, fl.federated_map(compare, [value, sent]))
        moved = fl.federated_map(follow, [state.current_estimate, counted.result])
        return fl.federated_zip(_named(_ESTIMATE, (moved, counted.state)))

    @fl.federated_computation(initialize.type_signature.result)
    def report(state: Any) -> Any:
        return fl.federated_map(affine, state.current_estimate)

    return EstimationProcess(initialize, observe, report)


def norm_process(norm: Any) -> EstimationProcess:
    """A norm that adapts, as it is; or a number, as a process that stays there."""
    if isinstance(norm, EstimationProcess):
        return norm
    if not is_number(norm) or norm < 0:
        raise ProcessError(
            "a limit is a norm",
            expected="a number of 0 or more, or an EstimationProcess",
            found=describe(norm),
        )
    return unchanging(lambda: tf.constant(norm, tf.float32), np.float32)


def clipping_factory(
    clipping_norm: Any, inner_agg_factory: Any, clipped_count_sum_factory: Any = None
) -> Any:
    r"""Scales a value $x$ to $x \min(1, C / \|x\|_2)$ before `inner_agg_factory`.

    Args:
        clipping_norm: a number, or an `EstimationProcess`.
        inner_agg_factory: combines the values.
        clipped_count_sum_factory: counts the clients that were clipped.
    """

    def clip(value: Any, limit: Any) -> Any:
        # `tf.linalg.global_norm` would let clients run one by one.
        norm = tf.sqrt(tf.add_n([tf.reduce_sum(tf.square(x)) for x in _flat(value)]))
        factor = tf.where(norm > limit, limit / norm, 1.0)
        return _scaled(value, factor), norm, tf.cast(norm > limit, tf.int32)

    counts = clipped_count_sum_factory or SumFactory()
    names = ("clipping_norm", "inner_agg", "clipped_count_agg")
    measured = ("clipping", "clipping_norm", "clipped_count")
    norms = norm_process(clipping_norm)
    return _Limiting(clip, norms, counts, names, measured).around(inner_agg_factory)


def zeroing_factory(
    zeroing_norm: Any,
    inner_agg_factory: Any,
    norm_order: float = inf,
    zeroed_count_sum_factory: Any = None,
) -> Any:
    """Makes zeros of a value the norm of which is above the limit.

    Args:
        zeroing_norm: a number, or an `EstimationProcess`.
        inner_agg_factory: combines the values.
        norm_order: 1, 2 or `inf`, for the greatest number of all.
        zeroed_count_sum_factory: counts the clients that were zeroed.
    """

    def zero(value: Any, limit: Any) -> Any:
        order = np.inf if norm_order == inf else norm_order
        norm = tf.norm(tf.concat(_flat(value), 0), ord=order)
        is_above = norm > limit
        zeroed = tf.nest.map_structure(
            lambda x: tf.where(is_above, tf.zeros_like(x), x), value
        )
        return zeroed, norm, tf.cast(is_above, tf.int32)

    counts = zeroed_count_sum_factory or SumFactory()
    names = ("zeroing_norm", "inner_agg", "zeroed_count_agg")
    measured = ("zeroing", "zeroing_norm", "zeroed_count")
    norms = norm_process(zeroing_norm)
    return _Limiting(zero, norms, counts, names, measured).around(inner_agg_factory)


def _flat(value: Any) -> list[Any]:
    return [tf.reshape(tf.cast(x, tf.float32), [-1]) for x in tf.nest.flatten(value)]


def _scaled(value: Any, factor: Any) -> Any:
    return tf.nest.map_structure(lambda x: x * tf.cast(factor, x.dtype), value)


@dataclass(frozen=True)
class _Limiting:
    """What is done before the values go to another factory.

    Attributes:
        limit: from a value and a bound to the value, its norm, and 1 if it was changed.
        norms: the bound.
        counts: how the ones are counted.
        names: of the three parts of the state: bound, inner, counts.
        measured: of the three measurements: inner, bound, count.
    """

    limit: Callable[[Any, Any], Any]
    norms: EstimationProcess
    counts: Any
    names: tuple[str, str, str]
    measured: tuple[str, str, str]

    def around(self, inner: Any) -> Any:
        """A factory, weighted if the inner one is."""
        is_weighted = isinstance(inner, WeightedAggregationFactory)
        return _WeightedLimit(self, inner) if is_weighted else _Limit(self, inner)

    def initialize(self, inner: AggregationProcess, counter: AggregationProcess) -> Any:
        """`( -> STATE@SERVER)`."""

        @fl.federated_computation
        def initialize() -> Any:
            begins = self.norms.initialize(), inner.initialize(), counter.initialize()
            return fl.federated_zip(_named(self.names, begins))

        return initialize

    def step(
        self, bounded: Any, counter: Any, state: Any, value: Any, inner: Any
    ) -> Any:
        """In a body: `inner` is from a state and limited values to an output."""
        bound_state, inner_state, count_state = (state[name] for name in self.names)
        bound = self.norms.report(bound_state)
        sent = fl.federated_map(bounded, [value, fl.federated_broadcast(bound)])
        made = inner(inner_state, sent[0])
        counted = counter.next(count_state, sent[2])
        after = self.norms.next(bound_state, sent[1]), made.state, counted.state
        seen = made.measurements, bound, counted.result
        return MeasuredProcessOutput(
            fl.federated_zip(_named(self.names, after)),
            made.result,
            fl.federated_zip(_named(self.measured, seen)),
        )

    def parts(self, value_type: Any) -> tuple[Any, AggregationProcess]:
        """What clients do, and how they are counted."""
        check_floats(value_type, "a norm")
        bounded = fl.tf_computation(self.limit, value_type, np.float32)
        return bounded, self.counts.create(fl.to_type(np.int32))


def _named(names: tuple[str, ...], values: Any) -> "OrderedDict[str, Any]":
    return OrderedDict(zip(names, values, strict=True))


@final
@dataclass(frozen=True)
class _Limit(UnweightedAggregationFactory):
    limiting: _Limiting
    inner: Any

    def create(self, value_type: Any) -> AggregationProcess:
        """The inner process, of limited values."""
        value_type = with_containers(value_type)
        limiting, inner = self.limiting, self.inner.create(value_type)
        parts = limiting.parts(value_type)
        begin = limiting.initialize(inner, parts[1])

        @fl.federated_computation(
            begin.type_signature.result, fl.type_at_clients(value_type)
        )
        def combine(state: Any, value: Any) -> Any:
            return limiting.step(*parts, state, value, inner.next)

        return AggregationProcess(begin, combine)


@final
@dataclass(frozen=True)
class _WeightedLimit(WeightedAggregationFactory):
    limiting: _Limiting
    inner: Any

    def create(self, value_type: Any, weight_type: Any) -> AggregationProcess:
        """The inner process, of limited values."""
        value_type = with_containers(value_type)
        limiting, inner = self.limiting, self.inner.create(value_type, weight_type)
        parts = limiting.parts(value_type)
        begin = limiting.initialize(inner, parts[1])

        @fl.federated_computation(
            begin.type_signature.result,
            fl.type_at_clients(value_type),
            fl.type_at_clients(weight_type),
        )
        def combine(state: Any, value: Any, weight: Any) -> Any:
            def weighted(state: Any, value: Any) -> Any:
                return inner.next(state, value, weight)

            return limiting.step(*parts, state, value, weighted)

        return AggregationProcess(begin, combine)
