# SPDX-License-Identifier: Apache-2.0
"""Lesson 12a: what an update gives away, and what attackers send."""

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
        "In the client's step only the bias of its own label went up. The column of "
        "that label is the image, times the number that the bias got.",
        "`np.argmax` says where `update['bias']` is largest. The text above the "
        "exercise says what the column of a digit is; divide.",
        "The form:\n"
        "    label = np.argmax(...)\n"
        '    return label, update["weights"][...] / ...',
        "Nearly all of it:\n"
        '    label = np.argmax(update["bias"])\n'
        '    return label, update["weights"][:, label] / ...',
    ),
)


def _advantage(members: Any, others: Any, threshold: Any) -> Any:
    return np.mean(members <= threshold) - np.mean(others <= threshold)


ADVANTAGE = Exercise(
    name="advantage",
    title="how well a loss tells who was there",
    points=5,
    want=wants.function(3),
    reference=lambda: _advantage,
    cases=(
        Case(
            "three of four members, two of five others",
            (np.array([0.1, 0.9, 0.2, 0.3]), np.array([2.0, 0.3, 0.7, 0.2, 0.4]), 0.3),
        ),
        Case(
            "the same losses tell nothing",
            (np.array([0.5, 1.5]), np.array([1.5, 0.5, 0.5, 1.5]), 1.0),
        ),
        Case(
            "all members, and no others",
            (np.array([0.1, 0.2]), np.array([3.0, 4.0, 5.0]), 1.0),
        ),
    ),
    mistakes=usual(
        "a loss that is exactly the threshold counts as a member's: <=, not <",
        lambda members, others, threshold: (
            np.mean(members < threshold) - np.mean(others < threshold)
        ),
        "the sign: the share of members comes first",
        lambda *given: -_advantage(*given),
        "this counts what is above the threshold; members have *small* losses",
        lambda members, others, threshold: (
            np.mean(members >= threshold) - np.mean(others >= threshold)
        ),
        "these are counts; take the share of each group, `np.mean`",
        lambda members, others, threshold: (
            np.sum(members <= threshold) - np.sum(others <= threshold)
        ),
        "this is the share of members alone; who says yes to everybody has 1 there, so "
        "the share of others is taken away",
        lambda members, others, threshold: np.mean(members <= threshold),
        "this compares the mean losses; count how many are at most the threshold",
        lambda members, others, threshold: np.mean(members) - np.mean(others),
        lambda members, others, threshold: np.mean(others) - np.mean(members),
        "each group has a size of its own: divide each count by its own, or take the "
        "mean",
        lambda members, others, threshold: (
            (np.sum(members <= threshold) - np.sum(others <= threshold)) / len(members)
        ),
        "of the others, too, those count whose loss is at most the threshold",
        lambda members, others, threshold: (
            np.mean(members <= threshold) - np.mean(others > threshold)
        ),
        "this is a quotient of the two shares; their difference is asked for",
        lambda members, others, threshold: (
            np.mean(members <= threshold) / np.mean(others <= threshold)
        ),
        "the two shares are added; their difference is asked for",
        lambda members, others, threshold: (
            np.mean(members <= threshold) + np.mean(others <= threshold)
        ),
        "this is one number for each example; one number is asked for",
        returns(lambda got, *_: np.ndim(got) > 0),
    ),
    hints=(
        "The attack says *member* where a loss is small. How often is it right to say "
        "so, and how often wrong?",
        "`members <= threshold` is an array of True and False, and `np.mean` of it the "
        "share of True.",
        "The form:\n    return np.mean(...) - np.mean(...)",
        "Nearly all of it:\n    return np.mean(members <= threshold) - np.mean(...)",
    ),
)


def _replacement(model: Any, target: Any, total: Any, own: Any) -> Any:
    return total / own * (target - model)


REPLACEMENT = Exercise(
    name="replacement",
    title="an update that replaces the model",
    points=10,
    want=wants.function(4),
    reference=lambda: _replacement,
    cases=(
        Case(
            "from a model that has learned",
            (np.array([0.5, 1.5]), np.array([2.0, 1.0]), 60, 20),
        ),
        Case("from zeros", (np.zeros(3), np.array([1.0, -2.0, 0.0]), 100, 5)),
        Case("weights and classes", (_normal(4, 3), _normal(3, 4).T, 1437, 72)),
        Case(
            "all data are its own", (np.array([1.0, 2.0]), np.array([3.0, 3.0]), 8, 8)
        ),
    ),
    mistakes=usual(
        "this update is not scaled, and the mean makes it `total / own` times smaller",
        lambda model, target, total, own: target - model,
        "the factor is the other way round: total / own",
        lambda model, target, total, own: own / total * (target - model),
        "the sign: an update is the new model minus the old one",
        lambda model, target, total, own: total / own * (model - target),
        "brackets are missing: the whole difference is scaled",
        lambda model, target, total, own: total / own * target - model,
        lambda model, target, total, own: target - model * total / own,
        "this is a model; an update is the difference to the server's model",
        lambda model, target, total, own: total / own * target,
        lambda model, target, total, own: target,
        lambda model, target, total, own: model + total / own * (target - model),
        "`//` rounds down; `/` divides",
        lambda model, target, total, own: total // own * (target - model),
        "the mean divides by `total`, and multiplies by `own`: divide by `own`, too",
        lambda model, target, total, own: total * (target - model),
        "this divides by `own`; it has to be multiplied by `total`, too",
        lambda model, target, total, own: (target - model) / own,
        "the others weigh total - own, and the mean is still divided by `total`",
        lambda model, target, total, own: (total - own) / own * (target - model),
    ),
    hints=(
        "Suppose that the others send zeros. What is the weighted mean then, if "
        "client 0 sends an update Δ? And what should it be?",
        "The formula above: the mean is (own / total) · Δ. It should be target - "
        "model. Solve for Δ.",
        "The form:\n    return ... * (target - model)",
        "Nearly all of it:\n    return total / ... * (target - model)",
    ),
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


def _sorted_by_column(updates: Any, f: int) -> Any:
    squares = [[np.sum((one - other) ** 2) for other in updates] for one in updates]
    nearest = np.sort(squares, axis=0)[:, 1 : len(updates) - f - 1]
    return updates[nearest.sum(axis=1).argmin()]


_SEVEN: Final = np.array([[33.0], [68.0], [2.0], [18.0], [21.0], [12.0], [0.0]])
_SIX: Final = np.array([[61.0], [1.0], [3.0], [15.0], [8.0], [11.0]])
_NINE: Final = np.array([[8.0, 52, 4, 18, 5, 23, 51, 11, 6]]).T

KRUM = Exercise(
    name="krum",
    title="the update that is nearest to others",
    points=15,
    want=wants.function(2),
    reference=lambda: _krum,
    cases=(
        Case("seven on a line", (_SEVEN, 1)),
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
        "sort the distances of each update for themselves: `np.sort(…, axis=1)`",
        _sorted_by_column,
        "these are distances; their *squares* are asked for",
        _chosen(distance=np.linalg.norm),
        "differences of both signs cancel: square them",
        _chosen(distance=np.sum),
        "this is the mean; Krum returns one of the updates as it is",
        lambda updates, f: np.mean(updates, axis=0),
        "this is the median of each number, or the update nearest to it; the score "
        "adds up squared distances to n - f - 2 others",
        lambda updates, f: np.median(updates, axis=0),
        lambda updates, f: updates[
            np.linalg.norm(updates - np.median(updates, axis=0), axis=1).argmin()
        ],
        "an update has one axis: `np.sum(…)` adds it up, without `axis=1`",
        raises("AxisError"),
    ),
    hints=(
        "Honest updates stand together, more or less. So look for the update that has "
        "near neighbours: n - f - 2 of them.",
        "The formula is above the exercise. A loop over `updates`, and in it the "
        "squared distances to all of them, `np.sum((one - other) ** 2)`; `sorted` "
        "puts the small ones first, beginning with its own, 0.",
        "The form:\n"
        "    near = len(updates) - num_byzantine - 2\n"
        "    scores = []\n"
        "    for one in updates:\n"
        "        squares = sorted(...)\n"
        "        scores.append(...)\n"
        "    return ...",
        "Nearly all of it; the first square is the update's own and adds nothing:\n"
        "    near = len(updates) - num_byzantine - 2\n"
        "    scores = []\n"
        "    for one in updates:\n"
        "        squares = sorted(np.sum((one - other) ** 2) for other in updates)\n"
        "        scores.append(sum(squares[: near + 1]))\n"
        "    return updates[...]",
    ),
)


LESSON: Final = Lesson(
    name="12a_attacks",
    title="What does an update give away?",
    minutes=45,
    goals=(
        "read a client's image off its update",
        "tell from a loss whether an example was learned from",
        "poison a mean with one client, and choose a defence",
    ),
    needs="lesson 10, and derivatives",
    exercises=(EXAMPLE_IN, ADVANTAGE, REPLACEMENT, KRUM),
    outcomes={"rules": "mean"},
)
