# SPDX-License-Identifier: Apache-2.0
"""Lesson 12a: what an update, and a model, give away."""

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


def _from_zero(pixels: int, label: int, rate: float) -> tuple[Any]:
    zeros = np.zeros((pixels, 10)), np.zeros(10)
    return (_step(_example(pixels, 10, label), rate, *zeros),)


def _from_trained() -> tuple[Any]:
    return (_step(_example(6, 10, 2), 0.5, 0.3 * _normal(6, 10), _normal(10)),)


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


def _made(wrong: Callable[[Any, Any], Any]) -> Any:
    """Whether the image is made of the label's column and bias like this."""
    return _says(
        lambda _, image, update: _is_image(
            image, wrong(_column(update), update["bias"].max())
        )
    )


EXAMPLE_IN = Exercise(
    name="example_in",
    title="a client's digit, from its update",
    points=10,
    want=wants.function(1),
    reference=lambda: _example_in,
    cases=(
        Case("five pixels", _from_zero(5, 1, 0.1), do=_read),
        Case("another rate", _from_zero(5, 0, 2.0), do=_read),
        Case("a model that has learned", _from_trained(), do=_read),
        Case("784 pixels", lambda: _from_zero(784, 7, 0.1), do=_read),
    ),
    mistakes=usual(
        "the image is right, the label is not: an update goes *against* the gradient, "
        "so it is the position of the largest bias, and neither smallest nor a value",
        _says(
            lambda label, image, update: (
                label != np.argmax(update["bias"])
                and _is_image(image, _column(update) / update["bias"].max())
            )
        ),
        "this is a row, one pixel in all classes; a column, `[:, label]`, is one class "
        "in all pixels",
        _says(lambda _, image, update: image.shape == update["bias"].shape),
        "these are the columns of all classes; take the label's",
        _says(lambda _, image, update: image.shape == update["weights"].shape),
        "the column is the image times one number: divide by the change of that bias",
        _made(lambda column, bias: column),
        _made(lambda column, bias: -column),
        "divide, do not multiply: the change of the bias is in the column already",
        _made(lambda column, bias: column * bias),
        "the quotient is upside down: column / bias, not bias / column",
        _made(lambda column, bias: bias / column),
        "this is the negative: both parts of the update have the same sign, which "
        "cancels out",
        _made(lambda column, bias: -column / bias),
        "the scale is off: divide the column by the bias of the label, nothing else",
        _says(
            lambda _, image, update: (
                image.shape == _column(update).shape
                and abs(np.corrcoef(image, _column(update))[0, 1]) > 0.999
            )
        ),
        "this is neither the label's column nor a multiple of it: each column is the "
        "image times its own number, and they add up to 0",
        _says(lambda label, image, update: image.shape == _column(update).shape),
        "the label comes first and is one number, not an array: `np.argmax`",
        raises(r"only .*(scalar|0-dim|length-1|size-1)|int\(\) argument"),
        "two things are asked for: `return label, image`",
        raises("unpack|not iterable|invalid literal"),
        "keys are in quotes: `update['bias']`, `update['weights']`; and the label is a "
        "position, `np.argmax(update['bias'])`",
        raises("only integers|name '(bias|weights)'|string indices"),
        "the label is 0 to 9, the position of the largest *bias*",
        raises("out of bounds"),
        "divide by one number, the label's: `update['bias'][label]`",
        raises("broadcast"),
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
    title="how well a loss gives members away",
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
        Case(
            "worse than a guess", (np.array([2.0, 0.7, 0.2]), np.array([0.4, 0.1]), 1.0)
        ),
    ),
    mistakes=usual(
        "a loss that is exactly the threshold counts as a member's: <=, not <",
        lambda members, others, tau: np.mean(members < tau) - np.mean(others < tau),
        lambda members, others, tau: np.mean(members <= tau) - np.mean(others < tau),
        lambda members, others, tau: np.mean(members < tau) - np.mean(others <= tau),
        "`threshold` is an argument, not always 0.3",
        lambda members, others, _: _advantage(members, others, 0.3),
        "an advantage may be below 0: such an attacker is worse than a guess",
        lambda *given: abs(_advantage(*given)),
        lambda *given: max(0, _advantage(*given)),
        "`len` counts False, too; `np.mean` gives the share of True",
        lambda *_: 0.0,
        lambda members, others, _: len(members) - len(others),
        "this adds up how often the attacker is right; the advantage is a difference "
        "of the two shares",
        lambda members, others, tau: (
            (np.mean(members <= tau) + np.mean(others > tau)) / 2
        ),
        lambda members, others, tau: np.mean(members <= tau) + np.mean(others > tau),
        "the sign: the share of members comes first, and small losses count, <=",
        lambda *given: -_advantage(*given),
        "this counts what is above the threshold; members have *small* losses",
        lambda members, others, tau: np.mean(members >= tau) - np.mean(others >= tau),
        "these are counts; take the share of each group, `np.mean`",
        lambda members, others, tau: np.sum(members <= tau) - np.sum(others <= tau),
        "this is of one group alone: from the members' share take away that of others",
        lambda members, others, tau: np.mean(members <= tau),
        lambda members, others, tau: np.mean(others <= tau),
        lambda members, others, tau: np.mean(members <= tau) - np.mean(members > tau),
        "this compares the mean losses; count how many are at most the threshold",
        lambda members, others, tau: np.mean(members) - np.mean(others),
        lambda members, others, tau: np.mean(others) - np.mean(members),
        lambda members, others, tau: (
            np.mean(members[members <= tau]) - np.mean(others[others <= tau])
        ),
        "each group has a size of its own: divide each count by its own, or take the "
        "mean",
        lambda members, others, tau: (
            (np.sum(members <= tau) - np.sum(others <= tau)) / len(members)
        ),
        lambda members, others, tau: (
            (np.sum(members <= tau) - np.sum(others <= tau)) / len(others)
        ),
        "of the others, too, those count whose loss is at most the threshold",
        lambda members, others, tau: np.mean(members <= tau) - np.mean(others > tau),
        "this is a quotient of the two shares; their difference is asked for",
        lambda members, others, tau: np.mean(members <= tau) / np.mean(others <= tau),
        lambda members, others, tau: np.sum(members <= tau) / np.sum(others <= tau),
        "take the share of each group first, `np.mean(…)`; then the difference",
        raises("broadcast|boolean subtract"),
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


def _best_threshold(members: Any, others: Any) -> Any:
    return _where_most(_advantage)(members, others)


def _where_most(gain: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
    """Of all losses the one with the most of something."""
    return lambda members, others: max(
        [*members, *others], key=lambda threshold: gain(members, others, threshold)
    )


def _is_as_good(got: Any, members: Any, others: Any) -> bool:
    best = _advantage(members, others, _best_threshold(members, others))
    return bool(np.isclose(_advantage(members, others, got), best))


def _or_as_good(answer: Callable[..., Any], members: Any, others: Any) -> Any:
    """Of losses that are equally good, any one is right."""
    got, best = answer(members, others), _best_threshold(members, others)
    is_loss = np.ndim(got) == 0 and got in [*members, *others]
    return best if is_loss and _is_as_good(got, members, others) else got


_SURE: Final = np.array([0.1, 0.3, 0.2, 1.4])
_NEW: Final = np.array([0.9, 0.25, 2.0, 0.6, 1.2, 0.6, 0.6, 1.7, 1.8, 1.9])

BEST_THRESHOLD = Exercise(
    name="best_threshold",
    title="the threshold that tells most",
    points=10,
    want=wants.function(2),
    reference=lambda: _best_threshold,
    cases=(
        Case("four members and ten others", (_SURE, _NEW)),
        Case(
            "members are few",
            (np.array([0.5, 0.2]), np.array([0.4, 0.8, 0.3, 0.6, 0.7, 0.9])),
        ),
        Case(
            "forty members, and as many others",
            (np.abs(_normal(40)), 0.4 + np.abs(_normal(2, 20).ravel())),
            do=_or_as_good,
        ),
    ),
    mistakes=usual(
        "this is the advantage; the loss at which it is largest is asked for",
        lambda members, others: _advantage(
            members, others, _best_threshold(members, others)
        ),
        "this is a position, or a whole number: return one of the losses",
        lambda members, others: [*members, *others].index(
            _best_threshold(members, others)
        ),
        "the advantage is smallest here, or 0: `max`, with members before others",
        _where_most(lambda *given: -_advantage(*given)),
        "up to this loss, a member's largest, there are many others, too: keep the "
        "loss with the largest advantage so far",
        lambda members, others: np.max(members),
        "try all losses, the members' too, and look the best one up in the same order",
        lambda members, others: max(
            others, key=lambda threshold: _advantage(members, others, threshold)
        ),
        "a mean knows nothing of the advantage: try every loss as the threshold",
        lambda members, others: np.mean(members),
        lambda members, others: (np.mean(members) + np.mean(others)) / 2,
        "with `<` in place of `<=` the best loss is another one: use `advantage`",
        _where_most(lambda m, o, tau: np.mean(m < tau) - np.mean(o < tau)),
        "return one number, the loss with the largest advantage, and no advantages",
        returns(lambda got, *_: np.ndim(got) > 0),
        "this is the last loss tried: keep the one that was best",
        lambda members, others: others[-1],
        "as a threshold this is as good, yet it is none of the losses: try those",
        returns(_is_as_good),
        "another loss has a larger advantage: try all of them, members' and others'",
        returns(lambda got, members, others: got in [*members, *others]),
        "this is none of the losses: try each of them, and keep the one with the "
        "largest advantage",
        returns(lambda got, members, others: np.isfinite(got)),
        "`advantage` takes one threshold: a loop, or `max(losses, key=…)`, tries all",
        raises(r"broadcast.*\(14,\)"),
        "`key` hands over one loss: `lambda loss: advantage(members, others, loss)`",
        raises(r"(advantage|lambda>)\(\) (missing|takes)"),
        "all losses are `np.concatenate([members, others])`, with two pairs of "
        "brackets; and `advantage` takes members, others, one threshold, in this order",
        raises("broadcast|scalar index"),
    ),
    hints=(
        "The attacker can try: what is the advantage if the threshold is the first "
        "loss? The second? Keep the best.",
        "`np.concatenate([members, others])` has all losses. A loop asks `advantage` "
        "for each; or `max(…, key=…)`, which takes the one with the largest key.",
        "The form:\n"
        "    losses = np.concatenate([...])\n"
        "    return max(losses, key=lambda threshold: ...)",
        "Nearly all of it:\n"
        "    losses = np.concatenate([members, others])\n"
        "    return max(losses, key=lambda threshold: advantage(...))",
    ),
)


LESSON: Final = Lesson(
    name="12a_what_leaks",
    title="What does a model give away?",
    minutes=35,
    goals=(
        "read a client's image off its update",
        "say when an update hides its images",
        "tell from the loss whether a model was trained on an example",
    ),
    needs="lesson 10, and derivatives",
    exercises=(EXAMPLE_IN, ADVANTAGE, BEST_THRESHOLD),
    outcomes={"seen": "the scan itself"},
)
