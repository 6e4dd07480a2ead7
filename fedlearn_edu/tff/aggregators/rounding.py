# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Sums of rounded values, so that clients send fewer bits."""

from typing import Any, final

import fedlearn_edu as fl
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.runtimes.tensorflow.library import tf
from fedlearn_edu.tff.aggregators.factory import (
    SumFactory,
    UnweightedAggregationFactory,
    with_containers,
)
from fedlearn_edu.tff.templates import AggregationProcess


@final
class EncodedSumFactory(UnweightedAggregationFactory):
    r"""A sum of which large tensors are rounded to $2^b$ steps of their own range.

    $x \mapsto m + \mathrm{round}\bigl((x-m)/(M-m) \cdot (2^b-1)\bigr) (M-m)/(2^b-1)$,
    with $m$ and $M$ the least and the greatest number of the tensor.

    Raises:
        ProcessError: unless there are 1 to 16 bits.
    """

    def __init__(self, quantization_bits: int, threshold: int) -> None:
        if not 1 <= quantization_bits <= 16:
            raise ProcessError(
                "values are rounded to a number of bits",
                expected="1 to 16",
                found=repr(quantization_bits),
                where="quantization_bits",
            )
        self._steps, self._threshold = 2.0**quantization_bits - 1, threshold

    @classmethod
    def quantize_above_threshold(
        cls, quantization_bits: int = 8, threshold: int = 20000, **_: Any
    ) -> "EncodedSumFactory":
        """Rounds tensors of more than `threshold` numbers, and no others."""
        return cls(quantization_bits, threshold)

    def create(self, value_type: Any) -> AggregationProcess:
        """The sum of the rounded values."""
        value_type = with_containers(value_type)
        total = SumFactory().create(value_type)

        @fl.tf_computation(value_type)
        def rounded(value: Any) -> Any:
            return tf.nest.map_structure(self._rounded, value)

        @fl.federated_computation(total.state_type, fl.type_at_clients(value_type))
        def add(state: Any, value: Any) -> Any:
            return total.next(state, fl.federated_map(rounded, value))

        return AggregationProcess(total.initialize, add)

    def _rounded(self, x: Any) -> Any:
        if x.shape.num_elements() <= self._threshold:
            return x
        least, width = tf.reduce_min(x), tf.reduce_max(x) - tf.reduce_min(x)
        share = tf.math.divide_no_nan(x - least, width)
        return least + tf.round(share * self._steps) * width / self._steps
