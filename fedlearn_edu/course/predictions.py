# SPDX-License-Identifier: Apache-2.0
"""`predict` and `reveal`: say what will happen before a run, and compare after it.

predict("rise", "By how much does the mean rise?", "3 degrees", "1 degree")
reveal("rise")                                 # in the cell that finds out
"""

import difflib
from functools import partial
from typing import final

from fedlearn_edu.course.feedback import prose
from fedlearn_edu.course.lessons import loaded_first
from fedlearn_edu.errors import FedLearnError, short_traceback
from fedlearn_edu.viz.notebook import publish, show

MOST_CHOICES = 4

_said: dict[str, str] = {}


@final
class PredictionError(FedLearnError, ValueError):
    """Choices that are none, or a prediction of which no outcome is known."""


@short_traceback
def predict(name: str, question: str, *choices: str) -> None:
    """Asks what will happen, and keeps the answer for `reveal`, which tells.

    A prediction costs nothing and is not graded. A page without a front end, and a
    graded copy, have the question and the choices as text.

    >>> predict("rise", "By how much does the mean rise?", "3 degrees", "1 degree")
    By how much does the mean rise? (3 degrees / 1 degree)

    Args:
        name: of the prediction, for `reveal`.
        question: one or two sentences; `code` stands between backticks.
        choices: a button for each, 2 to 4; without any there is a line to fill in.

    Raises:
        PredictionError: if the choices are not 2 to 4 different ones.
    """
    if choices and not 2 <= len(set(choices)) == len(choices) <= MOST_CHOICES:
        raise PredictionError(
            "these are no choices",
            expected=f"none, or 2 to {MOST_CHOICES} that differ",
            found=", ".join(choices),
            where=f"predict({name!r}, …)",
            do="leave one out, or pass none for a line to fill in",
        )
    from fedlearn_edu.viz.asking import PredictionView

    note = partial(_note, name)
    show(PredictionView(question, choices, _said.get(name), note, prose))


@short_traceback
def reveal(name: str, outcome: object = None) -> None:
    """Says what came out, beside what was predicted.

    A cell that computes the outcome passes it. Otherwise it is kept with the lesson, so
    that it cannot be read in the notebook before the run.

    >>> reveal("who-holds-the-mean")
    The answer: the server.
    >>> reveal("never asked", 105)
    The answer: 105.

    Args:
        name: of the prediction.
        outcome: what came out, in words or as a number: that of the right choice.

    Raises:
        PredictionError: if no outcome is passed, and no lesson has one of this name.
    """
    found = str(_kept(name) if outcome is None else outcome)
    said = _said.get(name)
    if said is None:
        text = f"The answer: {found}."
    elif said.casefold() == found.casefold():
        text = f"✓ You said “{said}”, and so it is."
    else:
        text = f"You said “{said}”. The answer: “{found}”."
    publish(prose(text), text)


def _kept(name: str) -> str:
    known: list[str] = []
    for lesson in loaded_first():
        if name in lesson.outcomes:
            return lesson.outcomes[name]
        known += lesson.outcomes
    near = difflib.get_close_matches(name, known, n=1)
    raise PredictionError(
        f"no outcome of a prediction {name!r} is known",
        expected="the name of a prediction in a lesson, or its outcome as well",
        found=f"reveal({name!r})",
        do=f"did you mean {near[0]!r}?" if near else f"reveal({name!r}, outcome)",
    )


def _note(name: str, said: str) -> None:
    _said[name] = said
