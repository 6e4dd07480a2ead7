# SPDX-License-Identifier: Apache-2.0
"""Which stack for how many clients, when groups of them are at workers.

The same groups, and groups of groups, as `local_executor_factory` makes with the same
`max_fanout`, however many workers there are: so the results have the same bits.
"""

from dataclasses import dataclass, field
from typing import final

from fedlearn_edu.contexts.factories import LocalExecutorFactory
from fedlearn_edu.executors.base import Executor
from fedlearn_edu.executors.threads import Workers
from fedlearn_edu.remote.executor import Group, RemoteExecutor, Send


@final
@dataclass(frozen=True, eq=False, repr=False)
class RemoteExecutorFactory(LocalExecutorFactory):
    """Builds stacks whose groups of clients are at workers, even if there is only one.

    Attributes:
        send: sends a group what it is to do.
    """

    support_sequence_ops: bool = True
    send: Send = field(kw_only=True)

    def has_groups(self, num_clients: int) -> bool:
        """Whatever clients do, is done in groups."""
        return True

    def group(
        self, runtimes: frozenset[str], clients: range, workers: Workers | None = None
    ) -> Executor:
        """What stands here for a group."""
        return RemoteExecutor(Group(clients, self.max_fanout, runtimes), self.send)
