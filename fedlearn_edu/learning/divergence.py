# SPDX-License-Identifier: Apache-2.0
"""Divergence: a round that ends in NaN or infinity, and which clients caused it.

A mean hides its inputs, so the round is repeated from the last good state with one
client at a time.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.errors import ComputationFailedError, FedLearnError, counted
from fedlearn_edu.learning.config import RunConfig
from fedlearn_edu.learning.pytree import is_finite
from fedlearn_edu.learning.run_state import Run

_NAMED = 5


@final
class DivergenceError(FedLearnError, ArithmeticError):
    """A round ended in NaN or infinity.

    Attributes:
        run: up to the last good round; `Options(start=error.run)` continues it.
    """

    run: Run


@final
@dataclass(frozen=True)
class _Culprit:
    name: str
    loss: float
    has_bad_data: bool


def is_sound(result: Sequence[Any]) -> bool:
    """Whether what `process.next` returned is finite: the model, and what clients keep.

    The mean loss is no sign: it is NaN in a round without examples, and where a rule
    leaves out a bad client. What stays at workers is not brought here for this: NaN in
    it is in the server's state, too.
    """
    state, _, *client_states = result
    return is_finite(state) and is_finite(client_states)


def diverged(config: RunConfig, run: Run, positions: Sequence[int]) -> DivergenceError:
    """The error for the round after `run`, which these clients finished."""
    number, clients = run.rounds + 1, list(dict.fromkeys(positions))
    asked = (_culprit(config, run, who, len(positions)) for who in clients)
    culprits = [culprit for culprit in asked if culprit]
    error = DivergenceError(
        f"the model is no longer made of numbers after round {number}",
        expected="finite weights",
        found=_describe(culprits, len(clients)),
        where=f"round {number}",
        do=_cure(culprits[:_NAMED]),
    )
    error.run = run
    return error


def _culprit(
    config: RunConfig, run: Run, position: int, clients: int
) -> _Culprit | None:
    """This client, if it does harm; a rule may bear it, but its loss tells."""
    result = _alone(config, run, position, clients)
    loss = float(result[1].get("loss_per_example", 0.0))
    if result[1].get("examples") == 0 or (is_sound(result) and math.isfinite(loss)):
        return None
    batches = config.source.batches(position, run.rounds + 1)
    name = config.source.name(position)
    return _Culprit(name, loss, not all(map(is_finite, batches)))


def _alone(config: RunConfig, run: Run, position: int, clients: int) -> Any:
    """What the round makes of one client.

    A rule such as Krum compares several: all of them are this one, as many as it needs.
    """
    for times in (1, 3, 9):
        with suppress(ComputationFailedError):
            return config.call_next(run, (position,) * min(times, clients))
    return config.call_next(run, (position,) * clients)


def _describe(culprits: list[_Culprit], of: int) -> str:
    if not culprits:
        return f"each of {counted(of, 'client')} is well alone, and their mean is not"
    named = ", ".join(f"{c.name} with loss {c.loss:g}" for c in culprits[:_NAMED])
    more = f" and {len(culprits) - _NAMED} more" if len(culprits) > _NAMED else ""
    return f"{named}{more}; {counted(of, 'client')} took part"


def _cure(culprits: list[_Culprit]) -> str:
    bad = [culprit.name for culprit in culprits if culprit.has_bad_data]
    if bad:
        return f"there is NaN or infinity in the data of {', '.join(bad)}: clean them"
    return (
        "take a smaller learning rate, or scale the data; error.run is the run before"
    )
