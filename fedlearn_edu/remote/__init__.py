# SPDX-License-Identifier: Apache-2.0
"""The same program, with its clients in other processes: on a Dask cluster.

`pip install "fedlearn-edu[remote]"` installs what it needs.
"""

from fedlearn_edu.remote.cluster import Cluster
from fedlearn_edu.remote.messages import ClusterError
from fedlearn_edu.remote.records import Message, Round, Traffic, WorkerInfo
from fedlearn_edu.remote.start import connect, local

__all__ = [
    "Cluster",
    "ClusterError",
    "Message",
    "Round",
    "Traffic",
    "WorkerInfo",
    "connect",
    "local",
]
