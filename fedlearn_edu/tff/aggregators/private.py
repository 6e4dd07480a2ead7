# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Differential privacy: the noisy means of `fl.learning.aggregators`, as factories."""

from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.learning import aggregators as own
from fedlearn_edu.tff.aggregators.factory import (
    UnweightedAggregationFactory,
    with_containers,
)
from fedlearn_edu.tff.templates import AggregationProcess, MeasuredProcessOutput


@final
class DifferentiallyPrivateFactory(UnweightedAggregationFactory):
    """A mean of clipped values with Gaussian noise; `aggregator` is one of `fl`."""

    def __init__(self, aggregator: Any) -> None:
        self._aggregator = aggregator

    @classmethod
    def gaussian_fixed(
        cls, noise_multiplier: float, clients_per_round: float, clip: float
    ) -> "DifferentiallyPrivateFactory":
        """With a fixed norm; see `fl.learning.aggregators.gaussian`."""
        return cls(own.gaussian(clip, noise_multiplier, clients_per_round))

    @classmethod
    def gaussian_adaptive(
        cls,
        noise_multiplier: float,
        clients_per_round: float,
        initial_l2_norm_clip: float = 0.1,
        target_unclipped_quantile: float = 0.5,
        learning_rate: float = 0.2,
        clipped_count_stddev: float | None = None,
    ) -> "DifferentiallyPrivateFactory":
        """With a norm that adapts; see `fl.learning.aggregators.gaussian_adaptive`."""
        return cls(
            own.gaussian_adaptive(
                noise_multiplier,
                clients_per_round,
                quantile=target_unclipped_quantile,
                initial_norm=initial_l2_norm_clip,
                learning_rate=learning_rate,
                count_noise=clipped_count_stddev,
            )
        )

    def create(self, value_type: Any) -> AggregationProcess:
        """The mean of clients that all weigh 1."""
        value_type = with_containers(value_type)
        made = self._aggregator(value_type)
        state_type = made.initialize.type_signature.result

        @fl.federated_computation(state_type, fl.type_at_clients(value_type))
        def combine(state: Any, value: Any) -> Any:
            one = fl.federated_value(np.float32(1.0), fl.CLIENTS)
            return MeasuredProcessOutput(*made.next(state, value, one))

        return AggregationProcess(made.initialize, combine)
