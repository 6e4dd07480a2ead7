# SPDX-License-Identifier: Apache-2.0
"""The privacy budget of a run: what its rounds have spent, and when to stop."""

from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.errors import bad_argument
from fedlearn_edu.learning.accounting import (
    FixedSize,
    Sampling,
    calibrate,
    check_delta,
    check_epsilon,
    epsilon,
)
from fedlearn_edu.learning.aggregators import GaussianMechanism
from fedlearn_edu.learning.errors import RunError
from fedlearn_edu.learning.history import History
from fedlearn_edu.learning.process import LearningProcess
from fedlearn_edu.simulation import ClientSampling

Budget = tuple[float, float] | tuple[float, float, str]
"""`(epsilon, delta)` where neighboring data sets differ by one client more or less, and
`(epsilon, delta, "replace_one")` where they differ by one client instead of another."""

_ADJACENCIES = ("add_or_remove_one", "replace_one")


@final
@dataclass(frozen=True)
class Spending:
    """What rounds cost, and how much there is to spend; made by `spending`."""

    mechanism: GaussianMechanism
    sampling: Sampling
    limit: float
    delta: float

    def after(self, rounds: int) -> float:
        """The epsilon of so many rounds."""
        return epsilon(self.mechanism, self.sampling, rounds, self.delta)

    def reason_to_stop(self, rounds: int) -> str | None:
        """Why there is no round after so many, if there is none."""
        following = self.after(rounds + 1)
        if following <= self.limit:
            return None
        return (
            f"round {rounds + 1} would spend epsilon {following:.4g} of the budget of "
            f"{self.limit:g}, at delta {self.delta:g} ({self.after(rounds):.4g} is "
            "spent)"
        )

    def check(self, done: int) -> None:
        """Raises `RunError` if what is done cost too much, or a first round would."""
        if not done and self.after(1) > self.limit:
            noise = self.mechanism.noise_multiplier
            needed = calibrate(self.limit, self.delta, self.sampling, rounds=1)
            enough = f"{1.006 * needed:.3g}"  # rounded up
            raise RunError(
                "the budget does not pay for a single round",
                expected=f"epsilon <= {self.limit:g} at delta {self.delta:g}",
                found=f"epsilon {self.after(1):.4g} with noise multiplier {noise:g}",
                where="budget",
                do="accounting.calibrate(epsilon, delta, sampling, rounds) says how "
                f"much noise is enough; {enough} is for one round",
            )
        if self.after(done) > self.limit:
            raise RunError(
                "the budget is spent already",
                expected=f"epsilon <= {self.limit:g} at delta {self.delta:g}",
                found=f"epsilon {self.after(done):.4g} after {done:,} rounds",
                where="budget",
                do="what is released stays so: allow more, or begin a run of its own",
            )

    def told(self, history: History) -> History:
        """The history with the epsilon of each round; it may be of another budget."""
        if not len(history) or history.last.get("epsilon") == self.after(len(history)):
            return history
        rows = enumerate(history, start=1)
        return History.of({**row, "epsilon": self.after(n)} for n, row in rows)


def spending(
    budget: Any,
    process: LearningProcess,
    client_sampling: ClientSampling | None,
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
    sampling = _sampling(client_sampling, clients)
    if adjacency == "replace_one":
        sampling = _with_replacing(sampling, clients)
    found = Spending(process.mechanism, sampling, limit, delta)
    if adjacency != "replace_one" and isinstance(sampling, FixedSize):
        raise _another_event(found, sampling, max(rounds, 1))
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


def _sampling(how: ClientSampling | None, clients: int) -> Sampling:
    if how is None:
        return 1.0
    if how.probability is not None:
        return float(how.probability)
    if how.replace or how.weights != "uniform":
        raise RunError(
            "no accountant speaks of clients that are drawn like this",
            expected="everybody, a probability, or a count or fraction of all that is "
            "drawn uniformly without replacement",
            found=f"weights={how.weights!r}, replace={how.replace}",
            where="client_sampling",
            do="ClientSampling(probability=0.1) costs least",
        )
    count = how.cohort_size(clients)
    assert count is not None
    return 1.0 if count == clients else FixedSize(count, clients)


def _with_replacing(sampling: Sampling, clients: int) -> FixedSize:
    if isinstance(sampling, FixedSize):
        return sampling
    if sampling < 1:
        raise RunError(
            "with a probability the number of clients varies, and one more is a "
            "neighbor",
            expected="a budget (epsilon, delta)",
            found="replace_one",
            where="budget",
        )
    return FixedSize(clients, clients)


def _another_event(found: Spending, sampling: FixedSize, rounds: int) -> RunError:
    """A Poisson accountant would answer, but about something else."""
    share = sampling.count / sampling.clients
    said = epsilon(found.mechanism, share, rounds, found.delta)
    return RunError(
        "a cohort of a fixed size is not what a Poisson accountant speaks of",
        expected=f"ClientSampling(probability={share:.4g}): epsilon {said:.4g} after "
        f"{rounds:,} rounds",
        found=f"exactly {sampling.count:,} of {sampling.clients:,} clients: epsilon "
        f"{found.after(rounds):.4g}",
        where="client_sampling",
        do="take the probability; or say that you mean clients that are replaced: "
        f"budget=({found.limit:g}, {found.delta:g}, 'replace_one')",
    )
