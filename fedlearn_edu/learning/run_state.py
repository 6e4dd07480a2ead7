# SPDX-License-Identifier: Apache-2.0
"""`Run`: the state of a run after some round.

`run` returns one, callbacks get one after each round, and a checkpoint is one on disk.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final

import fedlearn_edu as fl
from fedlearn_edu.errors import counted
from fedlearn_edu.learning.history import History
from fedlearn_edu.learning.pytree import read_only


@final
@dataclass(frozen=True, eq=False)
class ClientStates(Sequence[Any]):
    """What clients keep, to be looked at; on a cluster it comes here only then.

    Attributes:
        entries: one per client: the state, or a reference to it.
    """

    entries: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(ClientStates(self.entries[index]))
        return read_only(fl.framework.materialize([self.entries[index]])[0])

    def __iter__(self) -> Iterator[Any]:
        return map(read_only, fl.framework.materialize(self.entries))


def entries_of(states: Sequence[Any]) -> tuple[Any, ...]:
    """What clients keep as it is, with references to what is at workers."""
    return states.entries if isinstance(states, ClientStates) else tuple(states)


def client_states(entries: Sequence[Any]) -> Sequence[Any]:
    """What clients keep, for those who look at it."""
    is_away = any(isinstance(entry, fl.framework.ValueReference) for entry in entries)
    return ClientStates(tuple(entries)) if is_away else tuple(entries)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """The state of a run after a round.

    Attributes:
        state: the server's, as `process.next` returned it.
        client_states: what each client keeps, one entry per client; `None` where
            clients keep nothing. On a cluster it stays at the workers, and comes here
            when it is looked at, saved, or returned at the end.
        history: a row for each round so far.
        stopped: why it ended before the last round, or `None` if it did not.
        clients: whose the `client_states` are: what tells each client from others.
    """

    state: Any
    client_states: Sequence[Any] | None = None
    history: History = field(default_factory=History)
    stopped: str | None = None
    clients: tuple[str, ...] = ()

    @property
    def rounds(self) -> int:
        """How many rounds are done."""
        return len(self.history)

    @property
    def weights(self) -> Any:
        """The weights of the server's model."""
        return self.state.weights

    def read_only(self) -> "Run":
        """The same for those who look on: its arrays cannot be written into."""
        kept = self.client_states and ClientStates(entries_of(self.client_states))
        return replace(self, state=read_only(self.state), client_states=kept)

    def __repr__(self) -> str:
        count = f"{counted(self.rounds, 'round')}"
        why = f", stopped: {self.stopped}" if self.stopped else ""
        return f"Run of {count}{why}\n{self.history}"
