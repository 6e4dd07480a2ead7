# SPDX-License-Identifier: Apache-2.0
"""Means: what an algorithm does when nothing else is asked for."""

from typing import Any

import fedlearn_edu as fl
from fedlearn_edu.errors import short_traceback
from fedlearn_edu.learning.aggregators.base import (
    Aggregator,
    AggregatorFactory,
    AggregatorOutput,
    aggregation,
    nothing,
    stateless,
)


@short_traceback
def mean() -> AggregatorFactory:
    r"""The weighted mean of the clients' updates, the default everywhere.

    $$\Delta = \sum_k \frac{n_k}{\sum_j n_j} \Delta_k$$

    `(<<>@SERVER,{UPDATE}@CLIENTS,{float32}@CLIENTS> ->
    <<>@SERVER,UPDATE@SERVER,<>@SERVER>)`: no state, no metrics. NaN if all weights
    are 0.

    >>> import numpy as np
    >>> average = mean()(np.float32)
    >>> average.next(average.initialize(), [1.0, 4.0], [2.0, 1.0]).update
    np.float32(2.0)

    Source: B. McMahan et al., "Communication-Efficient Learning of Deep Networks from
    Decentralized Data", AISTATS 2017; `tff.aggregators.MeanFactory`.
    """

    def build(update: fl.Type) -> Aggregator:
        initialize = stateless()

        @aggregation(initialize, update)
        def next_mean(state: Any, updates: Any, weights: Any) -> Any:
            mean_update = fl.federated_mean(updates, weights)
            return AggregatorOutput(state, mean_update, nothing())

        return Aggregator("mean()", initialize, next_mean)

    return AggregatorFactory("mean()", build)
