# SPDX-License-Identifier: Apache-2.0
"""Which stack for how many clients, when groups of them are at workers.

The same groups, and groups of groups, as `local_executor_factory` makes with the same
`max_fanout`, however many workers there are: so the results have the same bits.
"""

from typing import final

from fedlearn_edu.contexts.arguments import Cardinalities
from fedlearn_edu.contexts.factories import Cache, ExecutorFactory
from fedlearn_edu.contexts.stacks import StackBuilder, StackPlan
from fedlearn_edu.executors.base import Executor
from fedlearn_edu.executors.reference_resolving import ReferenceResolvingExecutor
from fedlearn_edu.remote.executor import Group, RemoteExecutor, Send
from fedlearn_edu.types import CLIENTS

_MAX_STACKS = 10


@final
class RemoteExecutorFactory(ExecutorFactory):
    """Builds stacks whose groups of clients are at workers."""

    def __init__(self, send: Send, plan: StackPlan) -> None:
        self._send = send
        self.plan = plan
        self.default_num_clients = plan.default_num_clients
        self.fuses = plan.fuse
        self._stacks: Cache[tuple[int, frozenset[str]], Executor]
        self._stacks = Cache(_MAX_STACKS, "built", None)

    def create_executor(
        self, cardinalities: Cardinalities, runtimes: frozenset[str] = frozenset()
    ) -> Executor:
        """A new stack, or the one built earlier for the same participants."""
        count = self.plan.num_clients(cardinalities)

        def build() -> Executor:
            builder = StackBuilder(self.plan, runtimes)

            def group(clients: range) -> Executor:
                return RemoteExecutor(Group(self.plan, clients, runtimes), self._send)

            return ReferenceResolvingExecutor(builder.hierarchy(count, group))

        return self._stacks.get((count, runtimes), build, "", "")

    def clean_up_executor(self, cardinalities: Cardinalities) -> None:
        """Closes and forgets the stacks for these participants."""
        for stack in self._forgotten(cardinalities):
            stack.close()

    def forget_executor(self, cardinalities: Cardinalities) -> None:
        """Forgets the stacks for these participants; calls under way keep them."""
        self._forgotten(cardinalities)

    def _forgotten(self, cardinalities: Cardinalities) -> list[Executor]:
        count = self.plan.num_clients(cardinalities)
        return self._stacks.forget(lambda key: key[0] == count)

    def native(self, cardinalities: Cardinalities) -> frozenset[str]:
        """What workers' stacks implement, and what groups of them do."""
        return self.plan.native({CLIENTS: self.plan.max_fanout})
