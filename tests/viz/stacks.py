# SPDX-License-Identifier: Apache-2.0
"""Stacks of executors that are put together by hand, to be shown."""

from typing import Any

import fedlearn_edu as fl

fw = fl.framework


def participant() -> Any:
    return fw.ReferenceResolvingExecutor(fw.NumPyExecutor())


def by_hand(num_clients: int) -> Any:
    targets: dict[Any, Any] = {  # the server is drawn first nevertheless
        fl.CLIENTS: [participant() for _ in range(num_clients)],
        fl.SERVER: participant(),
    }
    strategy = fw.FederatedResolvingStrategy.factory(targets)
    return fw.FederatingExecutor(strategy, participant())


class Mine(fw.NumPyExecutor):  # type: ignore[misc]
    """Does <nothing> new.

    And this is not shown.
    """

    def __init__(self) -> None:
        self.itself = self
