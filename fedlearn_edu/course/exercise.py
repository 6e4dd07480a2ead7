# SPDX-License-Identifier: Apache-2.0
"""What an exercise is: a question, cases to try an answer on, and the usual mistakes.

The files in `lessons/` declare them; `judging` tries an answer; `feedback` shows the
verdict. What a case should give is what the reference answer gives.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Never, final

import numpy as np

from fedlearn_edu.errors import FedLearnError, describe


def call(answer: Any, *arguments: Any) -> Any:
    """What most cases do: they call the answer."""
    return answer(*arguments)


@final
@dataclass(frozen=True)
class Case:
    """What an answer is tried on.

    Attributes:
        name: what it is about, in a few words: "clients of unequal size".
        arguments: what goes in, or a function that makes it, if that takes time.
        do: what is done with the answer and the arguments; calling it, mostly.
    """

    name: str
    arguments: tuple[Any, ...] | Callable[[], tuple[Any, ...]] = ()
    do: Callable[..., Any] = call

    def inputs(self) -> tuple[Any, ...]:
        """The arguments."""
        return self.arguments if isinstance(self.arguments, tuple) else self.arguments()

    def on(self, answer: Any, inputs: tuple[Any, ...]) -> Any:
        """Does it on copies, as an answer may change its arguments in place."""
        return self.do(answer, *map(_copied, inputs))


def _copied(thing: Any) -> Any:
    """New lists, dicts and arrays; everything else is shared."""
    match thing:
        case list() | tuple() if type(thing) in (list, tuple):
            return type(thing)(map(_copied, thing))
        case dict():
            copy = thing.copy()
            copy.update((name, _copied(each)) for name, each in thing.items())
            return copy
        case np.ndarray() | np.random.Generator():
            return deepcopy(thing)
        case _:
            return thing


@final
@dataclass(frozen=True)
class Attempt:
    """A case that an answer failed.

    Attributes:
        answer: what was checked.
        inputs: the arguments of the case.
        got: what came out, `None` after an error.
        error: what was raised, if anything was.
    """

    answer: Any
    inputs: tuple[Any, ...] = ()
    got: Any = None
    error: BaseException | None = None


@final
@dataclass(frozen=True)
class Sign:
    """What a mistake is recognized by; `mistakes` makes them.

    Attributes:
        spotted: whether this is what happened.
        formula: makes, of the inputs of a case, what the mistake gives, if it can.
    """

    spotted: Callable[[Attempt], bool]
    formula: Callable[..., Any] | None = None


@final
@dataclass(frozen=True)
class Mistake:
    """A usual way to go wrong.

    Attributes:
        says: what the learner is told: "you averaged without the weights".
        signs: of which one is enough.
    """

    says: str
    signs: tuple[Sign, ...]

    def spotted(self, attempt: Attempt) -> bool:
        """Whether this is what happened."""
        return any(sign.spotted(attempt) for sign in self.signs)


@final
@dataclass(frozen=True)
class Failure:
    """What was wrong with an answer; empty strings for what is not known.

    Attributes:
        expected: what it should have been, or what should have come out.
        got: what it is, or what came out.
        likely: the likely cause.
        found: what an error says that it found.
        where: where it says that it was.
        inputs: what was tried: the call, as Python, or the arguments alone.
        do: what to do next, where that is no matter of the answer.
    """

    expected: str
    got: str
    likely: str = ""
    found: str = ""
    where: str = ""
    inputs: str = ""
    do: str = ""


@final
@dataclass(frozen=True)
class Want:
    """What kind of thing an answer has to be.

    Attributes:
        name: the first row of the table of a check: "has the type (int32 -> int32)".
        failure: why an object is something else, `None` if it is not.
    """

    name: str
    failure: Callable[[Any], Failure | None]


@final
@dataclass(frozen=True)
class Exercise:
    """One question of a lesson.

    Attributes:
        name: of the exercise, of the answer in the notebook, and of its `grade_id`.
        title: what is asked for, in a few words.
        points: what a right answer is worth to a grader.
        want: what kind of thing the answer is.
        reference: makes a right answer; called once, when it is first needed.
        cases: what is tried, in this order.
        mistakes: the first one that is spotted is named.
        hints: a ladder: the idea, where to look, the form, nearly the answer.
        reward: what a right answer is shown: of the answer a picture, or a sentence.
        limit_s: seconds that a case may take.
    """

    name: str
    title: str
    points: int
    want: Want
    reference: Callable[[], Any]
    cases: tuple[Case, ...]
    mistakes: tuple[Mistake, ...] = ()
    hints: tuple[str, ...] = ()
    reward: Callable[[Any], Any] | None = None
    limit_s: float = 20.0

    @cached_property
    def solution(self) -> Any:
        """The reference answer, always the same object."""
        return self.reference()


def is_left_open(error: BaseException | None) -> bool:
    """Whether the body of a released function, which only raises, was run.

    TensorFlow raises errors of this class, too.

    >>> is_left_open(NotImplementedError("write your answer here"))
    True
    """
    is_open = type(error) is NotImplementedError
    return is_open and str(error) in ("", "write your answer here")


@final
class UnansweredError(FedLearnError, RuntimeError):
    """An answer is used before it was written."""


@final
@dataclass(frozen=True)
class Unanswered:
    """Stands in for an answer that is not written yet; `begin` puts it there.

    So a check that is run too early says "not answered yet", where Python would say
    `NameError`.

    >>> Unanswered("mean_of_means")
    <mean_of_means: not answered yet>

    Attributes:
        exercise: its name.
        error: what the cell of the answer raised, if it was run.
    """

    exercise: str
    error: BaseException | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return f"<{self.exercise}: not answered yet>"

    def __bool__(self) -> bool:
        return False

    def __call__(self, *_arguments: Any, **_keywords: Any) -> Never:
        """Says that there is nothing to call yet."""
        raise UnansweredError(
            f"`{self.exercise}` has no answer yet",
            expected=f"your answer to the exercise `{self.exercise}`",
            found="the place for it",
            do="write it in the cell of the exercise, and run that cell first",
        )


LEARNING: Final = "Learning"
MACHINE: Final = "Language and machine"
PATHS: Final = (LEARNING, MACHINE)
"""The ways through the course; lessons 00 and 01 lead into both."""


@final
@dataclass(frozen=True)
class Lesson:
    """What the exercises of a notebook have in common.

    Attributes:
        name: of its folder and notebook, number first: `"04_intrinsics"`.
        title: a question, as the notebook has it.
        minutes: what a beginner takes.
        goals: what a learner can do afterwards, verbs first.
        needs: what a learner should know before.
        exercises: in the order in which they come.
        path: which of `PATHS` it is on.
        outcomes: of each prediction, by its name: the right choice.
    """

    name: str
    title: str
    minutes: int
    goals: tuple[str, ...] = ()
    needs: str = ""
    exercises: tuple[Exercise, ...] = ()
    path: str = LEARNING
    outcomes: Mapping[str, str] = field(default_factory=dict)

    @property
    def number(self) -> str:
        """Its place in the course: `"04"`, or `"09a"` where one has several parts."""
        return self.name.split("_", 1)[0]

    @property
    def file(self) -> str:
        """Its notebook, from the folder of all lessons."""
        return f"{self.name}/{self.name}.ipynb"

    @property
    def points(self) -> int:
        """The sum over its exercises."""
        return sum(exercise.points for exercise in self.exercises)


def by_path(lessons: Sequence[Lesson]) -> dict[str, list[Lesson]]:
    """The lessons of each path, in their order; no path without a lesson."""
    split = {path: [each for each in lessons if each.path == path] for path in PATHS}
    return {path: found for path, found in split.items() if found}


REFERENCE: Final = "the reference answer"
"""What feedback calls it."""

# How answers and results are written in feedback.

_MAX_CHARS = 160
_MAX_ENTRIES = 80
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def shown(thing: Any) -> str:
    """A result in at most two lines, with its class where that says something.

    >>> shown([np.float32(0.5), 2]), shown(np.arange(3.0))
    ('[0.5, 2]', '[0.0, 1.0, 2.0]')
    """
    try:
        text = _ADDRESS.sub("", " ".join(_text(thing).split()))
    except Exception:  # of an object that cannot even be shown
        text = named(thing)
    if len(text) <= _MAX_CHARS:
        return text
    half = _MAX_CHARS // 2 - 2
    return f"{text[:half]} … {text[-half:]}"


def named(thing: Any) -> str:
    """A thing with its class, and the class alone if the thing cannot be shown.

    >>> named(3), named([])
    ('an int: 3', 'a list: []')
    """
    try:
        return describe(thing)
    except Exception:  # of its `__repr__`
        return f"an object of the class {type(thing).__name__}"


def _text(thing: Any) -> str:
    match thing:
        case float() | np.floating():
            return _number(thing)
        case np.generic():
            return f"{thing.item()!r}" if thing.dtype.kind in "SUO" else str(thing)
        case None | bool() | int() | str() | bytes():
            return repr(thing)
        case np.ndarray() if thing.ndim == 0 and thing.dtype.kind == "f":
            # By itself in an array, a zero may differ from another one by its sign.
            return "-" * bool(thing == 0 and np.signbit(thing)) + _number(thing.item())
        case np.ndarray():
            shape = "×".join(map(str, thing.shape))
            if thing.size > 20 and thing.ndim > 1 and thing.dtype.kind in "fiu":
                least, most = map(_text, (thing.min(), thing.max()))
                return f"{shape} numbers from {least} to {most}"
            how: Any = {"float_kind": _number}
            text = np.array2string(
                thing, threshold=20, edgeitems=3, separator=", ", formatter=how
            )
            return text if thing.size <= 20 else f"{shape} numbers {text}"
        case Mapping():
            inside = ", ".join(f"{name}: {_text(each)}" for name, each in thing.items())
            return f"{{{inside}}}"
        case list():
            return f"[{_entries(thing)}]"
        case tuple():
            return f"({_entries(thing)})"
        case _:
            text = str(thing)
            return describe(thing) if " at 0x" in text else text


def _number(x: float | np.floating[Any]) -> str:
    """Six digits, or ten where six would lose a unit; and no zero with a sign."""
    number = float(x) + 0.0
    text = f"{number:.6g}"
    if abs(number) > 99_999 and float(text) != number:
        text = f"{number:.10g}"
    return text if text.strip("-0123456789") else f"{text}.0"


def _entries(things: Sequence[Any]) -> str:
    if len(things) <= 2 * _MAX_ENTRIES:
        return ", ".join(map(_text, things))
    ends = [*things[:_MAX_ENTRIES], *things[-_MAX_ENTRIES:]]
    return ", ".join(map(_text, ends))  # the middle is not shown anyway
