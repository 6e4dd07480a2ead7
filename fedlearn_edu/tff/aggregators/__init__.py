# SPDX-License-Identifier: Apache-2.0
"""`tff.aggregators`: factories of aggregations."""

from fedlearn_edu.former_names import answering
from fedlearn_edu.language.aggregation import federated_max, federated_min
from fedlearn_edu.tff.aggregators.factory import (
    MeanFactory,
    SumFactory,
    UnweightedAggregationFactory,
    UnweightedMeanFactory,
    WeightedAggregationFactory,
)
from fedlearn_edu.tff.aggregators.limits import (
    PrivateQuantileEstimationProcess,
    clipping_factory,
    zeroing_factory,
)
from fedlearn_edu.tff.aggregators.private import DifferentiallyPrivateFactory
from fedlearn_edu.tff.aggregators.rounding import EncodedSumFactory
from fedlearn_edu.tff.aggregators.secure import SecureSumFactory

__all__ = [
    "DifferentiallyPrivateFactory",
    "EncodedSumFactory",
    "MeanFactory",
    "PrivateQuantileEstimationProcess",
    "SecureSumFactory",
    "SumFactory",
    "UnweightedAggregationFactory",
    "UnweightedMeanFactory",
    "WeightedAggregationFactory",
    "clipping_factory",
    "federated_max",
    "federated_min",
    "zeroing_factory",
]

__getattr__ = answering("fedlearn_edu.tff.aggregators", __all__)
