# SPDX-License-Identifier: Apache-2.0
"""Environments, data sets, and clients: what a simulation needs around a computation.

`datasets` has the examples, `partitions` deals them out, `ClientData` reads them client
by client, and `ClientSampling` chooses the clients of a round.

The two environments are those that TFF programs ask for:
`local_executor_factory()` without sequence operators, `build_inprocess_environment()`
with them.
"""

from fedlearn_edu.former_names import answering
from fedlearn_edu.simulation import datasets, partitions
from fedlearn_edu.simulation.client_data import Client, ClientData
from fedlearn_edu.simulation.client_sampling import (
    ClientSampling,
    Cohort,
    SamplingError,
    Stragglers,
)
from fedlearn_edu.simulation.environments import (
    Environment,
    build_inprocess_environment,
    local_executor_factory,
)

__all__ = [
    "Client",
    "ClientData",
    "ClientSampling",
    "Cohort",
    "Environment",
    "SamplingError",
    "Stragglers",
    "build_inprocess_environment",
    "datasets",
    "local_executor_factory",
    "partitions",
]

__getattr__ = answering("fedlearn_edu.simulation", __all__)
