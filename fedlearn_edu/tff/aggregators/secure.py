# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Sums of which the server sees no part: whole numbers, in a secure sum.

Values are clipped to a range that clients and server know, and moved to whole numbers
from 0 on: floats to 2³² steps of the range.
"""

from collections import OrderedDict
from math import ceil, log2
from numbers import Real
from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.errors import describe
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.structure import leaves
from fedlearn_edu.tff.aggregators.factory import (
    UnweightedAggregationFactory,
    unchanging,
    with_containers,
)
from fedlearn_edu.tff.templates import (
    AggregationProcess,
    EstimationProcess,
    MeasuredProcessOutput,
)

_STEPS = 2**32 - 1


@final
class SecureSumFactory(UnweightedAggregationFactory):
    """The sum of values in a range.

    Args:
        upper_bound_threshold: the end of the range: an `int` for whole numbers, a
            `float` for others, or an `EstimationProcess` of the greatest of a client.
        lower_bound_threshold: its begin; without it, the same with its sign turned.

    Raises:
        ProcessError: if the range is empty, or the two are not of one kind.
    """

    def __init__(
        self, upper_bound_threshold: Any, lower_bound_threshold: Any = None
    ) -> None:
        upper, lower = upper_bound_threshold, lower_bound_threshold
        for end in (upper, 0 if lower is None else lower):
            if not isinstance(end, Real | EstimationProcess):
                raise ProcessError(
                    "the range of a secure sum has two ends",
                    expected="numbers, or an EstimationProcess",
                    found=describe(end),
                )
        if lower is not None and _is_int(upper) != _is_int(lower):
            raise ProcessError(
                "both ends of a range are of one kind",
                expected="two ints, two floats or two processes",
                found=f"{describe(upper)} and {describe(lower)}",
            )
        self._is_process = isinstance(upper, EstimationProcess)
        if not self._is_process and upper <= (-upper if lower is None else lower):
            raise ProcessError(
                "the range of a secure sum is empty",
                expected="an upper bound above the lower one",
                found=f"{upper}, and {-upper if lower is None else lower}",
            )
        self._upper, self._lower = upper, lower

    def create(self, value_type: Any) -> AggregationProcess:
        """Measures the range, and how many clients were clipped at either end.

        Raises:
            ProcessError: if the range is of whole numbers and the values are not, or
                the other way round; or not all of one data type.
        """
        value_type = with_containers(value_type)
        number = _number_type(value_type)
        is_whole = number.kind in "iu"
        if is_whole != _is_int(self._upper):
            raise ProcessError(
                "the range of a secure sum is not of the kind of its values",
                expected=f"a range of {'ints' if is_whole else 'floats'}",
                found=describe(self._upper),
            )
        ends = _ends(self._upper, self._lower, number)
        extremes = fl.tf_computation(_extremes, value_type)
        whole = self._whole(value_type, number)
        pair = extremes.type_signature.result

        @fl.tf_computation(pair, pair)
        def outside(found: Any, bounds: Any) -> Any:
            below, above = found[0] < bounds[0], found[1] > bounds[1]
            return tf.cast(below, tf.int32), tf.cast(above, tf.int32)

        @fl.federated_computation(ends.state_type, fl.type_at_clients(value_type))
        def add(state: Any, value: Any) -> Any:
            bounds = ends.report(state)
            sent = fl.federated_broadcast(bounds)
            found = fl.federated_map(extremes, value)
            total = whole(value, sent, bounds)
            flags = fl.federated_map(outside, [found, sent])
            counts = fl.federated_secure_sum_bitwidth(flags, 1)
            measured = OrderedDict(
                secure_upper_clipped_count=counts[1],
                secure_lower_clipped_count=counts[0],
                secure_upper_threshold=bounds[1],
                secure_lower_threshold=bounds[0],
            )
            after = ends.next(state, found)
            return MeasuredProcessOutput(after, total, fl.federated_zip(measured))

        return AggregationProcess(ends.initialize, add)

    def _whole(self, value_type: Any, number: np.dtype[Any]) -> Any:
        """The sum, in a body: values are shifted to whole numbers, and back."""
        pair, bits = fl.to_type((number, number)), 32
        steps, value = _steps, _value
        if number.kind in "iu":
            lower = -self._upper if self._lower is None else self._lower
            bits = max(1, ceil(log2(self._upper - lower + 1)))
            steps, value = _whole_steps, _whole_value

        @fl.tf_computation(value_type, pair)
        def shift(values: Any, ends: Any) -> Any:
            moved = tf.nest.map_structure(lambda x: steps(x, *ends), values)
            return moved, tf.constant(1, tf.int64)

        @fl.tf_computation(shift.type_signature.result, pair)
        def back(total: Any, ends: Any) -> Any:
            sums, count = total
            return tf.nest.map_structure(lambda s: value(s, count, *ends), sums)

        def total(values: Any, sent: Any, bounds: Any) -> Any:
            moved = fl.federated_map(shift, [values, sent])
            parts = [fl.federated_secure_sum_bitwidth(moved[0], bits)]
            parts.append(fl.federated_secure_sum_bitwidth(moved[1], 1))
            return fl.federated_map(back, [fl.federated_zip(parts), bounds])

        return total


def _steps(x: Any, low: Any, high: Any) -> Any:
    """The step of 2³² - 1 between both ends that is nearest: so 0 is a whole one.

    In float64, else the steps of float32 would be wider.
    """
    scale = _scale(low, high)
    at = tf.cast(tf.clip_by_value(x, low, high), tf.float64) * scale
    steps = tf.cast(tf.round(at), tf.int64) - _first(low, scale)
    return tf.clip_by_value(steps, 0, _STEPS)


def _value(steps: Any, count: Any, low: Any, high: Any) -> Any:
    scale = _scale(low, high)
    found = tf.cast(steps + count * _first(low, scale), tf.float64) / scale
    return tf.cast(found, low.dtype)


def _scale(low: Any, high: Any) -> Any:
    return _STEPS / tf.cast(high - low, tf.float64)


def _first(low: Any, scale: Any) -> Any:
    return tf.cast(tf.round(tf.cast(low, tf.float64) * scale), tf.int64)


def _whole_steps(x: Any, low: Any, high: Any) -> Any:
    x = tf.clip_by_value(x, low, high)
    return tf.cast(x, tf.int64) - tf.cast(low, tf.int64)


def _whole_value(steps: Any, count: Any, low: Any, high: Any) -> Any:
    return tf.cast(steps + count * tf.cast(low, tf.int64), low.dtype)


def _is_int(number: Any) -> bool:
    return isinstance(number, int | np.integer)


def _number_type(value_type: Any) -> np.dtype[Any]:
    kinds = {leaf.dtype for leaf in leaves(value_type)}
    if len(kinds) != 1:
        raise ProcessError(
            "a secure sum is of one data type",
            expected="tensors of one data type",
            found=str(value_type),
            do="cast them before",
        )
    found: np.dtype[Any] = np.dtype(kinds.pop())
    return found


def _extremes(value: Any) -> Any:
    flat = tf.nest.flatten(value)
    least = tf.reduce_min(tf.stack([tf.reduce_min(x) for x in flat]))
    return least, tf.reduce_max(tf.stack([tf.reduce_max(x) for x in flat]))


def _ends(upper: Any, lower: Any, number: np.dtype[Any]) -> EstimationProcess:
    """The range as a process: it observes extremes, and reports both ends."""
    if not isinstance(upper, EstimationProcess):
        begin = -upper if lower is None else lower
        return unchanging(
            lambda: (tf.constant(begin, number), tf.constant(upper, number)),
            (number, number),
        )
    if lower is None:
        return _adapting(upper, number)
    raise ProcessError(
        "a range that adapts goes as far below zero as above it",
        expected="one EstimationProcess",
        found="two",
    )


def _adapting(upper: EstimationProcess, number: np.dtype[Any]) -> EstimationProcess:
    pair = fl.to_type((number, number))

    @fl.tf_computation(pair)
    def greatest(found: Any) -> Any:
        return tf.cast(tf.maximum(tf.abs(found[0]), tf.abs(found[1])), tf.float32)

    @fl.tf_computation(np.float32)
    def around_zero(bound: Any) -> Any:
        return tf.cast(-bound, number), tf.cast(bound, number)

    @fl.federated_computation(upper.state_type, fl.type_at_clients(pair))
    def observe(state: Any, found: Any) -> Any:
        return upper.next(state, fl.federated_map(greatest, found))

    @fl.federated_computation(upper.state_type)
    def report(state: Any) -> Any:
        return fl.federated_map(around_zero, upper.report(state))

    return EstimationProcess(upper.initialize, observe, report)
