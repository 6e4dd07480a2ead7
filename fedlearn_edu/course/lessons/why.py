# SPDX-License-Identifier: Apache-2.0
"""Lesson 00: ten clients that know one digit each learn all ten; what that is for."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise, Lesson
from fedlearn_edu.course.mistakes import raises, returns, usual
from fedlearn_edu.testing.comparison import alike

_THREE: Final = list(np.array([[1, 2, 5, 1], [3, 6, 4, 0], [2, 4, 0, 0.5]]))
_SPOILED = "one of them has changed"


def _average_models() -> Callable[[list[Any]], Any]:
    return lambda models: sum(models) / len(models)


def _kept(answer: Any, models: list[Any]) -> str:
    """Whether the models are unchanged afterwards."""
    before = [model.copy() for model in models]
    answer(models)
    return "they are unchanged" if alike(models, before) else _SPOILED


AVERAGE_MODELS = Exercise(
    name="average_models",
    title="the mean of models",
    points=5,
    want=wants.function(1),
    reference=_average_models,
    cases=(
        Case("three models", (_THREE,)),
        Case("one model", ([np.array([0.5, -2.0])],)),
        Case("of two rows", ([np.array([[3.0, k], [0.0, -1.0]]) for k in (0, 1, 8)],)),
        Case("the models afterwards", ([np.array([1.0, 2.0]), np.ones(2)],), _kept),
    ),
    mistakes=usual(
        "this is the sum; divide it by how many models there are",
        sum,
        "this is one number, the mean of all weights: add up whole arrays, and each "
        "weight stays by itself",
        np.mean,
        np.sum,
        lambda models: np.sum(models) / len(models),
        "you averaged inside a model; average over the models, weight by weight",
        lambda models: np.mean(models, axis=-1),
        lambda models: [np.mean(model) for model in models],
        lambda models: np.mean(models[0], axis=0),
        "divide by `len(models)`, however many models come, and by nothing else",
        lambda models: sum(models) / 10,
        lambda models: sum(models) / models,
        lambda models: sum(models) / (len(models) - 1),
        lambda models: sum(models) / len(models[0]),
        lambda models: sum(models) / np.size(models),
        "each model was divided, but they were not added up",
        lambda models: np.array(models) / len(models),
        "only one model was added: the total begins once, before the loop, and the "
        "`return` stands after it",
        lambda models: models[0] / len(models),
        lambda models: models[-1] / len(models),
        "this is always the example's result: work it out from `models`",
        lambda models: [2, 4],
        "this is the median of each weight, not the mean",
        lambda models: np.median(models, axis=0),
        "this is rounded to whole numbers: `/` divides, and that is enough",
        lambda models: sum(models) // len(models),
        lambda models: np.round(np.mean(models, axis=0)),
        "`total += …` changes the client's own array: begin with `models[0].copy()`",
        returns(lambda got, _: got == _SPOILED),
        "the list is called `models`; `model` is the lesson's own",
        raises("'Model'|model has no|dimension 0"),
        "one model or many may come: `models[0]` to `models[len(models) - 1]`",
        raises("list index"),
        lambda models: (models[0] + models[1]) / 2,
        "`models` is a list of arrays, and nothing in it is at a client: plain Python "
        "or NumPy is enough",
        raises("place it first"),
    ),
    hints=(
        "Out of many models comes one. Each of its weights is the mean of that weight "
        "in all models.",
        "Look at the example above, `[1, 2]` and `[3, 6]`. `+` adds two arrays weight "
        "by weight, and `sum(models)` adds up all that are in the list.",
        "A mean is a sum, divided by how many there are:\n"
        "    def average_models(models):\n"
        "        total = ...\n"
        "        return total / ...",
        "One gap is left:\n"
        "    def average_models(models):\n"
        "        return sum(models) / ...",
    ),
)

LESSON: Final = Lesson(
    name="00_why",
    title="Why should the data stay where they are?",
    minutes=15,
    goals=(
        "say what federated learning is, and what it is for",
        "play the server's part in one round",
        "name what it does not protect",
    ),
    needs="a little Python",
    exercises=(AVERAGE_MODELS,),
    outcomes={"leak": "a 3"},
)
