# SPDX-License-Identifier: Apache-2.0
"""What clusters raise beside the errors of the package."""

from typing import final

from fedlearn_edu.errors import FedLearnError


@final
class ClusterError(FedLearnError, ConnectionError):
    """A cluster cannot be reached, has no worker left, or must not be trusted."""


@final
class NotInstalledError(FedLearnError, ImportError):
    """What clusters need is not installed."""
