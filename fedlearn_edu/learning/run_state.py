# SPDX-License-Identifier: Apache-2.0
"""`Run`: the state of a run after some round.

`run` returns one, callbacks get one after each round, and a checkpoint is one on disk.
"""

from dataclasses import dataclass, field
from typing import Any, final

from fedlearn_edu.learning.history import History


@final
@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """The state of a run after a round.

    Attributes:
        state: the server's, as `process.next` returned it.
        client_states: what each client keeps, one entry per client; `None` where
            clients keep nothing.
        history: a row for each round so far.
        stopped: why it ended before the last round, or `None` if it did not.
    """

    state: Any
    client_states: tuple[Any, ...] | None = None
    history: History = field(default_factory=History)
    stopped: str | None = None

    @property
    def rounds(self) -> int:
        """How many rounds are done."""
        return len(self.history)

    @property
    def weights(self) -> Any:
        """The weights of the server's model."""
        return self.state.weights

    def __repr__(self) -> str:
        count = f"{self.rounds} round{'' if self.rounds == 1 else 's'}"
        why = f", stopped: {self.stopped}" if self.stopped else ""
        return f"Run of {count}{why}\n{self.history}"
