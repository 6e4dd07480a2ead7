# SPDX-License-Identifier: Apache-2.0
"""`with fl.record() as tape:` – computations run in it leave their events on a tape."""

from collections.abc import Iterator
from contextlib import contextmanager

from fedlearn_edu.contexts.execution import SyncExecutionContext
from fedlearn_edu.contexts.factories import local_executor_factory
from fedlearn_edu.executors.recording import Tape


@contextmanager
def record(
    *, fuse: bool = False, default_num_clients: int = 0, max_fanout: int = 100
) -> Iterator[Tape]:
    """Records every contract call of the computations called within.

    They run on a stack of their own, with sequence operators, whatever the default
    context is. The tape keeps the values that came up, to be looked at later.

    Args:
        fuse: whether steps may be taken together, as they are by default elsewhere;
            then clients that run in one call are one event.
        default_num_clients: how many clients there are when no argument says it.
        max_fanout: from this many clients on, they are put into groups of groups.

    Raises:
        CardinalityError: if a number is out of range.

    >>> import numpy as np
    >>> import fedlearn_edu as fl
    >>> with fl.record() as tape:
    ...     fl.federated_sum(fl.place([1, 2, 3], fl.CLIENTS)).value
    np.int32(6)
    >>> tape.events[-1].what, tape.events[-1].participant
    ('compute', 'server')
    """
    tape = Tape(keep_values=True)
    factory = local_executor_factory(
        default_num_clients, max_fanout, support_sequence_ops=True, tape=tape, fuse=fuse
    )
    with SyncExecutionContext(factory):
        yield tape
