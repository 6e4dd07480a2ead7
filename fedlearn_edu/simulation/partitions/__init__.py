# SPDX-License-Identifier: Apache-2.0
"""Who holds which examples: from labels to one array of indices per client.

Everything here is a pure function of its arguments, the seed included. The arrays come
from `simulation.datasets`; `simulation.ClientData` reads them through a partition.
Nothing here looks at images to decide who gets them.
"""

from fedlearn_edu.former_names import answering
from fedlearn_edu.simulation.partitions.arguments import Indices, PartitionError
from fedlearn_edu.simulation.partitions.batching import Batch, batches
from fedlearn_edu.simulation.partitions.feature_skew import FeatureShift, feature_shifts
from fedlearn_edu.simulation.partitions.label_skew import (
    dirichlet,
    one_label_per_client,
    shards,
)
from fedlearn_edu.simulation.partitions.natural import by_id
from fedlearn_edu.simulation.partitions.quantity_skew import iid, log_normal_sizes
from fedlearn_edu.simulation.partitions.skew import Skew, describe_skew

__all__ = [
    "Batch",
    "FeatureShift",
    "Indices",
    "PartitionError",
    "Skew",
    "batches",
    "by_id",
    "describe_skew",
    "dirichlet",
    "feature_shifts",
    "iid",
    "log_normal_sizes",
    "one_label_per_client",
    "shards",
]

__getattr__ = answering("fedlearn_edu.simulation.partitions", __all__)
