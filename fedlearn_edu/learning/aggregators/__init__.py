# SPDX-License-Identifier: Apache-2.0
"""Aggregators: what the server makes of the updates that clients send.

Each builder of an averaging algorithm takes one as `aggregator=`; they nest.

>>> import fedlearn_edu as fl
>>> fl.learning.aggregators.mean()
mean()
"""

from fedlearn_edu.former_names import answering
from fedlearn_edu.learning.aggregators.base import (
    Aggregator,
    AggregatorFactory,
    AggregatorOutput,
    AggregatorOutputWithClients,
    GaussianMechanism,
)
from fedlearn_edu.learning.aggregators.compression import quantize, top_k
from fedlearn_edu.learning.aggregators.means import mean
from fedlearn_edu.learning.aggregators.norms import clipping, zeroing
from fedlearn_edu.learning.aggregators.private import gaussian, gaussian_adaptive
from fedlearn_edu.learning.aggregators.robust import krum, median, multi_krum
from fedlearn_edu.learning.aggregators.secure import secure_mean

__all__ = [
    "Aggregator",
    "AggregatorFactory",
    "AggregatorOutput",
    "AggregatorOutputWithClients",
    "GaussianMechanism",
    "clipping",
    "gaussian",
    "gaussian_adaptive",
    "krum",
    "mean",
    "median",
    "multi_krum",
    "quantize",
    "secure_mean",
    "top_k",
    "zeroing",
]

__getattr__ = answering("fedlearn_edu.learning.aggregators", __all__)
