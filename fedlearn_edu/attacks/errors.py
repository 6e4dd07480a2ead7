# SPDX-License-Identifier: Apache-2.0
"""The error that all of `attacks` raises."""

from fedlearn_edu.errors import FedLearnError


class AttackError(FedLearnError, ValueError):
    """An attack cannot be made, or does not work on this model, update or process."""
