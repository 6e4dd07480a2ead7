# SPDX-License-Identifier: Apache-2.0
"""Lesson 12b: what clients that lie do to a mean, and what helps."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Attempt, Case, Exercise, Lesson, Mistake, Sign
from fedlearn_edu.course.mistakes import raises, returns, usual
from fedlearn_edu.simulation.seeded_rng import seeded_rng
from fedlearn_edu.testing.comparison import alike

Floats = NDArray[np.floating[Any]]


def _normal(*shape: int) -> Floats:
    return seeded_rng("lesson 12", *shape).standard_normal(shape)


def _replacement(model: Any, target: Any, total: Any, own: Any) -> Any:
    return total / own * (target - model)


def _is_multiple(got: Any, model: Any, target: Any, total: Any, own: Any) -> bool:
    """Whether the difference is right, and its factor like that of the lesson."""
    factor = np.linalg.norm(got) / np.linalg.norm(target - model)
    return bool(np.allclose(got, factor * (target - model)) and abs(factor - 20) < 0.2)


REPLACEMENT = Exercise(
    name="replacement",
    title="an update that replaces the model",
    points=10,
    want=wants.function(4),
    reference=lambda: _replacement,
    cases=(
        Case(
            "from a model that has learned",
            (np.array([0.5, 1.5]), np.array([2.0, 1.0]), 60, 12),
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
        lambda model, target, total, own: total / own * target - total * model,
        "this is a model; an update is the difference to the server's model",
        lambda model, target, total, own: total / own * target,
        lambda model, target, total, own: target,
        lambda model, target, total, own: model + total / own * (target - model),
        "the two models are added; an update is their difference, target - model",
        lambda model, target, total, own: total / own * (target + model),
        "n is the argument `total`, n_0 is `own`: the liar is not always one of twenty",
        returns(_is_multiple),
        raises("name 'n"),
        "this is the factor alone: multiply the difference by it",
        lambda model, target, total, own: total / own,
        "the difference is multiplied by total / own, and does not divide it",
        lambda model, target, total, own: total / (own * (target - model)),
        "`//` rounds down; `/` divides",
        lambda model, target, total, own: total // own * (target - model),
        "the others weigh total - own, and the mean is still divided by `total`",
        lambda model, target, total, own: (total - own) / own * (target - model),
        "the difference is right, its factor is not: multiply by `total`, divide by "
        "`own`",
        returns(lambda got, *given: np.ptp(got / _replacement(*given)) < 1e-9),
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


def _clipped(update: Any, bound: Any) -> Any:
    return update * min(1, bound / np.linalg.norm(update))


CLIPPED = Exercise(
    name="clipped",
    title="an update of bounded length",
    points=5,
    want=wants.function(2),
    reference=lambda: _clipped,
    cases=(
        Case("a short one stays as it is", (np.array([0.9, -1.2]), 2.0)),
        Case("a long one", (np.array([3.0, 0.0, -4.0]), 2.0)),
        Case("exactly as long as it may be", (np.array([3.0, 4.0]), 5.0)),
        Case("twenty numbers", (_normal(20), 2.5)),
    ),
    mistakes=usual(
        "`len` counts numbers; the length is `np.linalg.norm(update)`",
        lambda update, bound: update * min(1, bound / len(update)),
        "nothing is clipped: is the length that of `update`, and larger than `bound`?",
        lambda update, bound: update,
        "this cuts each *number*; the length of the whole update is bounded",
        lambda update, bound: np.clip(update, -bound, bound),
        lambda update, bound: np.minimum(update, bound),
        "a short update stays as it is: clipping makes nothing longer",
        lambda update, bound: update * bound / np.linalg.norm(update),
        lambda update, bound: update * max(1, bound / np.linalg.norm(update)),
        "this has the length 1; `bound` is missing",
        lambda update, bound: update / np.linalg.norm(update),
        lambda update, bound: update / max(1, np.linalg.norm(update)),
        "the quotient is the other way round: bound / norm",
        lambda update, bound: update * min(1, np.linalg.norm(update) / bound),
        lambda update, bound: update * max(1, np.linalg.norm(update) / bound),
        lambda update, bound: update * np.linalg.norm(update) / bound,
        "this is the square of the length: the root is missing, `np.linalg.norm`",
        lambda update, bound: update * min(1, bound / np.sum(update**2)),
        "this is the sum of absolute numbers; the length is the root of the sum of "
        "squares, `np.linalg.norm`",
        lambda update, bound: update * min(1, bound / np.sum(np.abs(update))),
        "C is the argument `bound`, not always 0.5",
        lambda update, bound: update * min(1, 0.5 / np.linalg.norm(update)),
        "this is the factor alone; multiply the update by it",
        lambda update, bound: min(1, bound / np.linalg.norm(update)),
        "a long update became one number; shorten it as a whole: update * bound / norm",
        returns(lambda got, update, _: np.ndim(got) != np.ndim(update)),
        "a long update is shortened, not dropped: update * bound / norm",
        lambda update, bound: update * (np.linalg.norm(update) <= bound),
        "`np.min` takes one array; of two numbers, `min(1, …)` takes the smaller",
        raises("as an integer"),
        "compare one number, the length: `np.linalg.norm(update)`",
        raises("truth value"),
    ),
    hints=(
        "How long is the update? If it is too long, by which factor has it to be "
        "multiplied to be exactly `bound` long?",
        "`np.linalg.norm(update)` is the length, and bound / length the factor. "
        "`min(1, …)` leaves short updates as they are.",
        "The form:\n    return update * min(..., ...)",
        "Nearly all of it:\n    return update * min(1, ... / np.linalg.norm(update))",
    ),
)


def _scores(updates: Any, num_byzantine: int) -> Any:
    neighbors = len(updates) - num_byzantine - 2
    squares = [[np.sum((one - other) ** 2) for other in updates] for one in updates]
    return np.sort(squares, axis=1)[:, : neighbors + 1].sum(axis=1)


def _krum(updates: Any, num_byzantine: int) -> Any:
    return updates[_scores(updates, num_byzantine).argmin()]


def _chosen(
    neighbors: Callable[[int, int], int] = lambda n, f: n - f - 2,
    distance: Callable[[Any], Any] = lambda way: np.sum(way**2),
    choose: Callable[[Any], Any] = np.argmin,
) -> Callable[..., Any]:
    """A choice like Krum's, whose parts can be usual mistakes."""

    def rule(updates: Any, num_byzantine: int) -> Any:
        among = neighbors(len(updates), num_byzantine) + 1
        ways = [[distance(one - other) for other in updates] for one in updates]
        return updates[choose(np.sort(ways, axis=1)[:, :among].sum(axis=1))]

    return rule


def _with_attackers(honest: int, attackers: int, at: float, spread: float) -> Floats:
    """Honest updates around 0, and attackers that agree, around `at`."""
    scales = np.repeat([1.0, spread], [honest, attackers])[:, None]
    middles = np.repeat([0.0, at], [honest, attackers])[:, None]
    updates: Floats = scales * _normal(honest + attackers, 2) + middles
    return updates.round(2)


def _of_nearest(updates: Any, part: slice, order: Any = sorted) -> Any:
    """A choice by a part of the distances of each update, in this order."""
    ways = [[np.sum((one - other) ** 2) for other in updates] for one in updates]
    return updates[np.argmin([sum(order(each)[part]) for each in ways])]


def _by_column(updates: Any, part: slice) -> Any:
    """A choice by squares that are added up along the wrong axis."""
    ways = [((updates - one) ** 2).sum(axis=0) for one in updates]
    return updates[np.argmin([np.sort(each)[part].sum() for each in ways])]


def _sorted_by_column(updates: Any, f: int) -> Any:
    squares = [[np.sum((one - other) ** 2) for other in updates] for one in updates]
    nearest = np.sort(squares, axis=0)[:, 1 : len(updates) - f - 1]
    return updates[nearest.sum(axis=1).argmin()]


_SEVEN: Final = np.array([[33.0], [68.0], [2.0], [18.0], [21.0], [12.0], [0.0]])
_SIX: Final = np.array([[61.0], [1.0], [3.0], [15.0], [8.0], [11.0]])
_NINE: Final = np.array([[8.0, 52, 4, 18, 5, 23, 51, 11, 6]]).T


def _surely(*entries: Any) -> tuple[Mistake, ...]:
    """Usual mistakes; what a formula says has to hold on other updates, too.

    Of seven updates many rules choose the same one.
    """

    def sure(sign: Sign) -> Sign:
        formula = sign.formula
        if formula is None:
            return sign

        def spotted(attempt: Attempt) -> bool:
            with suppress(Exception):  # as the answer may fail on these
                return sign.spotted(attempt) and all(
                    alike(attempt.answer(each.copy(), 3), formula(each, 3))
                    for each in _normal(4, 12, 3)
                )
            return False

        return Sign(spotted, formula)

    return tuple(
        Mistake(each.says, tuple(map(sure, each.signs))) for each in usual(*entries)
    )


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
    mistakes=_surely(
        "this is the smallest score; return the update that has it",
        lambda updates, f: np.min(_scores(updates, f)),
        "this is its position: return the update itself, updates[position]",
        returns(lambda got, *_: np.ndim(got) == 0),
        "these are several updates; one is asked for",
        returns(lambda got, updates, f: np.ndim(got) == np.ndim(updates)),
        "this takes the *largest* score: it trusts whoever stands apart",
        _chosen(choose=np.argmax),
        "all distances count here, so the update nearest to the mean wins, which liars "
        "can move: take the n - f - 2 nearest alone",
        _chosen(lambda n, f: n - 1),
        "the farthest ones count here, too: take the n - f - 2 nearest alone",
        _chosen(lambda n, f: n - f),
        _chosen(lambda n, f: n - 2),
        lambda updates, f: _of_nearest(updates, slice(f + 2 - len(updates), None)),
        "n - f - 2 neighbors are asked for, where n is `len(updates)`, f is "
        "`num_byzantine`, and the update itself, at a distance of 0, is none of them",
        _chosen(lambda n, f: 1),
        _chosen(lambda n, f: 3),
        _chosen(lambda n, f: f),
        _chosen(lambda n, f: n - 3),
        _chosen(lambda n, f: n - f - 3),
        _chosen(lambda n, f: n - f - 1),
        lambda updates, f: _of_nearest(updates, slice(updates.shape[1] - f - 1)),
        lambda updates, f: _of_nearest(updates, slice(1, updates.shape[1] - f - 1)),
        "add up the squares of each *row*, along axis=1: one distance per update",
        lambda updates, f: _by_column(updates, slice(1, len(updates) - f - 1)),
        "distances have to be sorted, or the nearest are not the first ones",
        lambda updates, f: _of_nearest(updates, slice(len(updates) - f - 2), list),
        lambda updates, f: _of_nearest(updates, slice(len(updates) - f - 1), list),
        lambda updates, f: _of_nearest(updates, slice(1, len(updates) - f - 1), list),
        "this is the first update: does `argmin` see a score for *each* update, is "
        "`return` after the loop, and are distances sorted along axis=1?",
        lambda updates, f: updates[0],
        _sorted_by_column,
        "these are positions: sort the distances, `np.sort`, not `np.argsort`",
        lambda updates, f: _of_nearest(
            updates, slice(1, len(updates) - f - 1), np.argsort
        ),
        "this is the last update: keep a score, too, where it is the smallest so far",
        lambda updates, f: updates[-1],
        "*squared* differences to other updates are asked for, "
        "`np.sum((one - other) ** 2)`: square each, then add up",
        _chosen(distance=np.linalg.norm),
        _chosen(distance=np.sum),
        _chosen(distance=lambda way: -np.sum(way)),
        _chosen(distance=lambda way: np.sum(way) ** 2),
        _chosen(distance=lambda way: np.sum(np.abs(way))),
        lambda updates, f: updates[np.linalg.norm(updates, axis=1).argmin()],
        "this is the median of each number; the score adds up squared distances to "
        "n - f - 2 others",
        lambda updates, f: np.median(updates, axis=0),
        "this is none of the updates: return the row with the smallest score",
        returns(lambda got, updates, f: not (updates == got).all(axis=1).any()),
        "this is the library's rule: write the scores yourself",
        raises("does not denote a type"),
        "a list is no function, as `key=…` or before round brackets: the smallest "
        "score is at `np.argmin(scores)`",
        raises("'list' object is not callable"),
        "this position is no row: has each update *one* score? Add up its distances",
        raises("out of bounds for axis 0"),
        "one number is left, and not one for each update: `axis=1` is missing",
        raises("dimension 0"),
    ),
    hints=(
        "Honest updates stand together, more or less. So look for the update that has "
        "near neighbors: n - f - 2 of them.",
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
    name="12b_who_lies",
    title="What if a client lies?",
    minutes=40,
    goals=(
        "replace a model with a single update",
        "bound what one client can change",
        "choose a defense, and say what it costs honest clients",
    ),
    needs="lesson 12a",
    exercises=(REPLACEMENT, CLIPPED, KRUM),
    outcomes={"lied": "about 10 %", "rules": "mean"},
)
