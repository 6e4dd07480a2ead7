# SPDX-License-Identifier: Apache-2.0
"""The privacy budget of a run: what its rounds have spent, and when to stop.

What a round with noise cost is in its row of the history, with a budget or without one:
its noise, and who could take part. So earlier rounds count with what they were.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, final

from fedlearn_edu.errors import bad_argument, counted
from fedlearn_edu.learning.accounting import (
    FixedSize,
    Sampling,
    calibrate,
    check_delta,
    check_epsilon,
    composed,
    epsilon,
)
from fedlearn_edu.learning.errors import RunError
from fedlearn_edu.learning.history import COSTS, History
from fedlearn_edu.learning.process import LearningProcess
from fedlearn_edu.learning.run_state import Run
from fedlearn_edu.simulation import ClientSampling

Budget = tuple[float, float] | tuple[float, float, str]
"""`(epsilon, delta)` where neighboring data sets differ by one client more or less, and
`(epsilon, delta, "replace_one")` where they differ by one client instead of another."""

Row = Mapping[str, float]

_ADJACENCIES = ("add_or_remove_one", "replace_one")
_SPOKEN_OF = frozenset({"count", "fraction", "probability", "dropout", "seed"})
"""All of a `ClientSampling` that an accountant can speak of: with it, no client decides
who else takes part. Anything else has to be at its default."""


def cost_of(
    process: LearningProcess, how: ClientSampling | None, clients: int
) -> dict[str, float]:
    """What each round of a process with noise costs, for its row.

    Besides the noise, that is the `probability` of each client, 1 for everybody, or how
    many are `drawn` out of how many. It is the noise alone if there is no epsilon.
    """
    if process.mechanism is None:
        return {}
    noise, probability, drawn, drawn_of = COSTS
    cost: dict[str, float] = {noise: process.mechanism.noise_multiplier}
    if how is None or (not _unspoken(how) and _takes_everybody(how)):
        return {**cost, probability: 1.0, drawn: clients, drawn_of: clients}
    if _unspoken(how):
        return cost
    if how.probability is not None:
        return {**cost, probability: float(how.probability)}
    return {**cost, drawn: how.cohort_size(clients) or 0, drawn_of: clients}


def _takes_everybody(how: ClientSampling) -> bool:
    """Whether it does of any number of clients; a count may be all of those there."""
    return how.count is None and {how.fraction or 1, how.probability or 1} == {1}


def _unspoken(how: ClientSampling) -> str:
    """What an accountant does not speak of; empty if there is nothing."""
    kind: type = type(how)
    if kind is not ClientSampling:
        return f"{kind.__name__}, which may draw in any way"
    found = [
        f"{field.name}={getattr(how, field.name)!r}"
        for field in fields(how)
        if field.name not in _SPOKEN_OF and getattr(how, field.name) != field.default
    ]
    return ", ".join(found)


@final
@dataclass(frozen=True)
class Spending:
    """What rounds cost, and how much there is to spend; made by `spending`.

    Attributes:
        cost: of each round to come.
        limit: the epsilon that there is.
        delta: for all rounds, whatever an earlier budget had.
        adjacency: in what neighboring data sets differ.
        rounds: how many there are to be.
    """

    cost: Row
    limit: float
    delta: float
    adjacency: str
    rounds: int

    def spent(self, history: History, more: int = 0) -> float:
        """The epsilon of all rounds in a history, and of some more.

        Raises:
            RunError: if one of its rounds has none.
        """
        rows = [*history, *[self.cost] * more]
        return composed([(*self._event(row), 1) for row in rows], self.delta)

    def reason_to_stop(self, history: History) -> str | None:
        """Why there is no round after these, if there is none."""
        following = self.spent(history, 1)
        if following <= self.limit:
            return None
        return (
            f"round {len(history) + 1} would spend epsilon {following:.4g} of the "
            f"budget of {self.limit:g}, at delta {self.delta:g} "
            f"({self.spent(history):.4g} is spent)"
        )

    def check(self, done: Run) -> None:
        """Raises `RunError` if what is done cost too much, or a first round would."""
        finished = int(getattr(done.state, "round_number", 0))
        if finished > done.rounds:
            raise RunError(
                "a state has more rounds behind it than its history tells of",
                expected=f"what {counted(finished, 'round')} cost",
                found=f"a history of {done.rounds:,}",
                where="start",
                do="pass the whole run, with all of its history",
            )
        spent = self.spent(done.history)
        if spent > self.limit:
            raise RunError(
                "the budget is spent already",
                expected=f"epsilon <= {self.limit:g} at delta {self.delta:g}",
                found=f"epsilon {spent:.4g} after {counted(done.rounds, 'round')}",
                where="budget",
                do="what is released stays so: allow more, or begin a run of its own",
            )
        if not done.rounds and self.spent(done.history, 1) > self.limit:
            raise self._too_little(done.history)

    def _too_little(self, history: History) -> RunError:
        noise, sampling = self._event(self.cost)
        enough = 1.006 * calibrate(self.limit, self.delta, sampling, rounds=1)
        return RunError(
            "the budget does not pay for a single round",
            expected=f"epsilon <= {self.limit:g} at delta {self.delta:g}",
            found=f"epsilon {self.spent(history, 1):.4g} with noise multiplier "
            f"{noise:g}",
            where="budget",
            do="accounting.calibrate(epsilon, delta, sampling, rounds) says how much "
            f"noise is enough; {enough:.3g} is for one round",  # rounded up
        )

    def told(self, history: History) -> History:
        """The history with the epsilon of each round; it may be of another budget."""
        if not len(history) or history.last.get("epsilon") == self.spent(history):
            return history
        until = (History(history.rows[:count]) for count in range(1, len(history) + 1))
        rows = zip(history, map(self.spent, until), strict=True)
        return History.of({**row, "epsilon": spent} for row, spent in rows)

    def _event(self, row: Row) -> tuple[float, Sampling]:
        """Noise and sampling of a round, in the words of an accountant."""
        noise, probability, drawn, drawn_of = map(row.get, COSTS)
        if noise and probability and self.adjacency != "replace_one":
            return noise, probability
        if noise and drawn and drawn_of and self.adjacency == "replace_one":
            return noise, FixedSize(int(drawn), int(drawn_of))
        raise self._no_event(row)

    def _no_event(self, row: Row) -> RunError:
        """A round that another budget would count, or none."""
        noise, probability, drawn, drawn_of = map(row.get, COSTS)
        now = "round" not in row
        where = "client_sampling" if now else f"round {row['round']} of start"
        if not noise or not (probability or drawn):
            return RunError(
                "what a round cost is not known, so no budget can count it",
                expected="Gaussian noise in each round, and clients of which none "
                "decides who else takes part",
                found=f"noise multiplier {noise:g} and clients drawn in another way"
                if noise
                else "no noise",
                where=where,
                do="begin a run of its own, which takes no weights from this one",
            )
        if drawn and drawn_of:
            return self._of_fixed_size(noise, int(drawn), int(drawn_of), where)
        return RunError(
            "with a probability the number of clients varies, and one more is a "
            "neighbor",
            expected="a budget (epsilon, delta)",
            found=f"replace_one, and clients with probability {probability:g}",
            where="budget" if now else where,
        )

    def _of_fixed_size(self, noise: float, drawn: int, of: int, where: str) -> RunError:
        """A Poisson accountant would answer, but about something else."""
        share = drawn / of
        said, fixed = (
            epsilon(noise, sampling, self.rounds, self.delta)
            for sampling in (share, FixedSize(drawn, of))
        )
        return RunError(
            "this budget assumes that each client joins by its own coin",
            expected=f"ClientSampling(probability={share:.4g}): epsilon {said:.4g} "
            f"after {counted(self.rounds, 'round')}",
            found=f"exactly {drawn:,} of {of:,} clients: epsilon {fixed:.4g}",
            where=where,
            do="take the probability; or say that you mean clients that are replaced: "
            f"budget=({self.limit:g}, {self.delta:g}, 'replace_one')",
        )


def spending(
    budget: Any,
    process: LearningProcess,
    how: ClientSampling | None,
    clients: int,
    rounds: int,
) -> Spending | None:
    """What a run with this budget spends; `None` without one.

    Raises:
        RunError: if it is no budget, if the process adds no noise, or if the sampling
            has no epsilon between neighbors of this kind.
        AccountingError: if epsilon or delta is out of its range.
    """
    if budget is None:
        return None
    limit, delta, adjacency = _read(budget)
    if process.mechanism is None:
        raise RunError(
            "a budget counts the noise of a mechanism, and this process has none",
            expected="a process whose aggregator adds Gaussian noise",
            found=f"{process.name} ({process.settings})",
            where="budget",
            do="build it with aggregator=fl.learning.aggregators.gaussian(…)",
        )
    if how is not None and (unspoken := _unspoken(how)):
        raise RunError(
            "no accountant speaks of clients that are drawn like this",
            expected="everybody, a probability, or a count or fraction of all that is "
            "drawn uniformly without replacement; no client decides who else takes "
            "part",
            found=unspoken,
            where="client_sampling",
            do="ClientSampling(probability=0.1) costs least",
        )
    epsilon(process.mechanism, 1.0, 0, delta)  # refuses no noise
    cost = cost_of(process, how, clients)
    found = Spending(cost, limit, delta, adjacency, max(rounds, 1))
    found.spent(History(), 1)  # refuses neighbors of another kind
    return found


def _read(budget: Any) -> tuple[float, float, str]:
    fits = isinstance(budget, tuple | list) and len(budget) in (2, 3)
    adjacency = budget[2] if fits and len(budget) == 3 else _ADJACENCIES[0]
    if not fits or adjacency not in _ADJACENCIES:
        expected = "(epsilon, delta), or (epsilon, delta, 'replace_one')"
        raise bad_argument(budget, "budget", RunError, expected=expected)
    check_epsilon(budget[0])
    check_delta(budget[1])
    return float(budget[0]), float(budget[1]), adjacency
