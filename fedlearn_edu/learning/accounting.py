# SPDX-License-Identifier: Apache-2.0
"""Privacy accounting: the epsilon that rounds of noisy sums add up to.

A round clips each client's update to norm C and adds Gaussian noise of standard
deviation z·C to their sum. Its output is (ε, δ)-private: whether one client is in the
data or not changes the probability of any outcome by a factor of at most e^ε, up to δ.
Who takes part matters as much as the noise:

    everybody            exact, a single Gaussian of z/√rounds (Balle and Wang 2018)
    Poisson sampling     privacy-loss distributions, composed numerically (Koskela et
                         al. 2020, Doroshenko et al. 2022); tighter than Rényi's
    exactly k clients    Rényi divergences (Wang et al. 2019): for this sampling the
                         library has nothing tighter

For the first two, neighboring data sets differ by a client that is added or removed.
Where k is fixed, one client is *replaced* by another, which moves the sum by up to 2·C:
the same noise counts by half.

The library is Google's `dp-accounting`, of the extra `privacy`; it is loaded when first
needed.
"""

import logging
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache, reduce
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu.errors import (
    FedLearnError,
    bad_argument,
    counted,
    short_traceback,
    whole_number,
)
from fedlearn_edu.learning.aggregators import GaussianMechanism
from fedlearn_edu.rules import is_number

_MOST_NOISE, _LEAST_NOISE = 1e4, 1e-2
_PRECISION = 1e-4
_NO_NOISE = 1e-3
_MOST_ROUNDS = 10**7  # of one kind; more would take minutes
# Beyond these the library computes nothing, and here ε is a little too large.
_MOST_COUNTED, _EVERYBODY, _LEAST = 1e6, 1 - 1e-9, 1e-6


class AccountingError(FedLearnError, ValueError):
    """There is no epsilon for these numbers."""


@final
class MissingAccountantError(FedLearnError, ImportError):
    """An epsilon was asked for where dp-accounting is not installed."""


@final
@dataclass(frozen=True)
class FixedSize:
    """A cohort of exactly `count` of all `clients`, drawn anew in each round.

    Neighboring data sets differ by one client that is replaced by another.

    Raises:
        AccountingError: if that many cannot be drawn.
    """

    count: int
    clients: int

    @short_traceback
    def __post_init__(self) -> None:
        whole_number(self.clients, "clients", 1, AccountingError)
        whole_number(self.count, "count", 1, AccountingError)
        if self.count > self.clients:
            expected = f"at most {self.clients:,}, without replacement"
            raise bad_argument(self.count, "count", AccountingError, expected=expected)


Sampling = float | FixedSize
"""Each client takes part with this probability, 1 for everybody; or a fixed number."""


@short_traceback
def epsilon(
    noise_multiplier: float | GaussianMechanism,
    sampling: Sampling,
    rounds: int,
    delta: float,
) -> float:
    """What so many rounds cost.

    Fixed-size cohorts cost far more than Poisson sampling of as many clients:

    >>> round(epsilon(1.0, 0.1, rounds=50, delta=1e-3), 2)
    3.31
    >>> round(epsilon(1.0, FixedSize(100, clients=1000), rounds=50, delta=1e-3), 2)
    42.43

    Args:
        noise_multiplier: z, the standard deviation of the noise in the sum, in units of
            the clipping norm; or a mechanism that has one.
        sampling: How likely each client is to take part in a round, in (0, 1], with 1
            for everybody; or a `FixedSize`.
        rounds: How many; no round costs nothing.
        delta: In (0, 1), well below one over the number of clients.

    Raises:
        AccountingError: if a number is out of its range; without noise ε is infinite.
        MissingAccountantError: if dp-accounting is not installed.
    """
    whole_number(rounds, "rounds", 0, AccountingError)
    return composed([(noise_multiplier, sampling, int(rounds))], delta)


@short_traceback
def composed(
    rounds: Iterable[tuple[float | GaussianMechanism, Sampling, int]], delta: float
) -> float:
    """What rounds cost together that differ in noise or sampling.

    >>> round(composed([(0.5, 0.1, 10), (1.0, 0.1, 40)], delta=1e-3), 2)
    8.1

    Args:
        rounds: Noise multiplier, sampling, and how many rounds there were of that kind.
        delta: As in `epsilon`.

    Raises:
        AccountingError: as in `epsilon`; or if some cohorts are of a fixed size and
            others are not, whose neighbors differ in another way.
    """
    check_delta(delta)
    counts: Counter[_Kind] = Counter()
    for noise, sampling, number in rounds:
        _check_rounds(number)
        counts[_kind(noise, sampling)] += number
    fixed = {isinstance(sampling, FixedSize) for _, sampling in counts}
    if len(fixed) > 1:
        raise AccountingError(
            "fixed cohorts and others have no epsilon together",
            expected="a probability in all rounds, or a FixedSize in all",
            found="both",
            where="rounds",
            do="count each kind by itself: what they promise differs",
        )
    after = _fixed_size if True in fixed else _poisson
    total = tuple((kind, number) for kind, number in counts.items() if number)
    with _quietly():
        return after(total, float(delta)) if total else 0.0


@short_traceback
def epsilon_by_round(
    noise_multiplier: float | GaussianMechanism,
    sampling: Sampling,
    rounds: int,
    delta: float,
) -> NDArray[np.float64]:
    """The same after each round, `float64[rounds]`.

    >>> epsilon_by_round(1.0, 0.1, rounds=4, delta=1e-3).round(2)
    array([0.65, 0.84, 0.98, 1.09])
    """
    whole_number(rounds, "rounds", 0, AccountingError)
    _check_rounds(rounds)
    kind, numbers = (noise_multiplier, sampling), range(1, int(rounds) + 1)
    return np.array([composed([(*kind, number)], delta) for number in numbers])


@short_traceback
def calibrate(epsilon: float, delta: float, sampling: Sampling, rounds: int) -> float:
    """The least noise multiplier for which so many rounds cost no more than epsilon.

    >>> round(calibrate(2.0, 1e-3, sampling=0.1, rounds=100), 2)
    1.67

    It is between 0.01 and 10,000, and at most 0.01 % more than needed.

    Raises:
        AccountingError: if a number is out of its range, or no noise is enough.
        MissingAccountantError: if dp-accounting is not installed.
    """
    check_epsilon(epsilon)
    whole_number(rounds, "rounds", 1, AccountingError)

    def is_enough(noise: float) -> bool:
        return composed([(noise, sampling, int(rounds))], delta) <= epsilon

    high = 1.0
    while not is_enough(high):
        high *= 2
        if high > _MOST_NOISE:
            raise AccountingError(
                "no noise is enough for this epsilon",
                expected=f"an epsilon that a noise multiplier up to {_MOST_NOISE:,.0f} "
                "can reach",
                found=f"epsilon {epsilon:g} at delta {delta:g} after "
                f"{counted(rounds, 'round')}",
                where="epsilon",
                do="allow more: a larger epsilon or delta, or fewer rounds",
            )
    low = high / 2
    while low >= _LEAST_NOISE and is_enough(low):
        low, high = low / 2, low
    while high / low > 1 + _PRECISION:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return max(high, _LEAST_NOISE)


def _check_rounds(rounds: int) -> None:
    if rounds > _MOST_ROUNDS:
        is_huge = rounds >= 10**18
        raise AccountingError(
            "the cost of this many rounds is not computed",
            expected=f"at most {_MOST_ROUNDS:,} rounds",
            found=f"about 1e{math.log10(rounds):.0f}" if is_huge else f"{rounds:,}",
            where="rounds",
            do="pass the number of rounds of one training, such as 1_000",
        )


def check_epsilon(epsilon: Any) -> None:
    """Raises `AccountingError` unless this can be an epsilon to reach."""
    if not (is_number(epsilon) and 0 < epsilon < math.inf):
        raise AccountingError(
            "no noise, however much, makes epsilon 0",
            expected="a number above 0; 1 is strong, 10 is weak",
            found=repr(epsilon),
            where="epsilon",
        )


def check_delta(delta: Any) -> None:
    """Raises `AccountingError` unless this can be a delta."""
    if not (is_number(delta) and 0 < delta < 1):
        raise AccountingError(
            "delta is a small probability",
            expected="a number in (0, 1), below one over the number of clients",
            found=repr(delta),
            where="delta",
            do="1e-5 is usual, or 1 / clients**1.1 where clients are few",
        )


# ------------------------------------------------------------------ the library


_Kind = tuple[float, Sampling]
_Counts = tuple[tuple[_Kind, int], ...]


def _kind(noise: Any, sampling: Any) -> _Kind:
    """Noise and sampling of a round, once both make sense."""
    if isinstance(noise, GaussianMechanism):
        noise = noise.noise_multiplier
    _check_noise(noise)
    _check_sampling(sampling)
    noise = float(min(noise, _MOST_COUNTED))
    if isinstance(sampling, FixedSize):
        return noise, sampling
    return noise, 1.0 if sampling > _EVERYBODY else max(float(sampling), _LEAST)


def _check_noise(noise: Any) -> None:
    if is_number(noise) and noise == 0:
        raise AccountingError(
            "without noise nothing is private: epsilon is infinite",
            expected="a noise multiplier above 0",
            found="0",
            where="noise_multiplier",
            do="calibrate(epsilon, delta, sampling, rounds) says how much is needed",
        )
    if not (is_number(noise) and _NO_NOISE <= noise < math.inf):
        expected = f"a number from {_NO_NOISE:g} on, or the mechanism of an aggregator"
        raise bad_argument(
            noise, "noise_multiplier", AccountingError, expected=expected
        )


def _check_sampling(sampling: Any) -> None:
    if isinstance(sampling, FixedSize) or (is_number(sampling) and 0 < sampling <= 1):
        return
    cure = None
    if is_number(sampling) and sampling > 1:
        cure = f"exactly {sampling:g} are FixedSize({sampling:g}, clients=…)"
    raise AccountingError(
        "an epsilon depends on who takes part",
        expected="the probability of each client in (0, 1], or a FixedSize",
        found=repr(sampling),
        where="sampling",
        do=cure,
    )


class _Library(NamedTuple):
    """The parts of dp-accounting in use."""

    main: Any
    pld: Any
    rdp: Any


@cache
def _library() -> _Library:
    try:
        import dp_accounting
        from dp_accounting import rdp
        from dp_accounting.pld import privacy_loss_distribution
    except ImportError as error:
        raise MissingAccountantError(
            "an epsilon needs dp-accounting, which is not installed",
            expected="import dp_accounting",
            found=str(error),
            do="pip install dp-accounting",
        ) from error
    return _Library(dp_accounting, privacy_loss_distribution, rdp)


@contextmanager
def _quietly() -> Iterator[None]:
    """Keeps the library's log to itself: it tells of each order it leaves out."""
    log = logging.getLogger("absl")
    keep_out: Any = lambda record: False  # noqa: E731
    log.addFilter(keep_out)
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        log.removeFilter(keep_out)


def _everybody(counts: _Counts, delta: float, times: float = 1.0) -> float:
    """Exact: sums with noises z tell as much as one with 1 / √Σ z⁻²."""
    precision = sum(number * (times / noise) ** 2 for (noise, _), number in counts)
    return float(_library().main.get_epsilon_gaussian(precision**-0.5, delta))


@lru_cache(maxsize=1024)
def _poisson(counts: _Counts, delta: float) -> float:
    """By the privacy-loss distributions of single rounds, on one grid."""
    if all(probability == 1 for (_, probability), _ in counts):
        return _everybody(counts, delta)
    wanted, least = zip(*(_interval(*kind) for kind, _ in counts), strict=True)
    interval = max(min(wanted), *least)
    losses = [_loss(*kind, interval).self_compose(n) for kind, n in counts]
    whole = reduce(lambda left, right: left.compose(right), losses)
    return float(whole.get_epsilon_for_delta(delta))


@lru_cache(maxsize=64)
def _loss(noise: float, probability: Any, interval: float) -> Any:
    """The privacy-loss distribution of one round."""
    return _library().pld.from_gaussian_mechanism(
        noise, sampling_prob=probability, value_discretization_interval=interval
    )


def _interval(noise: float, probability: Any) -> tuple[float, float]:
    """A step of the grid, fine for the loss of one round; one for 50,000 of them.

    With a fifteenth of the loss's standard deviation ε is at most 0.1 % too large.
    """
    spread = probability * math.sqrt(math.expm1(min(noise**-2, 700.0)))
    widest = math.log(probability) + 8 / noise + 0.5 / noise**2
    rest = math.log1p(-probability) if probability < 1 else -math.inf
    width = float(np.logaddexp(rest, widest))
    return min(4e-3, spread / 15), width / 50_000


@lru_cache(maxsize=1024)
def _fixed_size(counts: _Counts, delta: float) -> float:
    """By the Rényi divergences of single rounds, which add up.

    No cohort costs more than if all clients took part.
    """
    orders = _renyi(*counts[0][0]).orders
    total = sum(number * _renyi(*kind).rdp for kind, number in counts)
    found, _ = _library().rdp.compute_epsilon(orders, total, delta)
    return min(float(found), _everybody(counts, delta, times=2.0))


@lru_cache(maxsize=64)
def _renyi(noise: float, sampling: Any) -> Any:
    """The accountant of one round."""
    main, _, rdp = _library()
    # The library takes noise in units of how far the sum can move. A client that is
    # replaced moves it by 2·clip (google/differential-privacy#378).
    event = main.SampledWithoutReplacementDpEvent(
        sampling.clients, sampling.count, main.GaussianDpEvent(noise / 2)
    )
    relation = main.NeighboringRelation.REPLACE_ONE
    return rdp.RdpAccountant(neighboring_relation=relation).compose(event)
