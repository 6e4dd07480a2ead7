# SPDX-License-Identifier: Apache-2.0
"""Lesson 09, one batch: how wrong a model is, and one step of gradient descent."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Attempt, Case, Exercise, Mistake
from fedlearn_edu.course.lessons.evaluation import plain, program
from fedlearn_edu.course.lessons.evaluation.plain import a_batch, a_model
from fedlearn_edu.course.likeness import alike
from fedlearn_edu.course.mistakes import gives, raises, typed

_LOSS: Final = f"<model={program.MODEL},batch={program.BATCH}>"
_STEP: Final = f"<model={program.MODEL},batch={program.BATCH},learning_rate=float32>"


def _log(numbers: Any) -> Any:
    """Of negative numbers and zeros, too, without a warning."""
    with np.errstate(all="ignore"):
        return np.log(numbers)


def _picked(numbers: Any, batch: Any) -> Any:
    with np.errstate(all="ignore"):
        return -np.mean((plain.right(batch) * numbers).sum(axis=1))


BATCH_LOSS = Exercise(
    name="batch_loss",
    title="how wrong a model is on a batch",
    points=10,
    want=wants.computation(f"({_LOSS} -> float32)"),
    reference=program.batch_loss,
    cases=(
        Case("a model of zeros, two images", lambda: (a_model(0), a_batch(3, 5))),
        Case("a model that prefers some digits", lambda: (a_model(1), a_batch(0, 9))),
        Case("a single image", lambda: (a_model(2), a_batch(7))),
        Case("five images", lambda: (a_model(3), a_batch(1, 1, 4, 8, 2))),
    ),
    mistakes=(
        gives(
            "the sign: a logarithm of something below 1 is negative, and a loss is not",
            lambda model, batch: -plain.loss(model, batch),
        ),
        gives(
            "you summed over the batch; average, so that its size does not matter",
            lambda model, batch: plain.loss(model, batch) * len(batch["y"]),
        ),
        gives(
            "you averaged over the ten digits, too: add over digits (`axis=1`), "
            "average over images",
            lambda model, batch: plain.loss(model, batch) / plain.DIGITS,
        ),
        gives(
            "the softmax is missing: this is the logarithm of the scores",
            lambda model, batch: _picked(_log(plain.scores(model, batch)), batch),
        ),
        gives(
            "the softmax is missing: these are the scores",
            lambda model, batch: _picked(plain.scores(model, batch), batch),
        ),
        gives(
            "the logarithm is missing: this is the belief itself, averaged",
            lambda model, batch: _picked(plain.belief(model, batch), batch),
        ),
        gives(
            "the logarithm is missing: this is the belief itself, averaged",
            lambda model, batch: np.mean(plain.in_right(model, batch)),
        ),
        gives(
            "you took the logarithm of the average belief; take it for each image, "
            "then average",
            lambda model, batch: -_log(np.mean(plain.in_right(model, batch))),
        ),
        gives(
            "you added up over the images, too: `axis=1` adds over the digits only",
            lambda model, batch: -_log(np.sum(plain.in_right(model, batch))),
        ),
        gives(
            "you took the log of the wrong thing: `right` is full of zeros, so take "
            "the logarithm of `belief`, and multiply by `right` then",
            lambda model, batch: np.inf,
        ),
        gives(
            "you took the log of the wrong thing: of the belief in the other digits",
            lambda model, batch: _picked(_log(1 - plain.belief(model, batch)), batch),
        ),
        gives(
            "nothing picks the right digit: this averages the logarithms of all ten",
            lambda model, batch: -np.mean(_log(plain.belief(model, batch))),
        ),
        gives(
            "nothing picks the right digit: this adds the logarithms of all ten",
            lambda model, batch: -np.mean(_log(plain.belief(model, batch)).sum(axis=1)),
        ),
        gives(
            "the bias is missing in the scores",
            lambda model, batch: plain.loss(
                {**model, "bias": 0 * model["bias"]}, batch
            ),
        ),
        typed(
            "this is one loss for each image; average them", f"({_LOSS} -> float32[?])"
        ),
        typed(
            "this is a table of images and digits: add up over the digits (`axis=1`), "
            "then average",
            f"({_LOSS} -> float32[?,10])",
        ),
    ),
    hints=(
        "Four things, in the order of the text: scores, belief, the logarithm of the "
        "belief in the right digit, the average over the batch with its sign changed.",
        "loss = -(1/n) · Σ ln(belief of image i in its own digit). `right * something` "
        "is zero except at the right digit, so adding up over `axis=1` picks it out.",
        "Fill the gaps:\n"
        '    scores = tf.matmul(batch["x"], ...) + ...\n'
        "    belief = ...(scores)\n"
        '    right = tf.one_hot(batch["y"], 10)\n'
        "    picked = tf.reduce_sum(right * ..., axis=1)\n"
        "    return -tf.reduce_mean(picked)",
    ),
)


def _steps(says: str, wrong: Callable[[Any, Any, float], Any]) -> Mistake:
    """Whoever gets this model, or, where only the bias is looked at, this bias."""

    def spotted(attempt: Attempt) -> bool:
        if attempt.error is not None or len(attempt.inputs) != 3:
            return False
        made = wrong(*attempt.inputs)
        return alike(attempt.got, made) or alike(attempt.got, made["bias"])

    return Mistake(says, spotted)


def _bias(answer: Any, *arguments: Any) -> Any:
    return answer(*arguments)["bias"]


def _without_rate(model: Any, batch: Any, rate: float) -> Any:
    return plain.trained(model, 1.0, [batch])


def _one_part(trained: str) -> Callable[[Any, Any, float], Any]:
    def step(model: Any, batch: Any, rate: float) -> Any:
        return {**model, trained: plain.trained(model, rate, [batch])[trained]}

    return step


BATCH_TRAIN = Exercise(
    name="batch_train",
    title="one step of gradient descent",
    points=10,
    want=wants.computation(f"({_STEP} -> {program.MODEL})"),
    reference=program.batch_train,
    cases=(
        Case("the bias", lambda: (a_model(1), a_batch(5, 5, 1), 0.1), _bias),
        Case("weights and bias", lambda: (a_model(0), a_batch(2, 3), 0.5)),
        Case("a single image", lambda: (a_model(2), a_batch(9), 0.01)),
        Case("a rate of 0 changes nothing", lambda: (a_model(3), a_batch(4), 0.0)),
    ),
    mistakes=(
        _steps(
            "you went uphill: the slope says where the loss grows, so subtract it",
            lambda model, batch, rate: plain.trained(model, -rate, [batch]),
        ),
        _steps(
            "there is no learning rate in your step: multiply the slope by it",
            _without_rate,
        ),
        _steps("you trained only the weights, not the bias", _one_part("weights")),
        _steps("you trained only the bias, not the weights", _one_part("bias")),
        _steps(
            "this returns the gradient; return the model after the step",
            lambda model, batch, rate: plain.slopes(model, batch),
        ),
        _steps(
            "this returns the step; return the model, less the step",
            lambda model, batch, rate: plain.moved(
                dict.fromkeys(model, 0.0), plain.slopes(model, batch), rate
            ),
        ),
        _steps(
            "you moved by the loss; move by the slopes, which the tape has",
            lambda model, batch, rate: plain.moved(
                model, dict.fromkeys(model, plain.loss(model, batch)), -rate
            ),
        ),
        _steps("nothing moved: this is the old model", lambda model, *_: model),
        _steps(
            "this is slope less model: it is the other way round",
            lambda model, batch, rate: plain.moved(
                {name: -model[name] for name in model}, plain.slopes(model, batch), rate
            ),
        ),
        typed(
            "you return the loss; return the model after the step",
            f"({_STEP} -> float32)",
        ),
        typed(
            "`weights` comes first, then `bias`; an `OrderedDict` keeps this order, a "
            "plain `dict` does not",
            f"({_STEP} -> <bias=float32[10],weights=float32[784,10]>)",
        ),
        raises(
            "the names are missing: return an `OrderedDict` with `weights` and `bias`",
            "tuple indices|list indices",
        ),
        typed(
            "you return one of the two parts; a model has `weights` and `bias`",
            f"({_STEP} -> float32[784,10])",
            f"({_STEP} -> float32[10])",
        ),
    ),
    hints=(
        "`tape.gradient(loss, model)` has the slopes, under the names of the model. "
        "Downhill is where the slope does not point.",
        "new = old - learning_rate · slope, for the weights and for the bias.",
        "Fill the gaps:\n"
        "    slopes = tape.gradient(..., model)\n"
        "    return OrderedDict(\n"
        '        weights=model["weights"] - ... * slopes["weights"],\n'
        "        bias=...,\n"
        "    )",
    ),
)
