# SPDX-License-Identifier: Apache-2.0
"""`with fl.record() as tape:` – computations run in it leave their events on a tape."""

from collections.abc import Iterator
from contextlib import contextmanager

from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.executors.recording import Event
from fedlearn_edu.framework import SyncExecutionContext, Tape, local_executor_factory


@contextmanager
def record(
    *, fuse: bool = False, default_num_clients: int = 0, max_fanout: int = 100
) -> Iterator[Tape]:
    """Records every contract call of the computations called within.

    They run on a stack of their own, with sequence operators, whatever the default
    context is. The tape keeps the values that came up, for somebody to look at later.

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


def check_kept(events: tuple[Event, ...]) -> None:
    """Refuses the events of a tape that kept no values."""
    for event in events:
        is_call = event.what.startswith("create_") or event.what == "compute"
        if is_call and event.given is None and event.made is None:
            raise TypeMismatchError(
                "this tape kept no values: none can be shown, counted or replayed",
                expected="the tape of `with fl.record() as tape:`, which keeps them",
                found="events without values",
                do="for a stack of your own, make the tape so: Tape(keep_values=True)",
            )
