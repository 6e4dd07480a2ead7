# SPDX-License-Identifier: Apache-2.0
"""`tff.simulation.datasets`: clients by name, and two of TFF's published data sets."""

from typing import Any

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.former_names import unknown
from fedlearn_edu.tff.simulation.client_data import ClientData, TestClientData
from fedlearn_edu.tff.simulation.datasets import emnist, shakespeare

__all__ = ["ClientData", "TestClientData", "emnist", "shakespeare"]


@short_traceback
def __getattr__(name: str) -> Any:
    raise unknown("fedlearn_edu.tff.simulation.datasets", name, __all__)
