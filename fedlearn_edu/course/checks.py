# SPDX-License-Identifier: Apache-2.0
"""`check`, `hint` and `checkpoint`: what the cells of a lesson call.

check.mean_of(mean_of)                         # tried, shown, graded
hint.mean_of()                                 # the next rung of a ladder
mean_of = checkpoint("mean_of", mean_of)       # the lesson goes on in any case
"""

import difflib
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, final

from fedlearn_edu.course.exercise import Exercise
from fedlearn_edu.course.feedback import as_html, as_text, hint_text, prose, summary
from fedlearn_edu.course.judging import Verdict, judge
from fedlearn_edu.course.lessons import loaded_first
from fedlearn_edu.course.records import note_check, note_hint
from fedlearn_edu.errors import ArgumentsError, FedLearnError, short_traceback
from fedlearn_edu.viz.notebook import publish, show

_taken: dict[str, int] = {}
_last: dict[str, tuple[Any, Verdict]] = {}


@final
class NotRightYetError(FedLearnError, AssertionError):
    """An answer failed a check. To a grader: no points."""

    def _render_traceback_(self) -> list[str]:
        """One short line: what is above it has said what is wrong."""
        return [f"{self.summary.partition(',')[0]} (see above)"]


@final
class UnknownExerciseError(FedLearnError, AttributeError, TypeError):
    """No lesson has an exercise of this name, or no name was given."""


@final
@dataclass(frozen=True)
class ForEachExercise:
    """A function for each exercise, as an attribute of its name."""

    _call: str
    _do: Callable[..., None]

    @short_traceback
    def __getattr__(self, name: str) -> Callable[..., None]:
        exercise = exercise_named(name)
        form = self._call.replace("NAME", name).replace("answer", name)

        def do(*given: Any, **named: Any) -> None:
            try:
                bound = inspect.signature(self._do).bind(exercise, *given, **named)
            except TypeError as error:
                raise ArgumentsError(
                    f"{form.partition('(')[0]} was called in another way",
                    expected=form,
                    found=str(error),
                    do=f"write {form}",
                ) from None
            self._do(*bound.args)

        return short_traceback(do)

    def __dir__(self) -> list[str]:
        return [exercise.name for exercise in _exercises()]

    @short_traceback
    def __call__(self, *_: object, **__: object) -> None:
        """Raises: an exercise has to be named."""
        raise UnknownExerciseError(
            "an exercise has to be named",
            expected=self._call.replace("NAME", next(_exercises()).name),
            found=self._call.replace(".NAME", ""),
            do="put a dot and the name of the answer; Tab behind the dot lists them",
        )

    def __repr__(self) -> str:
        return f"<{self._call}, for {len(dir(self))} exercises>"


@short_traceback
def checkpoint(name: str, answer: Any) -> Any:
    """Your answer if it is right, the reference answer if not; it says which.

    So a lesson can be read to its end with an exercise left out. Grading looks at your
    own answer, in the check above.
    """
    exercise = exercise_named(name)
    verdict = None if answer is exercise.solution else _judge(exercise, answer)
    if verdict is None or not verdict.is_right:
        how = "answered" if verdict and not verdict.is_answered else "right"
        text = (
            f"`{name}` is not {how} yet, so from here on the lesson uses the reference "
            "answer. Come back to yours whenever you like."
        )
        publish(prose(text), text)
        return exercise.solution
    return answer


def exercise_named(name: str) -> Exercise:
    """The exercise of that name, in any lesson."""
    for exercise in _exercises():
        if exercise.name == name:
            return exercise
    names = [exercise.name for exercise in _exercises()]
    near = difflib.get_close_matches(name, names, n=3)
    raise UnknownExerciseError(
        f"there is no exercise `{name}`",
        expected=", ".join(near) or "a name that Tab offers after `check.`",
        found=name,
        do="take one of these names: it is that of the answer in the cell above",
    )


def _exercises() -> Iterator[Exercise]:
    return (each for lesson in loaded_first() for each in lesson.exercises)


def _check(exercise: Exercise, answer: Any) -> None:
    verdict = judge(exercise, answer)
    _last[exercise.name] = (answer, verdict)
    publish(as_html(verdict), as_text(verdict))
    note_check(exercise.name, verdict.is_right)
    if not verdict.is_right:
        from fedlearn_edu.viz.asking import HintButton

        show(HintButton(partial(_hint_as_html, exercise)))
        raise NotRightYetError(summary(verdict))
    _reward(exercise, answer)


def _reward(exercise: Exercise, answer: Any) -> None:
    """What a right answer gets to see; it takes nothing away if it fails."""
    if exercise.reward is None:
        return
    with suppress(Exception), redirect_stderr(sys.stdout):
        given = exercise.reward(answer)
        if isinstance(given, str):
            publish(prose(given), given)
        else:
            show(given)


def _judge(exercise: Exercise, answer: Any) -> Verdict:
    """The verdict on this very object, if the last check was of it."""
    last = _last.get(exercise.name)
    if last is not None and last[0] is answer:
        return last[1]
    return judge(exercise, answer)


def _tell(exercise: Exercise) -> None:
    text, _ = _next_hint(exercise)
    publish(prose(text), text)


def _hint_as_html(exercise: Exercise) -> tuple[str, bool]:
    text, is_more = _next_hint(exercise)
    return prose(text), is_more


def _next_hint(exercise: Exercise) -> tuple[str, bool]:
    """The next hint, and whether another one follows."""
    count = len(exercise.hints)
    rung = _taken[exercise.name] = min(_taken.get(exercise.name, 0) + 1, count)
    note_hint(exercise.name, rung)
    return hint_text(exercise, rung), rung < count


check = ForEachExercise("check.NAME(answer)", _check)
"""`check.<exercise>(answer)` tries an answer, and shows how it went.

It returns nothing. A wrong answer also raises `NotRightYetError`, which is an
`AssertionError`, after the table is shown.
"""

hint = ForEachExercise("hint.NAME()", _tell)
"""`hint.<exercise>()` tells a little more with every call."""
