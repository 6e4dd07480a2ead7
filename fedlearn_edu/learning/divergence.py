# SPDX-License-Identifier: Apache-2.0
"""Divergence: a round that ends in NaN or infinity, and which clients caused it.

A mean hides its inputs, so the round is repeated from the last good state with one
client at a time.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.errors import FedLearnError
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
    """Whether what `process.next` returned is finite.

    Where `examples` is 0 the mean loss is NaN, and that is no divergence. What stays
    at workers is not brought here for this: NaN in it is in the server's state, too.
    """
    state, metrics, *client_states = result
    loss = metrics.get("loss_per_example", 0.0)
    is_good = metrics.get("examples") == 0 or math.isfinite(loss)
    return is_good and is_finite(state) and is_finite(client_states)


def diverged(config: RunConfig, run: Run, positions: Sequence[int]) -> DivergenceError:
    """The error for the round after `run`, which these clients finished."""
    number = run.rounds + 1
    found = [who for who in dict.fromkeys(positions) if not _is_good(config, run, who)]
    culprits = [_culprit(config, run, position) for position in found[:_NAMED]]
    error = DivergenceError(
        f"the model is no longer made of numbers after round {number}",
        expected="finite losses and weights",
        found=_describe(culprits, len(found), len(set(positions))),
        where=f"round {number}",
        do=_cure(culprits),
    )
    error.run = run
    return error


def _is_good(config: RunConfig, run: Run, position: int) -> bool:
    result = config.call_next(run, (position,))
    return result[1].get("examples") == 0 or is_sound(result)


def _culprit(config: RunConfig, run: Run, position: int) -> _Culprit:
    metrics = config.call_next(run, (position,))[1]
    batches = config.source.batches(position, run.rounds + 1)
    return _Culprit(
        config.source.name(position),
        float(metrics.get("loss_per_example", math.nan)),
        not all(map(is_finite, batches)),
    )


def _describe(culprits: list[_Culprit], count: int, of: int) -> str:
    if not culprits:
        return f"each of {of} clients is well alone, and their mean is not"
    named = ", ".join(f"{c.name} with loss {c.loss:g}" for c in culprits)
    more = f" and {count - len(culprits)} more" if count > len(culprits) else ""
    return f"{named}{more}; {of} clients took part"


def _cure(culprits: list[_Culprit]) -> str:
    bad = [culprit.name for culprit in culprits if culprit.has_bad_data]
    if bad:
        return f"there is NaN or infinity in the data of {', '.join(bad)}: clean them"
    return (
        "take a smaller learning rate, or scale the data; error.run is the run before"
    )
