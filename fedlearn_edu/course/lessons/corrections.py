# SPDX-License-Identifier: Apache-2.0
"""Lesson 11b: FedAdam and SCAFFOLD against drift, and which differences count."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise, Lesson
from fedlearn_edu.course.lessons.drift import RATE, TWO, Pair, slope
from fedlearn_edu.course.mistakes import raises, returns, usual

BETA_1, BETA_2, EPSILON = 0.9, 0.99, 1e-3


def _fading(old: float, new: float) -> Callable[[Any, Any], Any]:
    """A running mean: how much of the old one stays, and of what is new comes in."""
    return lambda mean, value: old * mean + new * value


_M, _S = _fading(BETA_1, 1 - BETA_1), _fading(BETA_2, 1 - BETA_2)


def _adam(
    renew_m: Callable[[Any, Any], Any] = _M,
    renew_s: Callable[[Any, Any], Any] = _S,
    square: Callable[[Any, Any], Any] = lambda g, m: g**2,
    move: Callable[..., Any] = lambda rate, g, m, s: -rate * m / (np.sqrt(s) + EPSILON),
) -> Callable[..., Any]:
    """A server's step that is made of these parts; each can be a usual mistake."""

    def adam_step(weights: Any, m: Any, s: Any, update: Any, rate: float) -> Any:
        g = -update
        m = renew_m(m, g)
        s = renew_s(s, square(g, m))
        return weights + move(rate, g, m, s), m, s

    return adam_step


def _old_means(weights: Any, m: Any, s: Any, update: Any, rate: float) -> Any:
    stepped = weights - rate * m / (np.sqrt(s) + EPSILON)
    return stepped, *_adam()(weights, m, s, update, rate)[1:]


def _corrected(of_m: float, of_s: float) -> Callable[..., Any]:
    """A step of Adam (Kingma and Ba 2015); FedAdam does not correct m and s."""
    return lambda rate, g, m, s: -rate * m / of_m / (np.sqrt(s / of_s) + EPSILON)


_TWO: Final = np.array([1.0, -1.0])

ADAM_STEP = Exercise(
    name="adam_step",
    title="the server's step in FedAdam",
    points=10,
    want=wants.function(5),
    reference=_adam,
    cases=(
        Case("a later step", (1.0, -0.005, 0.0001, 0.02, 0.2)),
        Case("the first step", (1.0, 0.0, 0.0, 2.0, 0.5)),
        Case("an update of 0: it rolls on", (3.0, 0.4, 0.09, 0.0, 0.5)),
        Case(
            "arrays: each weight by itself",
            (_TWO, np.array([0.1, 0.0]), np.array([4.0, 0.01]), 0.5 * _TWO, 0.03),
        ),
    ),
    mistakes=usual(
        "this goes the wrong way: a gradient points uphill, an update downhill, so g = "
        "-update",
        _adam(_fading(BETA_1, BETA_1 - 1)),
        _adam(
            _fading(BETA_1, BETA_1 - 1),
            move=lambda rate, g, m, s: rate * m / (np.sqrt(s) + EPSILON),
        ),
        "of the three, not all are new: assign to `weights`, `m` and `s` themselves",
        lambda weights, m, s, update, rate: (weights, m, s),
        lambda w, m, s, update, rate: (w, *_adam()(w, m, s, update, rate)[1:]),
        lambda w, m, s, update, rate: (_adam()(w, m, s, update, rate)[0], m, s),
        "this is the step alone: take it away from the weights",
        lambda w, m, s, update, rate: (
            _adam()(0 * w, m, s, update, rate)[0],
            *_adam()(w, m, s, update, rate)[1:],
        ),
        lambda w, m, s, update, rate: (
            -_adam()(0 * w, m, s, update, rate)[0],
            *_adam()(w, m, s, update, rate)[1:],
        ),
        "the old mean is missing: m and s are renewed from what they were",
        _adam(_fading(0, 1 - BETA_1), _fading(0, 1 - BETA_2)),
        _adam(_fading(0, 1 - BETA_1)),
        "the root is missing: divide by √s, not by s",
        _adam(move=lambda rate, g, m, s: -rate * m / (s + EPSILON)),
        "this follows the latest update alone: step along m, the running mean",
        _adam(move=lambda rate, g, m, s: -rate * g / (np.sqrt(s) + EPSILON)),
        "the rate is missing: a step is `rate` times m, divided by √s + epsilon",
        _adam(move=lambda rate, g, m, s: -m / (np.sqrt(s) + EPSILON)),
        "m and s are not corrected for their start at 0 here: take them as they are",
        _adam(move=_corrected(1 - BETA_1, 1 - BETA_2)),
        _adam(move=_corrected(1 - BETA_1, 1)),
        _adam(move=_corrected(1, 1 - BETA_2)),
        "the step uses m and s as they were: renew them first, then take the step",
        _old_means,
        "m points uphill, as g does: the step takes it *away*",
        _adam(move=lambda rate, g, m, s: rate * m / (np.sqrt(s) + EPSILON)),
        "s is the running mean of g²: not of g, not of m², and g² is added",
        _adam(square=lambda g, m: m**2),
        _adam(square=lambda g, m: g),
        _adam(renew_s=_fading(BETA_2, BETA_2 - 1)),
        "the two betas are swapped: m goes with 0.9, s with 0.99",
        _adam(_S, _M),
        "the old mean counts beta, and what is new (1 - beta)",
        _adam(renew_m=_fading(1 - BETA_1, BETA_1)),
        _adam(renew_s=_fading(1 - BETA_2, BETA_2)),
        _adam(_fading(1 - BETA_1, BETA_1), _fading(1 - BETA_2, BETA_2)),
        "these are sums that fade, not means: the new part counts (1 - beta)",
        _adam(_fading(BETA_1, 1), _fading(BETA_2, 1)),
    ),
    hints=(
        "A gradient points uphill, an update downhill. Two running means are renewed "
        "with the gradient, and the step comes last.",
        "The four formulas above, from left to right: each line of code uses what the "
        "line before has made. The constants are those above the function.",
        "Four lines:\n"
        "    g = ...\n"
        "    m = BETA_1 * m + (1 - BETA_1) * ...\n"
        "    s = BETA_2 * s + (1 - BETA_2) * ...\n"
        "    weights = weights - rate * ... / (... + EPSILON)",
        "Only the divisor is missing:\n"
        "    g = -update\n"
        "    m = BETA_1 * m + (1 - BETA_1) * g\n"
        "    s = BETA_2 * s + (1 - BETA_2) * g**2\n"
        "    weights = weights - rate * m / (... + EPSILON)",
    ),
)


Steer = Callable[[float, float, float], float]
"""The slope at the client, its own variate, the common one: the slope to follow."""
Renew = Callable[[float, float, float, int], float]
"""The client's own variate, the common one, how far it went down, in how many steps:
its next variate."""


def _steered(slope: float, own: float, common: float) -> float:
    return slope - own + common


def _renewed(own: float, common: float, way: float, steps: int) -> float:
    return own - common + way / (steps * RATE)


def _client(steer: Steer = _steered, renew: Renew = _renewed) -> Callable[..., Any]:
    """A client that steers and remembers in this way; both can be usual mistakes."""

    def scaffold_client(
        weight: float, client: Pair, own: float, common: float, steps: int
    ) -> Any:
        trained = weight
        for _ in range(steps):
            trained = trained - RATE * steer(slope(trained, client), own, common)
        return trained, renew(own, common, weight - trained, steps)

    return scaffold_client


def _stuck(weight: float, client: Pair, own: float, common: float, steps: int) -> Any:
    way = steps * RATE * _steered(slope(weight, client), own, common)
    return weight - way, _renewed(own, common, way, steps)


def _one_step(
    weight: float, client: Pair, own: float, common: float, steps: int
) -> Any:
    way = RATE * _steered(slope(weight, client), own, common)
    return weight - way, _renewed(own, common, way, steps)


def _renewed_each_step(
    weight: float, client: Pair, own: float, common: float, steps: int
) -> Any:
    trained = weight
    for _ in range(steps):
        trained = trained - RATE * _steered(slope(trained, client), own, common)
        own = _renewed(own, common, weight - trained, steps)
    return trained, own


def _at_the_common_optimum(client_round: Callable[..., Any]) -> Any:
    """A picture of a round without variates, and of one with good ones."""
    from fedlearn_edu import viz

    weight, rounds = 1.3, []
    slopes = [slope(weight, client) for client in TWO]
    for variates in ([0.0, 0.0], slopes):
        common = float(np.mean(variates))
        paths = [
            [client_round(weight, client, own, common, n)[0] for n in range(1, 11)]
            for client, own in zip(TWO, variates, strict=True)
        ]
        rounds.append([[weight, *path] for path in paths])
    return viz.draw_local_steps(TWO, rounds)


SCAFFOLD_CLIENT = Exercise(
    name="scaffold_client",
    title="a client of SCAFFOLD",
    points=15,
    want=wants.function(5),
    reference=_client,
    cases=(
        Case("nothing to remember yet, two steps", (0.0, (1.0, 4.0), 0.0, 0.0, 2)),
        Case("one step against the drift", (1.0, (1.0, 4.0), -4.0, 1.0, 1)),
        Case("ten steps", (2.0, (3.0, 3.0), 5.0, -1.5, 10)),
        Case("the other client", (2.0, (1.0, 4.0), -3.0, -1.5, 3)),
    ),
    mistakes=usual(
        "`slope` takes the weight first, then the client",
        raises("unpack"),
        "`trained` is the last weight alone: this is the whole path",
        returns(lambda got, *_: np.ndim(got[0]) > 0),
        "this steers *with* the drift: take your own variate away, and add the common "
        "one",
        _client(steer=lambda slope, own, common: slope + own - common),
        "the client trained as in FedAvg: correct each slope before the step",
        _client(steer=lambda slope, own, common: slope),
        "the common variate is missing: without it the step has no part of what the "
        "others want",
        _client(steer=lambda slope, own, common: slope - own),
        "your own variate is missing in the step: the client's slope is counted beside "
        "the common one",
        _client(steer=lambda slope, own, common: slope + common),
        "the slope was taken at the server's weight in each step; take it where the "
        "client is by now",
        _stuck,
        "this is one step too many: `range(steps)` counts from 0",
        lambda w, client, own, common, n: _client(
            renew=lambda o, c, way, more: _renewed(o, c, way, n)
        )(w, client, own, common, n + 1),
        "this took one step only",
        _one_step,
        "the number of steps is the argument `steps`, which differs from `STEPS`",
        lambda weight, client, own, common, steps: _client()(
            weight, client, own, common, 10
        ),
        lambda weight, client, own, common, steps: _client(
            renew=lambda o, c, way, n: o - c + way / (steps * RATE)
        )(weight, client, own, common, 10),
        _client(renew=lambda o, c, way, n: o - c + way / (10 * RATE)),
        "this goes uphill: a step takes the rate times the slope *away*",
        _client(steer=lambda slope, own, common: -_steered(slope, own, common)),
        "brackets are missing: RATE multiplies the whole of slope - own + common",
        _client(steer=lambda slope, own, common: slope + (own - common) / RATE),
        "the rate is missing: a step is RATE times the corrected slope",
        _client(steer=lambda slope, own, common: _steered(slope, own, common) / RATE),
        "`own` is renewed once, after the loop: yours changes with each step",
        _renewed_each_step,
        "brackets are missing: divide by (steps * RATE) as a whole",
        _client(renew=lambda o, c, way, n: o - c + way / n * RATE),
        "the new variate forgets the correction: own - common belongs to it",
        _client(renew=lambda o, c, way, n: way / (n * RATE)),
        _client(renew=lambda o, c, way, n: way / (n * RATE) - c),
        _client(renew=lambda o, c, way, n: way / (n * RATE) + o),
        "the signs are turned when `own` is renewed: own - common, plus the mean slope",
        _client(renew=lambda o, c, way, n: c - o + way / (n * RATE)),
        "the variate is the mean slope of all steps, and not the slope at one place",
        returns(
            lambda got, w, client, *_: np.isclose(
                got[1], [slope(w, client), slope(got[0], client)]
            ).any()
        ),
        "a variate is the slope of *one* step: divide the way by the number of steps "
        "and by the rate",
        _client(renew=lambda o, c, way, n: o - c + way),
        _client(renew=lambda o, c, way, n: o - c + way / RATE),
        _client(renew=lambda o, c, way, n: o - c + way / n),
        "the common variate is taken away, not added, when `own` is renewed",
        _client(renew=lambda o, c, way, n: o + c + way / (n * RATE)),
        "the way down is weight - trained; yours is the way up",
        _client(renew=lambda o, c, way, n: o - c - way / (n * RATE)),
        "the client's variate stayed as it was; it has to be renewed after the loop, "
        "with the way from `weight`, which must not move, to `trained`",
        _client(renew=lambda o, c, way, n: o),
    ),
    hints=(
        "It is local training with a corrected slope in each step. The client renews "
        "its variate afterwards, once.",
        "The two formulas above. `slope(trained, client)` is the slope where the "
        "client is by now, and `weight` stays where the round began.",
        "A loop, and a line after it:\n"
        "    trained = weight\n"
        "    for _ in range(steps):\n"
        "        corrected = slope(trained, client) - ... + ...\n"
        "        trained = trained - ...\n"
        "    own = own - common + ... / (steps * RATE)",
        "Only this round's path is missing:\n"
        "    trained = weight\n"
        "    for _ in range(steps):\n"
        "        corrected = slope(trained, client) - own + common\n"
        "        trained = trained - RATE * corrected\n"
        "    own = own - common + (...) / (steps * RATE)",
    ),
    reward=lambda answer: _at_the_common_optimum(answer),
)


def _server(common: float, trained: Any, changes: Any, num_clients: int) -> Any:
    return np.mean(trained), common + np.sum(changes) / num_clients


SCAFFOLD_SERVER = Exercise(
    name="scaffold_server",
    title="the server of SCAFFOLD",
    points=10,
    want=wants.function(4),
    reference=lambda: _server,
    cases=(
        Case("two of five take part", (1.5, [2.0, 4.0], [3.0, -1.0], 5)),
        Case("all three take part", (-2.0, [1.0, 2.0, 6.0], [0.5, 1.0, -3.0], 3)),
        Case("one of four", (0.0, [1.5], [-8.0], 4)),
    ),
    mistakes=usual(
        "the changes are divided by the clients of this round; the common variate is a "
        "mean over *all* clients, so divide by `num_clients`",
        lambda c, t, d, n: (np.mean(t), c + np.mean(d)),
        "the models are divided by the clients of this round: take `np.mean(trained)`",
        lambda c, t, d, n: (np.sum(t), c + np.sum(d) / n),
        lambda c, t, d, n: (np.sum(t) / n, c + np.sum(d) / n),
        "the two numbers of clients are swapped: models are divided by those of this "
        "round, changes by all",
        lambda c, t, d, n: (np.sum(t) / n, c + np.mean(d)),
        "the new weight is the mean of the models, without the common variate",
        lambda c, t, d, n: (c + np.mean(t), c + np.sum(d) / n),
        "divide the sum of the changes by `num_clients`, and by nothing else",
        lambda c, t, d, n: (np.mean(t), c + np.sum(d)),
        lambda c, t, d, n: (np.mean(t), c + np.mean(d) / n),
        lambda c, t, d, n: (np.mean(t), c + np.sum(d) / len(t) * n),
        "clients send *changes*: add them to the common variate as it was",
        lambda c, t, d, n: (np.mean(t), np.sum(d) / n),
        lambda c, t, d, n: (np.mean(t), np.mean(d)),
        "the changes are added, not taken away",
        lambda c, t, d, n: (np.mean(t), c - np.sum(d) / n),
        "the common variate stayed as it was",
        lambda c, t, d, n: (np.mean(t), c),
        "brackets: `num_clients` divides the changes only, not the common variate",
        lambda c, t, d, n: (np.mean(t), (c + np.sum(d)) / n),
    ),
    hints=(
        "Two results: the new weight, as in FedAvg, and the common variate. Over how "
        "many clients is each of them a mean?",
        "The formulas above have S, the clients of this round, and N, all clients. "
        "`np.mean` divides by S; N is `num_clients`.",
        "Two lines:\n"
        "    weight = np.mean(...)\n"
        "    common = common + np.sum(...) / ...",
        "Only the number of clients is missing:\n"
        "    weight = np.mean(trained)\n"
        "    common = common + np.sum(changes) / ...",
    ),
)


T95: Final = {3: 4.30, 5: 2.78}


def _mean_difference(first: Any, second: Any) -> Any:
    differences = np.subtract(first, second)
    return np.mean(differences), _margin(differences)


def _margin(differences: Any, ddof: int = 1) -> Any:
    n = len(differences)
    return T95[n] * np.std(differences, ddof=ddof) / np.sqrt(n)


def _with_margin(margin: Callable[[Any], Any]) -> Callable[..., Any]:
    """The right mean, with a margin that is made otherwise of the differences."""

    def mean_difference(first: Any, second: Any) -> Any:
        return np.mean(first - second), margin(first - second)

    return mean_difference


def _of_each(joined: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """The right mean, with a margin that is made of the margins of each algorithm."""
    return lambda first, second: (
        np.mean(first - second),
        joined(_margin(first), _margin(second)),
    )


def _ends(first: Any, second: Any) -> Any:
    mean, margin = _mean_difference(first, second)
    return mean - margin, mean + margin


_THREE: Final = (np.array([90.0, 92.0, 95.0]), np.array([89.0, 90.0, 90.0]))
_FIVE: Final = (
    np.array([85.0, 88.0, 90.0, 87.0, 86.0]),
    np.array([88.0, 88.0, 89.0, 90.0, 91.0]),
)

MEAN_DIFFERENCE = Exercise(
    name="mean_difference",
    title="a difference, and how sure it is",
    points=10,
    want=wants.function(2),
    reference=lambda: _mean_difference,
    cases=(
        Case("three seeds", _THREE),
        Case("five seeds, the second is ahead", _FIVE),
        Case("the same difference with each seed", (_FIVE[0], _FIVE[0] - 2.0)),
    ),
    mistakes=usual(
        "this is the spread of each algorithm alone: both met the same data with each "
        "seed, so take the differences first, and then their spread",
        *map(_of_each, (np.hypot, np.add, np.subtract)),
        "`np.std` divides by n unless you say `ddof=1`: with few seeds that is too "
        "small",
        _with_margin(lambda d: _margin(d, ddof=0)),
        "the mean of n seeds is surer than one: divide by √n, and not by n or n - 1",
        _with_margin(lambda d: T95[len(d)] * np.std(d, ddof=1)),
        _with_margin(lambda d: T95[len(d)] * np.std(d, ddof=1) / len(d)),
        _with_margin(lambda d: T95[len(d)] * np.std(d, ddof=1) / np.sqrt(len(d) - 1)),
        "this is the standard error; multiply it by t, which is larger where there are "
        "few seeds",
        _with_margin(lambda d: np.std(d, ddof=1) / np.sqrt(len(d))),
        "a margin of 2 standard errors is for many seeds; look t up in `T95`",
        _with_margin(lambda d: 2 * np.std(d, ddof=1) / np.sqrt(len(d))),
        _with_margin(lambda d: 1.96 * np.std(d, ddof=1) / np.sqrt(len(d))),
        "count the seeds, and look t up for as many: yours fits one case only",
        _with_margin(lambda d: T95[3] * np.std(d, ddof=1) / np.sqrt(3)),
        _with_margin(lambda d: T95[5] * np.std(d, ddof=1) / np.sqrt(5)),
        _with_margin(lambda d: T95[5] * np.std(d, ddof=1) / np.sqrt(len(d))),
        "this is the spread of the seeds: the margin of their mean is t · s / √n",
        _with_margin(lambda d: np.std(d, ddof=1)),
        "this is a variance; the margin wants its root, the standard deviation",
        _with_margin(lambda d: T95[len(d)] * np.var(d, ddof=1) / np.sqrt(len(d))),
        _with_margin(lambda d: T95[len(d)] * np.var(d, ddof=1) / len(d)),
        "these are all differences; return their mean",
        lambda first, second: (first - second, _margin(first - second)),
        "the mean alone loses what seeds tell: take one difference per seed first, "
        "`first - second`, and then their mean and spread",
        returns(lambda got, *_: np.isnan(got[1])),
        "this is twice the margin: it goes t · s / √n to either side",
        _with_margin(lambda d: 2 * _margin(d)),
        "the order is first minus second",
        lambda first, second: _mean_difference(second, first),
        "the mean comes first, then the margin",
        lambda first, second: _mean_difference(first, second)[::-1],
        "these are the two ends of the interval; return the mean and the margin",
        _ends,
        "keep the signs: a mean of absolute differences is never below zero",
        lambda first, second: (
            np.mean(abs(first - second)),
            _margin(abs(first - second)),
        ),
        "return two things, the mean and the margin: this is one of them",
        lambda first, second: np.mean(first - second),
        lambda first, second: _margin(first - second),
        "`T95` has an entry for 3 and for 5 seeds: look up `T95[len(first)]`",
        raises("KeyError|not subscriptable|'dict' and|unhashable"),
    ),
    hints=(
        "Both algorithms met the same data under each seed, so compare them seed by "
        "seed. What is left is one list of differences.",
        "The formula above: `np.std(differences, ddof=1)` is s, `np.sqrt` the root, "
        "and `T95`, above the function, has t for 3 and for 5 seeds.",
        "Three lines:\n"
        "    differences = ...\n"
        "    margin = T95[...] * np.std(..., ddof=1) / ...\n"
        "    return np.mean(differences), margin",
        "Only what divides is missing:\n"
        "    differences = first - second\n"
        "    margin = T95[len(differences)] * np.std(differences, ddof=1) / ...\n"
        "    return np.mean(differences), margin",
    ),
)


LESSON: Final = Lesson(
    name="11b_drift_corrections",
    title="Can a better server or a better memory cure drift?",
    minutes=65,
    goals=(
        "write the server's step of FedAdam",
        "write a round of SCAFFOLD, at the client and at the server",
        "compare algorithms over several seeds, and say which differences count",
    ),
    needs="lesson 11a",
    exercises=(ADAM_STEP, SCAFFOLD_CLIENT, SCAFFOLD_SERVER, MEAN_DIFFERENCE),
    outcomes={"stays": "above"},
)
