# SPDX-License-Identifier: Apache-2.0
"""Client sampling: who is invited to a round, who drops out, and who is too late.

A pure function of the seed and the round: asking twice, or for rounds out of order,
gives the same cohorts. Only clients that `finished` may enter an average.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedlearn_edu.errors import (
    FedLearnError,
    bad_argument,
    counted,
    short_traceback,
    whole_number,
)
from fedlearn_edu.rules import number
from fedlearn_edu.simulation.seeded_rng import seeded_rng

_JITTER = 0.1


@final
class SamplingError(FedLearnError, ValueError):
    """Clients cannot take part as asked."""


def _check(fits: bool, name: str, expected: str, found: Any) -> None:
    if not fits:
        raise bad_argument(found, name, SamplingError, expected=expected)


@final
@dataclass(frozen=True)
class Cohort:
    """One round's clients, and what became of each; positions, in ascending order.

    With replacement a client may be in it several times; then it counts several times.

    Attributes:
        invited: all clients that were asked; the other three together.
        finished: those whose work arrived in time.
        dropped: those that never answered.
        late: those whose work arrived after the deadline; it is not used.
    """

    invited: tuple[int, ...]
    finished: tuple[int, ...]
    dropped: tuple[int, ...] = ()
    late: tuple[int, ...] = ()


@final
@dataclass(frozen=True)
class Stragglers:
    """Clients that are slow, each at its own pace.

    A client's time is (its examples / the mean of all clients) × exp(spread · z) × a
    jitter of about ten percent. z from N(0, 1) belongs to the client and is the same in
    all rounds; the jitter is new in each.

    Attributes:
        deadline: the time after which an answer is late; an average client of median
            pace takes 1.
        spread: how different the paces are; 0 means not at all.

    >>> Stragglers(deadline=1.5).times([100, 100, 400], seed=0, round_number=1).round(2)
    array([0.56, 0.32, 1.21])
    """

    deadline: float
    spread: float = 0.5

    @short_traceback
    def __post_init__(self) -> None:
        number(self.deadline, "deadline > 0, a number", SamplingError)
        number(self.spread, "spread >= 0, a number", SamplingError)

    def times(
        self, num_examples: ArrayLike, seed: int, round_number: int
    ) -> NDArray[np.float64]:
        """How long each client takes in a round, `float64[clients]`."""
        sizes = np.asarray(num_examples, np.float64)
        pace = seeded_rng("pace", seed).standard_normal(len(sizes))
        jitter = seeded_rng("jitter", seed, round_number).standard_normal(len(sizes))
        work = sizes / (sizes.mean() or 1.0)
        times: NDArray[np.float64] = work * np.exp(
            self.spread * pace + _JITTER * jitter
        )
        return times


@final
@dataclass(frozen=True, kw_only=True)
class ClientSampling:
    """How a round's clients are found: `count=`, `fraction=`, `probability=`, or all.

    Attributes:
        count: how many clients are invited.
        fraction: the share of all that is invited, in (0, 1]; it is rounded to whole
            clients, and to at least one.
        probability: how likely each client is to be invited, in (0, 1], whoever else
            is: Poisson sampling. Cohorts differ in size, and some may be empty.
        weights: which clients are drawn more often: `"uniform"`, `"examples"` (in
            proportion to how many they hold), or one number per client.
        replace: whether a client may be drawn several times in a round.
        dropout: how likely an invited client is to drop out, in [0, 1).
        stragglers: which clients are too slow; `None` for none.
        seed: a whole number; the same one gives the same cohorts.

    >>> sampling = ClientSampling(count=3, dropout=0.3, seed=1)
    >>> sampling.draw(round_number=1, num_examples=[10, 10, 10, 10, 10])
    Cohort(invited=(1, 3, 4), finished=(3, 4), dropped=(1,), late=())

    Raises:
        SamplingError: if something does not make sense; numbers of clients are checked
            by `draw`, which knows how many there are.

    Source: `fraction_fit` of Flower's strategies; `tff.simulation.
    build_uniform_sampling_fn`; for `probability`, `PoissonSampledDpEvent` of
    dp-accounting.
    """

    count: int | None = None
    fraction: float | None = None
    probability: float | None = None
    weights: str | Sequence[float] | NDArray[Any] = "uniform"
    replace: bool = False
    dropout: float = 0.0
    stragglers: Stragglers | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        _check_how_many(self.count, self.fraction, self.probability)
        object.__setattr__(self, "weights", _read_weights(self.weights))
        number(self.dropout, "0 <= dropout < 1", SamplingError)
        fits = self.stragglers is None or isinstance(self.stragglers, Stragglers)
        _check(fits, "stragglers", "Stragglers(deadline=…) or None", self.stragglers)
        self._check_independence()
        whole_number(self.seed, "seed", 0, SamplingError)

    @short_traceback
    def draw(self, round_number: int, num_examples: ArrayLike) -> Cohort:
        """Draws the cohort of a round.

        A cohort may have no client that finished; its round changes nothing.

        Args:
            round_number: Of the round; `learning.run` and its history count from 1.
            num_examples: `int[clients]`, as in `ClientData.num_examples`.

        Raises:
            SamplingError: if there are not enough clients, or not as many as
                weights.
        """
        whole_number(round_number, "round_number", 0, SamplingError)
        sizes = np.asarray(num_examples)
        fits = sizes.ndim == 1 and len(sizes) > 0 and sizes.dtype.kind in "iuf"
        fits = fits and bool((sizes >= 0).all())
        _check(fits, "num_examples", "one count per client, at least one", num_examples)
        invited = self._invite(round_number, sizes)
        drops = seeded_rng("dropout", self.seed, round_number).random(len(sizes))
        dropped = drops < self.dropout
        late = np.zeros(len(sizes), dtype=bool)
        if self.stragglers is not None:
            times = self.stragglers.times(sizes, self.seed, round_number)
            late = (times > self.stragglers.deadline) & ~dropped
        return Cohort(
            invited=tuple(invited.tolist()),
            finished=tuple(invited[~(dropped | late)[invited]].tolist()),
            dropped=tuple(invited[dropped[invited]].tolist()),
            late=tuple(invited[late[invited]].tolist()),
        )

    def __repr__(self) -> str:
        # Checkpoints compare this text: a later field is in it only where it is used.
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.probability is None:
            del values["probability"]
        said = ", ".join(f"{name}={value!r}" for name, value in values.items())
        return f"ClientSampling({said})"

    def cohort_size(self, clients: int) -> int | None:
        """How many of so many clients are invited; `None` where it varies."""
        return None if self.probability is not None else self._count(clients)

    def _count(self, clients: int) -> int:
        if self.fraction is not None:
            return max(1, round(float(self.fraction) * clients))
        return clients if self.count is None else int(self.count)

    def _check_independence(self) -> None:
        if self.probability is not None and (self.replace or self.weights != "uniform"):
            raise SamplingError(
                "with a probability each client is invited independently of the others",
                expected="neither weights nor replace beside probability",
                found=f"weights={self.weights!r}, replace={self.replace}",
                where="ClientSampling",
                do="leave them out, or say how many with count=",
            )

    def _invite(self, round_number: int, sizes: NDArray[Any]) -> NDArray[np.int64]:
        source = seeded_rng("invite", self.seed, round_number)
        if self.probability is not None:
            return np.flatnonzero(source.random(len(sizes)) < self.probability)
        count = self._count(len(sizes))
        chances = self._chances(sizes)
        possible = len(sizes) if chances is None else np.count_nonzero(chances)
        if not self.replace and count > possible:
            raise SamplingError(
                "there are not enough clients for a round",
                expected=f"at most {counted(int(possible), 'client')} per round "
                "without replacement",
                found=f"{count:,} of {counted(len(sizes), 'client')}",
                where="count" if self.fraction is None else "fraction",
                do="invite fewer, or draw with replace=True",
            )
        drawn = source.choice(len(sizes), count, self.replace, chances)
        return np.sort(drawn)

    def _chances(self, sizes: NDArray[Any]) -> NDArray[np.float64] | None:
        """How likely each client is to be drawn; `None` if all are equally likely."""
        if isinstance(self.weights, str):
            if self.weights == "uniform":
                return None
            weights = np.asarray(sizes, np.float64)
        else:
            weights = np.asarray(self.weights, np.float64)
        if len(weights) != len(sizes) or not weights.sum() > 0:
            raise SamplingError(
                "the weights do not fit the clients",
                expected=f"one weight for each of {counted(len(sizes), 'client')}, "
                "not all 0",
                found=f"{len(weights):,} weights with the sum {weights.sum():g}",
                where="weights",
            )
        chances: NDArray[np.float64] = weights / weights.sum()
        return chances


# For arguments that Python itself refuses, such as the former `clients_per_round`.
ClientSampling.__init__ = short_traceback(ClientSampling.__init__)  # type: ignore[method-assign]


def _check_how_many(count: Any, fraction: Any, probability: Any) -> None:
    asked = {"count": count, "fraction": fraction, "probability": probability}
    said = {name: value for name, value in asked.items() if value is not None}
    if len(said) > 1:
        raise SamplingError(
            "how many clients are invited is said in one way",
            expected="count=3, or fraction=0.1, or probability=0.1, or none for all",
            found=", ".join(f"{name}={value}" for name, value in said.items()),
            where="ClientSampling",
        )
    if count is not None:
        whole_number(count, "count", 1, SamplingError)
    for name in ("fraction", "probability"):
        if name in said:
            number(said[name], f"0 < {name} <= 1", SamplingError)


def _read_weights(weights: Any) -> str | tuple[float, ...]:
    if isinstance(weights, str):
        fits = weights in ("uniform", "examples")
        _check(fits, "weights", "'uniform', 'examples' or one number each", weights)
        return weights
    found = np.asarray(weights)
    fits = found.ndim == 1 and len(found) > 0 and found.dtype.kind in "iuf"
    fits = fits and bool(np.isfinite(found).all() and (found >= 0).all())
    _check(fits, "weights", "finite numbers of at least 0, one per client", weights)
    return tuple(float(weight) for weight in found)
