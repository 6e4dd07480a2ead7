# SPDX-License-Identifier: Apache-2.0
"""`tff.simulation.datasets`: clients by name, and two of TFF's published data sets."""

from fedlearn_edu.former_names import answering
from fedlearn_edu.tff.simulation.client_data import ClientData, TestClientData
from fedlearn_edu.tff.simulation.datasets import emnist, shakespeare

__all__ = ["ClientData", "TestClientData", "emnist", "shakespeare"]

__getattr__ = answering("fedlearn_edu.tff.simulation.datasets", __all__)
