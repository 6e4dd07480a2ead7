# SPDX-License-Identifier: Apache-2.0
"""Lesson 12d: what noise hides, how that is counted, and what it costs."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Attempt, Case, Exercise, Lesson, Sign
from fedlearn_edu.course.mistakes import looks, raises, returns, usual
from fedlearn_edu.simulation.seeded_rng import seeded_rng

Floats = NDArray[np.floating[Any]]


def _normal(*shape: int) -> Floats:
    return seeded_rng("lesson 12", *shape).standard_normal(shape)


def _estimated_share(answers: Any) -> Any:
    return 2 * (np.mean(answers) - 0.25)


def _answers(yes: int, no: int) -> Floats:
    return np.repeat([1.0, 0.0], [yes, no])


ESTIMATED_SHARE = Exercise(
    name="estimated_share",
    title="what coins cannot hide",
    points=5,
    want=wants.function(1),
    reference=lambda: _estimated_share,
    cases=(
        Case("ten answers, six of them yes", (_answers(6, 4),)),
        Case("a quarter says yes: it was the coins", (_answers(1, 3),)),
        Case("a thousand answers", (_answers(401, 599),)),
    ),
    mistakes=usual(
        "this is the share of *answers*; half of them are coins",
        lambda answers: np.mean(answers),
        "the coins' quarter is gone; now the truth is one half of what is left: "
        "double it",
        lambda answers: np.mean(answers) - 0.25,
        "coins say yes, too: take their share away before you double",
        lambda answers: 2 * np.mean(answers),
        "half of the people answer by a coin, and half of *those* say yes: a quarter, "
        "not a half",
        lambda answers: 2 * (np.mean(answers) - 0.5),
        "brackets are missing: first take the quarter away, then double the rest",
        lambda answers: 2 * np.mean(answers) - 0.25,
        lambda answers: np.mean(answers) - 0.25 * 2,
        "this goes from the truth to the answers; the way back is asked for",
        lambda answers: np.mean(answers) / 2 + 0.25,
        "the half is undone by doubling; this halves once more",
        lambda answers: (np.mean(answers) - 0.25) / 2,
        "the sign is the wrong way round: take the quarter away from the share of yes",
        lambda answers: 2 * (0.25 - np.mean(answers)),
        lambda answers: 2 * (np.mean(answers) + 0.25),
        "`np.sum` counts the yeses; the formula has their share, `np.mean`",
        lambda answers: 2 * (np.sum(answers) - 0.25),
        lambda answers: np.sum(answers) / 2,
        lambda answers: np.sum(answers) / 2 + 0.25,
        "this is the share of those who take their pills",
        lambda answers: 1 - _estimated_share(answers),
    ),
    hints=(
        "What share of the answers is yes if all take their pills? And if all skip "
        "them?",
        "The formula above the exercise goes from the truth to the answers: q = s/2 + "
        "1/4. `np.mean(answers)` is q; solve for s.",
        "The form: first take away what coins add, then undo the half:\n"
        "    return ... * (np.mean(answers) - ...)",
        "Nearly all of it:\n    return 2 * (np.mean(answers) - ...)",
    ),
)


def _private_sum(updates: Any, clip: Any, noise_multiplier: Any, noise: Any) -> Any:
    norms = np.linalg.norm(updates, axis=1, keepdims=True)
    clipped = updates * clip / np.maximum(norms, clip)
    return clipped.sum(axis=0) + noise_multiplier * clip * noise


def _summed(
    scaled: Callable[[Any, Any], Any] = lambda updates, clip: (
        updates * clip / np.maximum(_norms(updates), clip)
    ),
    noisy: Callable[..., Any] = lambda n, clip, z, noise: z * clip * noise,
) -> Callable[..., Any]:
    """A sum that is made of these parts; each can be a usual mistake."""
    return lambda updates, clip, z, noise: (
        scaled(updates, clip).sum(axis=0) + noisy(len(updates), clip, z, noise)
    )


def _norms(updates: Any, order: int = 2) -> Any:
    return np.linalg.norm(updates, ord=order, axis=1, keepdims=True)


def _clipped_sum(updates: Any, clip: Any, z: Any, noise: Any) -> Any:
    total = np.sum(updates, axis=0)
    return total * min(1, clip / np.linalg.norm(total)) + z * clip * noise


def _without_warning(answer: Callable[..., Any], *given: Any) -> Any:
    """A result may be right where 0 / 0 was computed, and not taken."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return answer(*given)


_THREE: Final = np.array([[3.0, -4.0], [0.3, -0.4], [0.0, 0.2]])
_PAIR: Final = np.array([1.0, -0.5])

PRIVATE_SUM = Exercise(
    name="private_sum",
    title="clip, add up, add noise",
    points=10,
    want=wants.function(4),
    reference=lambda: _private_sum,
    cases=(
        Case("short updates, no noise: their sum", (_THREE, 9.0, 0.0, _PAIR)),
        Case("one long update, two short ones", (_THREE, 2.0, 0.0, _PAIR)),
        Case(
            "an update of zeros",
            (_THREE * [[1], [0], [1]], 0.5, 0.0, _PAIR),
            do=_without_warning,
        ),
        Case("noise", (_THREE, 9.0, 0.1, _PAIR)),
        Case("a small clip, a lot of noise", (_THREE, 0.25, 3.0, _PAIR)),
        Case("twenty updates", (_normal(20, 30), 5.0, 1.5, _normal(30))),
    ),
    mistakes=usual(
        "0 / 0: an update of zeros has the norm 0; divide by max(norm, clip), which is "
        "never 0",
        returns(lambda got, *_: np.isnan(got).any()),
        "clip each update before you add them up: one long update has drowned the sum",
        _clipped_sum,
        "short updates stay as they are: clipping makes nothing longer",
        _summed(lambda updates, clip: updates * clip / _norms(updates)),
        "this cuts each *number*; what is bounded is the length of a whole update",
        _summed(lambda updates, clip: np.clip(updates, -clip, clip)),
        _summed(lambda updates, clip: np.minimum(updates, clip)),
        "each client is a row with a norm of its own: `np.linalg.norm(…, axis=1)`",
        _summed(lambda u, clip: u * clip / np.maximum(np.linalg.norm(u, axis=0), clip)),
        _summed(lambda u, clip: u * min(1, clip / np.linalg.norm(u))),
        "nothing is clipped",
        _summed(lambda updates, clip: updates),
        "the noise has to be as large as a client can be: multiply by `clip`, too",
        _summed(noisy=lambda n, clip, z, noise: z * noise),
        "the noise has to be multiplied by `noise_multiplier`",
        _summed(noisy=lambda n, clip, z, noise: clip * noise),
        _summed(noisy=lambda n, clip, z, noise: noise),
        "the noise is missing",
        _summed(noisy=lambda n, clip, z, noise: 0 * noise),
        "add noise once, to the sum, not to each update",
        _summed(noisy=lambda n, clip, z, noise: n * z * clip * noise),
        "this is the mean; the sum is asked for",
        lambda updates, *rest: _private_sum(updates, *rest) / len(updates),
        "the norm is the root of the sum of squares, `np.linalg.norm`",
        _summed(lambda u, clip: u * clip / np.maximum(_norms(u, 1), clip)),
        _summed(lambda u, clip: u * np.minimum(1, clip / _norms(u) ** 2)),
        "these are the factors alone: multiply the updates by them",
        _summed(lambda u, clip: np.minimum(1, clip / _norms(u))),
        "a long update has the length 1 here, and should have `clip`: multiply by it",
        _summed(lambda u, clip: np.where(_norms(u) > clip, u / _norms(u), u)),
        "this is the last client alone: add up, `+=`",
        lambda u, clip, z, noise: _private_sum(u[-1:], clip, z, noise),
        "the factor is the other way round: a long update is multiplied by clip / norm",
        _summed(lambda u, clip: u * np.maximum(_norms(u), clip) / clip),
        _summed(lambda u, clip: u * np.minimum(1, _norms(u) / clip)),
        "a number for each client does not fit one for each weight: norms are along "
        "axis=1, a column by keepdims=True, and the sum is along axis=0",
        raises("broadcast"),
        "one number is asked for per weight: add up over clients, axis=0",
        returns(lambda got, updates, *_: np.shape(got) != np.shape(updates[0])),
        lambda u, clip, z, noise: (
            _private_sum(u, clip, 0, noise).sum() + z * clip * noise
        ),
        "without noise this is right; add the numbers in `noise`, times "
        "`noise_multiplier` and `clip`, and draw none of your own",
        returns(lambda got, updates, clip, noise_multiplier, noise: noise_multiplier),
    ),
    hints=(
        "Three steps: the norm of each row, rows that are no longer than `clip`, and "
        "their sum with noise.",
        "The formulas are above the exercise. `np.linalg.norm(updates, axis=1, "
        "keepdims=True)` is a column of norms, one for each client.",
        "The form:\n"
        "    norms = np.linalg.norm(...)\n"
        "    clipped = updates * clip / np.maximum(...)\n"
        "    return clipped.sum(axis=...) + ...",
        "Nearly all of it; max(norm, clip) leaves short rows as they are:\n"
        "    norms = np.linalg.norm(updates, axis=1, keepdims=True)\n"
        "    clipped = updates * clip / np.maximum(norms, clip)\n"
        "    return clipped.sum(axis=0) + ... * noise",
    ),
)


def _privacy_loss(x: Any, noise_multiplier: Any) -> Any:
    return (x**2 - (x - 1) ** 2) / (2 * noise_multiplier**2)


def _height(x: Any, z: Any) -> Any:
    return np.exp(-(x**2) / (2 * z**2))


PRIVACY_LOSS = Exercise(
    name="privacy_loss",
    title="how much a number tells",
    points=10,
    want=wants.function(2),
    reference=lambda: _privacy_loss,
    cases=(
        Case("four numbers", (np.array([0.0, 1.0, 2.5, 4.0]), 1.5)),
        Case("halfway it tells nothing", (0.5, 3.0)),
        Case("a large number, little noise", (3.0, 0.8)),
        Case("a number below 0", (-2.0, 2.0)),
    ),
    mistakes=usual(
        "this is the quotient itself; take its logarithm, `np.log`",
        lambda x, z: _height(x - 1, z) / _height(x, z),
        "the quotient is the other way round: the one *with* the clinic is divided by "
        "the one without",
        lambda x, z: -_privacy_loss(x, z),
        "the 2 of the exponent is missing: divide by 2 z²",
        lambda x, z: 2 * _privacy_loss(x, z),
        "the division by 2 z² is missing",
        lambda x, z: x**2 - (x - 1) ** 2,
        "the noise alone is squared: 2 * z**2, not (2 * z) ** 2",
        lambda x, z: _privacy_loss(x, z) / 2,
        "the logarithm of a quotient is a difference: subtract one exponent from the "
        "other",
        lambda x, z: (x - 1) ** 2 / x**2,
        lambda x, z: np.log((x - 1) ** 2 / x**2),
        "brackets are missing: (x - 1) ** 2",
        lambda x, z: (x**2 - x - 1) / (2 * z**2),
        "the 1 of (x - 1)² = x² - 2 x + 1 is lost",
        lambda x, z: x / z**2,
        "this is the logarithm of one curve: subtract that of the curve without the "
        "clinic",
        lambda x, z: np.log(_height(x - 1, z)),
        "the noise is squared in the exponent: divide by 2 z²",
        lambda x, z: z * _privacy_loss(x, z),
        "brackets are missing: the whole difference is divided by 2 z²",
        lambda x, z: x**2 - (x - 1) ** 2 / (2 * z**2),
        "brackets are missing: divide by (2 * z**2); without them z² multiplies",
        lambda x, z: z**4 * _privacy_loss(x, z),
        "the clinic adds 1, so its curve is h(x - 1), not h(x + 1)",
        lambda x, z: np.log(_height(x + 1, z) / _height(x, z)),
        lambda x, z: np.log(_height(x, z) / _height(x + 1, z)),
        "this has no sign: without `abs`, numbers below 1/2 speak against the clinic",
        lambda x, z: np.abs(_privacy_loss(x, z)),
        "a minus before a minus is a plus: the exponent without the clinic, -x²/2z², "
        "is *subtracted*",
        lambda x, z: np.log(_height(x - 1, z) * _height(x, z)),
        lambda x, z: -np.log(_height(x - 1, z) * _height(x, z)),
        "there is no logarithm of a number below 0: `np.log` of the heights, which are "
        "powers of e",
        returns(lambda got, *_: np.isnan(got).any()),
    ),
    hints=(
        "Two bell curves, and x between them. How high is each at x? Divide; then "
        "take the logarithm.",
        "ln(a / b) = ln a - ln b, and ln of e to the power of something is that "
        "something. So what is left is a difference of two squares, divided by 2 z².",
        "The form:\n    return (... - (x - 1) ** 2) / (...)",
        "Nearly all of it:\n    return (x**2 - (x - 1) ** 2) / (2 * ...)",
    ),
)


def _enough_noise(epsilon_of: Any, budget: Any) -> Any:
    noise = 0.25
    while epsilon_of(noise) > budget:
        noise += 0.25
    return noise


def six_over_noise(noise: float) -> float:
    """What 0.25 costs 24 and 3 costs 2; no noise at all divides by zero."""
    return 6 / noise


def ten_over_square(noise: float) -> float:
    """An epsilon that falls faster."""
    return 10 / noise**2


def _first(is_enough: Callable[[float, float], bool], begin: float, step: float) -> Any:
    """A search like that of the exercise, with other steps or another question."""

    def search(epsilon_of: Any, budget: Any) -> float:
        tried = (begin + step * number for number in range(1000))
        return next(noise for noise in tried if is_enough(epsilon_of(noise), budget))

    return search


def _within(epsilon: float, budget: float) -> bool:
    return epsilon <= budget


def _is_epsilon(got: float, epsilon_of: Callable[[float], float]) -> bool:
    """Whether it is what some number of quarters costs."""
    return any(np.isclose(got, epsilon_of(quarters / 4)) for quarters in range(1, 500))


def _came_back(attempt: Attempt) -> Any:
    """The result, and where the answer was not called or failed, something else."""
    is_result = attempt.inputs and attempt.error is None
    return attempt.got if is_result else attempt


ENOUGH_NOISE = Exercise(
    name="enough_noise",
    title="the noise that a budget asks for",
    points=10,
    want=wants.function(2),
    reference=lambda: _enough_noise,
    cases=(
        Case("between two steps", (ten_over_square, 3.0)),
        Case("exactly what there is may be spent", (six_over_noise, 2.0)),
        Case("a small budget, so a lot of noise", (six_over_noise, 0.35)),
        Case("a quarter is enough", (six_over_noise, 30.0)),
    ),
    mistakes=usual(
        "exactly the budget is not too much: go on only while epsilon is *above* it",
        _first(lambda epsilon, budget: epsilon < budget, 0.25, 0.25),
        "this is the epsilon; the noise is asked for",
        lambda epsilon_of, budget: epsilon_of(_enough_noise(epsilon_of, budget)),
        lambda epsilon_of, budget: epsilon_of(budget),
        returns(lambda got, epsilon_of, _: got % 0.25 and _is_epsilon(got, epsilon_of)),
        "these are all that are enough; return the least",
        returns(lambda got, *_: np.ndim(got) > 0),
        "use `epsilon_of`: `accounting` counts another training",
        looks(lambda answer: "accounting" in answer.__code__.co_names),
        "a quarter may be enough: begin with 0.25, and go on in quarters",
        _first(_within, 1.0, 0.25),
        _first(_within, 0.5, 0.25),
        "steps of a quarter are asked for: 0.25, 0.5, 0.75, …",
        _first(_within, 1.0, 1.0),
        _first(_within, 0.5, 0.5),
        _first(_within, 0.1, 0.1),
        "this is the number of steps; the noise is 0.25 times as much",
        lambda *given: 4 * _enough_noise(*given),
        "this is one step too few: its epsilon is above the budget",
        lambda *given: _enough_noise(*given) - 0.25,
        "this is more than needed: the noise a quarter before would have been enough",
        lambda *given: _enough_noise(*given) + 0.25,
        "the first noise is taken whatever it costs: go on while epsilon is above the "
        "budget, and not while it is below",
        lambda epsilon_of, budget: 0.25,
        _first(lambda epsilon, budget: epsilon > budget, 0.25, 0.25),
        "0.5 is not always enough: `while` goes on where `if` looks once, `return` "
        "comes after the loop, and each noise is tried anew, with the whole budget",
        lambda epsilon_of, budget: 0.5,
        "nothing came back: is there a `return`, and does the search go on until a "
        "noise is enough?",
        Sign(lambda attempt: _came_back(attempt) is None),
        "without noise epsilon is infinite: begin with 0.25",
        raises("ZeroDivision"),
        "a small budget needs more noise than you have tried: go on until it is enough",
        raises("IndexError|StopIteration|ValueError"),
        "this is not the *least* noise in steps of a quarter that is enough",
        returns(lambda got, epsilon_of, budget: epsilon_of(got) <= budget),
        "this noise costs more than the budget",
        returns(lambda got, epsilon_of, budget: epsilon_of(got) > budget),
    ),
    hints=(
        "Epsilon falls as noise grows. Begin with the least noise: what has to be true "
        "for you to try the next one?",
        "A `while` loop, as the number of steps is not known. `epsilon_of(noise)` is "
        "what a noise costs, and `budget` what may be spent.",
        "The form:\n"
        "    noise = 0.25\n"
        "    while ...:\n"
        "        noise = ...\n"
        "    return noise",
        "Nearly all of it:\n"
        "    noise = 0.25\n"
        "    while epsilon_of(noise) > ...:\n"
        "        noise = noise + 0.25\n"
        "    return noise",
    ),
    limit_s=5.0,
)


LESSON: Final = Lesson(
    name="12d_a_budget",
    title="What does privacy cost?",
    minutes=60,
    goals=(
        "survey a crowd so that each person can deny the answer they gave",
        "work out the epsilon of one round by hand",
        "choose the noise for a budget, and say what it costs",
    ),
    needs="lesson 12c",
    exercises=(ESTIMATED_SHARE, PRIVATE_SUM, PRIVACY_LOSS, ENOUGH_NOISE),
    outcomes={"clipped": "no", "cost": "fewer than 10"},
)
