# SPDX-License-Identifier: Apache-2.0
"""Lesson 12: what an update gives away, what hides it, and what attackers do to it."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise, Lesson
from fedlearn_edu.course.mistakes import raises, returns, usual
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
        Case("eight answers, five of them yes", (_answers(5, 3),)),
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
        "half of the people tell the truth: divide by 1/2, not by 3/4",
        lambda answers: (np.mean(answers) - 0.25) / 0.75,
        "this goes from the truth to the answers; the way back is asked for",
        lambda answers: np.mean(answers) / 2 + 0.25,
        "this is a number of people; a share is asked for",
        lambda answers: 2 * (np.sum(answers) - 0.25 * len(answers)),
        lambda answers: np.sum(answers),
    ),
    hints=(
        "What share of answers is yes if nobody's truth is yes? And if everybody's is?",
        "mean of the answers = share / 2 + 1/4. Solve for the share.",
        "Fill the gaps:\n    return 2 * (np.mean(answers) - ...)",
    ),
)


def _example_in(update: Any) -> Any:
    label = int(np.argmax(update["bias"]))
    return label, update["weights"][:, label] / update["bias"][label]


def _example(pixels: int, classes: int, label: int) -> tuple[Floats, int]:
    return np.abs(_normal(pixels, classes)[:, 0]), label


def _step(
    example: tuple[Floats, int], rate: float, weights: Floats, bias: Floats
) -> dict[str, Floats]:
    """What one step on one example changes in a softmax regression."""
    x, label = example
    scores = x @ weights + bias
    exponentials = np.exp(scores - scores.max())
    errors = exponentials / exponentials.sum() - np.eye(len(bias))[label]
    return OrderedDict(weights=-rate * np.outer(x, errors), bias=-rate * errors)


def _from_zero(pixels: int, classes: int, label: int, rate: float) -> tuple[Any]:
    zeros = np.zeros((pixels, classes)), np.zeros(classes)
    return (_step(_example(pixels, classes, label), rate, *zeros),)


def _from_trained(ruled_out: bool) -> tuple[Any]:
    bias = np.array([-1e4 if ruled_out else 0.1, 0.3, -0.2, 0.0])
    return (_step(_example(6, 4, 2), 0.5, 0.3 * _normal(6, 4), bias),)


def _read(answer: Callable[[Any], Any], update: Any) -> Any:
    label, image = answer(update)
    return OrderedDict(label=int(label), image=np.asarray(image))


def _says(like: Callable[[Any, Any, Any], Any]) -> Any:
    """Whether a label and an image are such as `like` says of them and the update."""
    return returns(lambda got, update: like(got["label"], got["image"], update))


def _is_image(image: Floats, wrong: Any) -> bool:
    return image.shape == np.shape(wrong) and np.allclose(image, wrong)


def _column(update: Any) -> Any:
    return update["weights"][:, np.argmax(update["bias"])]


EXAMPLE_IN = Exercise(
    name="example_in",
    title="a client's digit, from its update",
    points=10,
    want=wants.function(1),
    reference=lambda: _example_in,
    cases=(
        Case("five pixels, three classes", _from_zero(5, 3, 1, 0.1), do=_read),
        Case("another rate", _from_zero(5, 3, 0, 2.0), do=_read),
        Case("a model that has learned", _from_trained(False), do=_read),
        Case("a class that it rules out", _from_trained(True), do=_read),
        Case("784 pixels, ten classes", lambda: _from_zero(784, 10, 7, 0.1), do=_read),
    ),
    mistakes=usual(
        "an update goes *against* the gradient: the label's bias is the one that "
        "grows; take the largest number, not the smallest",
        _says(lambda label, _, update: label == np.argmin(update["bias"])),
        "this is a row, one pixel in all classes; a column, `[:, label]`, is one class "
        "in all pixels",
        _says(lambda _, image, update: image.shape == update["bias"].shape),
        "these are the columns of all classes; take the label's",
        _says(lambda _, image, update: image.shape == update["weights"].shape),
        "the column is the image times one number: divide by the change of that bias",
        _says(lambda _, image, update: _is_image(image, _column(update))),
        _says(lambda _, image, update: _is_image(image, -_column(update))),
        "divide, do not multiply: the change of the bias is in the column already",
        _says(
            lambda _, image, update: _is_image(
                image, _column(update) * update["bias"].max()
            )
        ),
        "this is the negative: both parts of the update have the same sign, which "
        "cancels out",
        _says(
            lambda _, image, update: _is_image(
                image, -_column(update) / update["bias"].max()
            )
        ),
        "this is close, and scaled otherwise: the change of the bias tells the scale",
        _says(
            lambda _, image, update: (
                image.shape == _column(update).shape
                and np.corrcoef(image, _column(update))[0, 1] > 0.999
            )
        ),
        "the column and the bias are of different classes: take both of the label",
        _says(lambda label, image, update: not np.isfinite(image).all()),
        "the label comes first and is one number, not an array: `np.argmax`",
        raises(r"only .*(scalar|0-dim|length-1|size-1)"),
        "two things are asked for: `return label, image`",
        raises("unpack|not iterable"),
        "the names are keys: write `update['bias']`, not `update.bias`",
        raises("has no attribute"),
    ),
    hints=(
        "The client's step moves the bias of its own label up, and all others down. "
        "Which column belongs to that label?",
        "label = argmax of update['bias']; image = that column of update['weights'], "
        "divided by that number of update['bias'].",
        "Fill the gaps:\n"
        '    label = np.argmax(update["bias"])\n'
        '    return label, update["weights"][:, ...] / update["bias"][...]',
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
    with np.errstate(invalid="ignore"):
        return answer(*given)


_THREE: Final = np.array([[3.0, 4.0], [0.3, -0.4], [0.0, 0.2]])
_PAIR: Final = np.array([1.0, -0.5])

PRIVATE_SUM = Exercise(
    name="private_sum",
    title="clip, add up, add noise",
    points=10,
    want=wants.function(4),
    reference=lambda: _private_sum,
    cases=(
        Case("short updates, no noise: their sum", (_THREE, 9.0, 0.0, _PAIR)),
        Case("one long update, two short ones", (_THREE, 1.0, 0.0, _PAIR)),
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
        "each update has a norm of its own: `np.linalg.norm(updates, axis=1)`",
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
        "this is the sum of absolute numbers; the norm is the root of the squares",
        _summed(lambda u, clip: u * clip / np.maximum(_norms(u, 1), clip)),
        "the factor is the other way round: a long update is multiplied by clip / norm",
        _summed(lambda u, clip: u * np.maximum(_norms(u), clip) / clip),
        _summed(lambda u, clip: u * np.minimum(1, _norms(u) / clip)),
        "a number for each client does not fit numbers for each weight: norms are "
        "along axis=1, and keepdims=True keeps them a column",
        raises("broadcast"),
        "one number is asked for per weight: add up over clients, axis=0",
        returns(lambda got, updates, *_: np.shape(got) != np.shape(updates[0])),
    ),
    hints=(
        "Three steps: the norm of each row, rows that are no longer than `clip`, their "
        "sum with noise. What does a row have to be multiplied by?",
        "clipped = update · clip / max(norm, clip); result = sum of the clipped ones + "
        "noise_multiplier · clip · noise.",
        "Fill the gaps:\n"
        "    norms = np.linalg.norm(updates, axis=1, keepdims=True)\n"
        "    clipped = updates * clip / np.maximum(norms, ...)\n"
        "    return clipped.sum(axis=...) + ... * ... * noise",
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


ENOUGH_NOISE = Exercise(
    name="enough_noise",
    title="the noise that a budget asks for",
    points=10,
    want=wants.function(2),
    reference=lambda: _enough_noise,
    cases=(
        Case("exactly what there is may be spent", (six_over_noise, 2.0)),
        Case("between two steps", (ten_over_square, 3.0)),
        Case("a small budget, so a lot of noise", (six_over_noise, 0.35)),
        Case("a quarter is enough", (six_over_noise, 30.0)),
    ),
    mistakes=usual(
        "exactly the budget is not too much: go on only while epsilon is *above* it",
        _first(lambda epsilon, budget: epsilon < budget, 0.25, 0.25),
        "this is one step too few: its epsilon is above the budget",
        lambda *given: _enough_noise(*given) - 0.25,
        "this is one step too many: the noise before would have been enough",
        lambda *given: _enough_noise(*given) + 0.25,
        "this is the epsilon; the noise is asked for",
        lambda epsilon_of, budget: epsilon_of(_enough_noise(epsilon_of, budget)),
        "a quarter may be enough: begin with 0.25, and go on in quarters",
        _first(_within, 1.0, 0.25),
        _first(_within, 0.5, 0.25),
        "steps of a quarter are asked for: 0.25, 0.5, 0.75, …",
        _first(_within, 1.0, 1.0),
        _first(_within, 0.5, 0.5),
        _first(_within, 0.1, 0.1),
        "the first noise is taken whatever it costs: go on while epsilon is above the "
        "budget, and not while it is below",
        lambda epsilon_of, budget: 0.25,
        "this is the first noise whose epsilon is *above* the budget",
        _first(lambda epsilon, budget: epsilon > budget, 0.25, 0.25),
        "without noise epsilon is infinite: begin with 0.25",
        raises("ZeroDivision"),
        "`epsilon_of` takes a noise multiplier: call it, epsilon_of(noise)",
        raises("'function' and|not supported between"),
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
        "noise = 0.25; while its epsilon is above the budget, noise = noise + 0.25.",
        "Fill the gaps:\n"
        "    noise = 0.25\n"
        "    while epsilon_of(...) > ...:\n"
        "        noise = noise + ...\n"
        "    return noise",
    ),
    limit_s=5.0,
)


def _krum(updates: Any, num_byzantine: int) -> Any:
    neighbours = len(updates) - num_byzantine - 2
    squares = [[np.sum((one - other) ** 2) for other in updates] for one in updates]
    scores = np.sort(squares, axis=1)[:, : neighbours + 1].sum(axis=1)
    return updates[scores.argmin()]


def _chosen(
    neighbours: Callable[[int, int], int] = lambda n, f: n - f - 2,
    distance: Callable[[Any], Any] = lambda way: np.sum(way**2),
    choose: Callable[[Any], Any] = np.argmin,
) -> Callable[..., Any]:
    """A choice like Krum's, whose parts can be usual mistakes."""

    def rule(updates: Any, num_byzantine: int) -> Any:
        among = neighbours(len(updates), num_byzantine) + 1
        ways = [[distance(one - other) for other in updates] for one in updates]
        return updates[choose(np.sort(ways, axis=1)[:, :among].sum(axis=1))]

    return rule


def _with_attackers(honest: int, attackers: int, at: float, spread: float) -> Floats:
    """Honest updates around 0, and attackers that agree, around `at`."""
    scales = np.repeat([1.0, spread], [honest, attackers])[:, None]
    middles = np.repeat([0.0, at], [honest, attackers])[:, None]
    updates: Floats = scales * _normal(honest + attackers, 2) + middles
    return updates.round(2)


_SIX: Final = np.array([[61.0], [1.0], [3.0], [15.0], [8.0], [11.0]])
_NINE: Final = np.array([[8.0, 52, 4, 18, 5, 23, 51, 11, 6]]).T

KRUM = Exercise(
    name="krum",
    title="the update that is nearest to others",
    points=15,
    want=wants.function(2),
    reference=lambda: _krum,
    cases=(
        Case("six on a line, one of them far off", (_SIX, 1)),
        Case("nine, of whom two stand apart, together", (_NINE, 2)),
        Case("two attackers that agree", (_with_attackers(7, 2, 6.0, 0.1), 2)),
        Case("three attackers that agree", (_with_attackers(8, 3, 4.0, 0.05), 3)),
        Case("nobody attacks", (_normal(9, 3).round(2), 1)),
    ),
    mistakes=usual(
        "this is its position: return the update itself, updates[position]",
        returns(lambda got, *_: np.ndim(got) == 0),
        "these are several updates; one is asked for",
        returns(lambda got, updates, f: np.ndim(got) == np.ndim(updates)),
        "this takes the *largest* score: it trusts whoever stands apart",
        _chosen(choose=np.argmax),
        "the distances to *all* others count here, attackers included: take the n - f "
        "- 2 nearest alone",
        _chosen(lambda n, f: n - 1),
        _chosen(lambda n, f: n - f),
        lambda updates, f: updates[
            np.linalg.norm(updates - np.mean(updates, axis=0), axis=1).argmin()
        ],
        "one nearest neighbour, or f of them, are not enough: attackers that agree are "
        "near to each other; n - f - 2 are asked for",
        _chosen(lambda n, f: 1),
        _chosen(lambda n, f: f),
        "one neighbour too few: n - f - 2 are asked for, and its own distance of 0 is "
        "none of them",
        _chosen(lambda n, f: n - f - 3),
        "this counts too many neighbours: n - f - 2, without the update itself",
        _chosen(lambda n, f: n - f - 1),
        "these are distances; their *squares* are asked for",
        _chosen(distance=np.linalg.norm),
        "differences of both signs cancel: square them",
        _chosen(distance=np.sum),
        "this is the mean; Krum returns one of the updates as it is",
        lambda updates, f: np.mean(updates, axis=0),
        "this is the median of each number; Krum returns one of the updates as it is",
        lambda updates, f: np.median(updates, axis=0),
    ),
    hints=(
        "Three steps: the squared distances between every two updates, for each update "
        "the sum of the smallest ones, the update with the least sum.",
        "Sort the squared distances of an update. The first is 0, its own; the next "
        "n - f - 2 are added up. np.argmin finds the least sum.",
        "Fill the gaps:\n"
        "    near = len(updates) - num_byzantine - 2\n"
        "    scores = []\n"
        "    for one in updates:\n"
        "        squares = [np.sum((one - other) ** 2) for other in ...]\n"
        "        scores.append(sum(sorted(squares)[: near + 1]))\n"
        "    return updates[np.argmin(...)]",
    ),
)


LESSON: Final = Lesson(
    name="12_privacy_and_attacks",
    title="What does an update give away?",
    minutes=50,
    goals=(
        "read a client's image off its update, and say what hides it",
        "choose the noise for a privacy budget, and say what it costs",
        "poison a mean with one client, and choose a defence",
    ),
    needs="lesson 10, federated averaging",
    exercises=(ESTIMATED_SHARE, EXAMPLE_IN, PRIVATE_SUM, ENOUGH_NOISE, KRUM),
)
