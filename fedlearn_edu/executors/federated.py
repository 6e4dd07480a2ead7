# SPDX-License-Identifier: Apache-2.0
"""The older form of the federating executor: one mapping says it all.

`FederatedExecutor({SERVER: s, CLIENTS: [c0, c1], None: u})` is a `FederatingExecutor`
with the flat strategy over `s`, `c0` and `c1`, and `u` for unplaced work.
"""

from typing import Any, final

from fedlearn_edu.errors import CardinalityError
from fedlearn_edu.executors.base import Executor
from fedlearn_edu.executors.federating import FederatingExecutor
from fedlearn_edu.executors.strategies.members import TargetExecutors
from fedlearn_edu.executors.strategies.resolving import FederatedResolvingStrategy
from fedlearn_edu.executors.wrapping import Work, WrappingExecutor


@final
class FederatedExecutor(WrappingExecutor):
    """Handles federated types and intrinsics over one executor for each participant.

    What it embeds and calls is what a `FederatingExecutor` does: among the intrinsics
    aggregate, apply, broadcast, collect, eval, map, mean, reduce, sum, value,
    weighted_mean and zip. Lambdas are called by a ReferenceResolvingExecutor on top.

    Args:
        target_executors: from a placement, or `None` for unplaced work, to an executor
            or a list of executors.

    Source: `tff.framework.FederatedExecutor`, up to 0.14.
    """

    def __init__(self, target_executors: TargetExecutors) -> None:
        strategy = FederatedResolvingStrategy.factory(target_executors)
        unplaced = target_executors.get(None)
        if unplaced is None:
            raise CardinalityError(
                "this executor has nobody for unplaced work",
                expected="target_executors with an entry for None",
                found=", ".join(map(str, target_executors)) or "no entries",
                where="target_executors",
                do="write {None: executor, SERVER: executor, CLIENTS: [executor, …]}",
            )
        one = unplaced if isinstance(unplaced, Executor) else unplaced[0]
        super().__init__(FederatingExecutor(strategy, one))

    def close(self) -> None:
        """Closes all target executors."""
        self.target.close()

    async def around(self, what: str, work: Work, subject: Any) -> Any:
        """Passes every call on as it is."""
        return await work()
