# SPDX-License-Identifier: Apache-2.0
"""FedAdam: what the server does with the mean update, in place of adding it."""

from typing import Any, Final

import numpy as np

from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.mistakes import gives, returns

BETA_1, BETA_2, EPSILON = 0.9, 0.99, 1e-3


def _adam_step(weights: Any, m: Any, s: Any, update: Any, rate: float) -> Any:
    g = -update
    m = BETA_1 * m + (1 - BETA_1) * g
    s = BETA_2 * s + (1 - BETA_2) * g**2
    weights = weights - rate * m / (np.sqrt(s) + EPSILON)
    return weights, m, s


def _uphill(weights: Any, m: Any, s: Any, update: Any, rate: float) -> Any:
    return _adam_step(weights, m, s, -update, rate)


def _no_root(weights: Any, m: Any, s: Any, update: Any, rate: float) -> Any:
    _, m, s = _adam_step(weights, m, s, update, rate)
    return weights - rate * m / (s + EPSILON), m, s


def _root_of_both(weights: Any, m: Any, s: Any, update: Any, rate: float) -> Any:
    _, m, s = _adam_step(weights, m, s, update, rate)
    return weights - rate * m / np.sqrt(s + EPSILON), m, s


def _no_mean(weights: Any, m: Any, s: Any, update: Any, rate: float) -> Any:
    _, m, s = _adam_step(weights, m, s, update, rate)
    return weights + rate * update / (np.sqrt(s) + EPSILON), m, s


def _old_means(weights: Any, m: Any, s: Any, update: Any, rate: float) -> Any:
    stepped = weights - rate * m / (np.sqrt(s) + EPSILON)
    return stepped, *_adam_step(weights, m, s, update, rate)[1:]


def _climbs(weights: Any, m: Any, s: Any, update: Any, rate: float) -> Any:
    below, m, s = _adam_step(weights, m, s, update, rate)
    return 2 * weights - below, m, s


def _no_brackets(weights: Any, m: Any, s: Any, update: Any, rate: float) -> Any:
    _, m, s = _adam_step(weights, m, s, update, rate)
    return weights - rate * m / np.sqrt(s) + EPSILON, m, s


def _square_of_mean(weights: Any, m: Any, s: Any, update: Any, rate: float) -> Any:
    _, m, _ = _adam_step(weights, m, s, update, rate)
    s = BETA_2 * s + (1 - BETA_2) * m**2
    return weights - rate * m / (np.sqrt(s) + EPSILON), m, s


def _no_square(weights: Any, m: Any, s: Any, update: Any, rate: float) -> Any:
    _, m, _ = _adam_step(weights, m, s, update, rate)
    s = BETA_2 * s - (1 - BETA_2) * update
    return weights - rate * m / (np.sqrt(s) + EPSILON), m, s


def _swapped(weights: Any, m: Any, s: Any, update: Any, rate: float) -> Any:
    m = BETA_2 * m - (1 - BETA_2) * update
    s = BETA_1 * s + (1 - BETA_1) * update**2
    return weights - rate * m / (np.sqrt(s) + EPSILON), m, s


def _one_beta(weights: Any, m: Any, s: Any, update: Any, rate: float) -> Any:
    _, m, _ = _adam_step(weights, m, s, update, rate)
    s = BETA_1 * s + (1 - BETA_1) * update**2
    return weights - rate * m / (np.sqrt(s) + EPSILON), m, s


def _m_forgets(weights: Any, m: Any, s: Any, update: Any, rate: float) -> Any:
    _, _, s = _adam_step(weights, m, s, update, rate)
    m = (1 - BETA_1) * m - BETA_1 * update
    return weights - rate * m / (np.sqrt(s) + EPSILON), m, s


def _s_forgets(weights: Any, m: Any, s: Any, update: Any, rate: float) -> Any:
    _, m, _ = _adam_step(weights, m, s, update, rate)
    s = (1 - BETA_2) * s + BETA_2 * update**2
    return weights - rate * m / (np.sqrt(s) + EPSILON), m, s


def _both_forget(weights: Any, m: Any, s: Any, update: Any, rate: float) -> Any:
    m = (1 - BETA_1) * m - BETA_1 * update
    s = (1 - BETA_2) * s + BETA_2 * update**2
    return weights - rate * m / (np.sqrt(s) + EPSILON), m, s


def _sums(weights: Any, m: Any, s: Any, update: Any, rate: float) -> Any:
    m, s = BETA_1 * m - update, BETA_2 * s + update**2
    return weights - rate * m / (np.sqrt(s) + EPSILON), m, s


def _whole_update(weights: Any, m: Any, s: Any, update: Any, rate: float) -> Any:
    return weights + update, *_adam_step(weights, m, s, update, rate)[1:]


_TWO: Final = np.array([1.0, -1.0])

ADAM_STEP = Exercise(
    name="adam_step",
    title="the server's step in FedAdam",
    points=10,
    want=wants.function(5),
    reference=lambda: _adam_step,
    cases=(
        Case("the first step", (1.0, 0.0, 0.0, 2.0, 0.1)),
        Case("a later step", (1.0, -0.5, 0.25, 2.0, 0.1)),
        Case("an update of 0: it rolls on", (3.0, 0.4, 0.09, 0.0, 0.5)),
        Case(
            "arrays: each weight by itself",
            (_TWO, np.array([0.1, 0.0]), np.array([4.0, 0.01]), 0.5 * _TWO, 0.03),
        ),
    ),
    mistakes=(
        gives(
            "this goes the wrong way: a gradient points uphill, an update downhill, so "
            "g = -update",
            _uphill,
        ),
        gives("the root is missing: divide by √s, not by s", _no_root),
        gives("epsilon stands outside the root: √s + epsilon", _root_of_both),
        gives(
            "this follows the latest update alone: step along m, the running mean",
            _no_mean,
        ),
        gives(
            "the step uses m and s as they were: renew them first, then take the step",
            _old_means,
        ),
        gives("m points uphill, as g does: the step takes it *away*", _climbs),
        gives(
            "brackets are missing: divide by (√s + epsilon) as a whole", _no_brackets
        ),
        gives("s is the running mean of g², not of m²", _square_of_mean),
        gives("s is the running mean of the *squares*, of g**2", _no_square),
        gives("the two betas are swapped: m goes with 0.9, s with 0.99", _swapped),
        returns(
            "s is below zero, and has no root: -update**2 is -(update**2); square g, "
            "with g = -update",
            lambda got, *_: bool(np.any(np.asarray(got[2]) < 0)),
        ),
        gives("s has its own beta: 0.99 and 0.01, where m has 0.9 and 0.1", _one_beta),
        *(
            gives("the old mean counts beta, and what is new (1 - beta)", swapped)
            for swapped in (_m_forgets, _s_forgets, _both_forget)
        ),
        gives(
            "these are sums that fade, not means: the new part counts (1 - beta)", _sums
        ),
        gives("this is the step of FedAvg: it adds the update as it is", _whole_update),
    ),
    hints=(
        "Four lines, in the order of the formulas above: g, m, s, weights. Each line "
        "uses what the line before has made.",
        "g = -update; m = 0.9·m + 0.1·g; s = 0.99·s + 0.01·g²; "
        "weights = weights - rate · m / (√s + epsilon)",
        "Fill the gaps:\n"
        "    g = -update\n"
        "    m = BETA_1 * m + (1 - BETA_1) * ...\n"
        "    s = BETA_2 * s + (1 - BETA_2) * ...\n"
        "    weights = weights - rate * ... / (np.sqrt(...) + EPSILON)",
    ),
)
