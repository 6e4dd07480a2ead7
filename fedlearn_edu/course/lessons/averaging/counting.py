# SPDX-License-Identifier: Apache-2.0
"""Lesson 10: how many images of a batch are read correctly."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.lessons.averaging import program
from fedlearn_edu.course.lessons.evaluation import plain
from fedlearn_edu.course.lessons.evaluation.plain import a_batch, a_model
from fedlearn_edu.course.lessons.evaluation.program import BATCH, MODEL
from fedlearn_edu.course.mistakes import gives, looks, typed

_ASKED: Final = f"<model={MODEL},batch={BATCH}>"


def a_batch_of(*right: int, wrong: int) -> Any:
    """Images, of which `a_model(1)` reads those correctly that have a 1 in `right`."""
    batch = a_batch(*range(len(right)))
    guesses = plain.scores(a_model(1), batch).argmax(axis=1)
    labels = np.where(np.asarray(right) == 1, guesses, (guesses + wrong) % 10)
    return {"x": batch["x"], "y": labels.astype(np.int32)}


def _hits(model: Any, batch: Any) -> Any:
    return plain.scores(model, batch).argmax(axis=1) == np.asarray(batch["y"])


def _reads(guess: Callable[[Any], Any]) -> Callable[[Any], bool]:
    """Whether an answer counts all of ten images whose labels are these guesses.

    One batch of ten, because an answer may read rows of ten scores as columns.
    """

    def like(answer: Any) -> bool:
        model, batch = a_model(1), a_batch(*range(10))
        labels = guess(plain.scores(model, batch)).astype(np.int32)
        return float(answer(model, {**batch, "y": labels})) == len(labels)

    return like


def _without_bias(model: Any, batch: Any) -> Any:
    return float(_hits({**model, "bias": 0 * model["bias"]}, batch).sum())


BATCH_HITS = Exercise(
    name="batch_hits",
    title="how many images of a batch are read correctly",
    points=10,
    want=wants.computation(f"({_ASKED} -> float32)"),
    reference=program.batch_hits,
    cases=(
        Case("three of four", lambda: (a_model(1), a_batch_of(1, 0, 1, 1, wrong=1))),
        Case("none of two", lambda: (a_model(1), a_batch_of(0, 0, wrong=4))),
        Case("two of five", lambda: (a_model(1), a_batch_of(0, 1, 0, 0, 1, wrong=2))),
        Case("one of one", lambda: (a_model(1), a_batch_of(1, wrong=1))),
    ),
    mistakes=(
        gives(
            "this is the share; return the count, for counts can be added up",
            lambda model, batch: float(_hits(model, batch).mean()),
        ),
        gives(
            "you counted the images that are read wrongly",
            lambda model, batch: float((~_hits(model, batch)).sum()),
        ),
        gives(
            "you counted all images, right or wrong",
            lambda model, batch: float(len(batch["y"])),
        ),
        gives(
            "you added up belief; count the images whose highest score is right",
            lambda model, batch: float(plain.in_right(model, batch).sum()),
        ),
        gives(
            'you added up guesses, not hits: compare them with `batch["y"]`',
            lambda model, batch: float(plain.scores(model, batch).argmax(axis=1).sum()),
        ),
        looks(
            "you took the lowest score for the guess: `argmax`, not `argmin`",
            _reads(lambda scores: scores.argmin(axis=1)),
        ),
        looks(
            "you looked for the image that has most of a digit: each image is a row, "
            "so its highest score is along `axis=1`",
            _reads(lambda scores: scores.argmax(axis=0)),
        ),
        gives("the bias is missing in the scores", _without_bias),
        gives("this is always zero: what is compared with what?", lambda *_: 0.0),
        typed(
            "this is a hit or a miss for each image; add them up",
            f"({_ASKED} -> float32[?])",
            f"({_ASKED} -> bool[?])",
            f"({_ASKED} -> int32[?])",
        ),
        typed(
            "a whole number: convert the hits with `tf.cast(hits, tf.float32)` before "
            "you add them up, for the server has to average later",
            f"({_ASKED} -> int32)",
            f"({_ASKED} -> int64)",
        ),
    ),
    hints=(
        "Three steps: the digit with the highest score, whether it is the right one, "
        "how often that is so.",
        "`tf.argmax(scores, axis=1, output_type=tf.int32)` are the guesses; "
        "`tf.cast(a == b, tf.float32)` is 1.0 where two agree, and 0.0 elsewhere.",
        "Fill the gaps:\n"
        "    guesses = tf.argmax(..., axis=1, output_type=tf.int32)\n"
        "    hits = tf.cast(guesses == ..., tf.float32)\n"
        "    return tf.reduce_sum(...)",
    ),
)
