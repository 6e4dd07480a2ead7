# SPDX-License-Identifier: Apache-2.0
"""The two errors that all of learning raises before anything is learned.

What goes wrong later has a class of its own beside its cause: `DivergenceError`,
`CheckpointError`, `HistoryError`, `EvaluationError`.
"""

from fedlearn_edu.errors import FedLearnError


class ProcessError(FedLearnError, ValueError):
    """A model, a loss, an optimizer or a process cannot be made, or used, as asked."""


class RunError(FedLearnError, ValueError):
    """A run was asked for that cannot be: with these numbers, data or callbacks."""
