# SPDX-License-Identifier: Apache-2.0
"""Usual mistakes, and the signs they are recognized by: a result, a type, an error.

The files in `lessons/` list them with each exercise; of these, `judging` tells the
learner the first one with a sign that fits. What a mistake *gives* is computed from the
inputs of the case that failed, so it is recognized on any input.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from fedlearn_edu.course.exercise import Attempt, Mistake, Sign, Unanswered
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.testing.comparison import alike
from fedlearn_edu.types import parse_type


def usual(*entries: str | Sign | Callable[..., Any]) -> tuple[Mistake, ...]:
    """What is said of each mistake, and after it one or more signs of it.

    A plain function is the sign `gives(function)`.

    >>> added, nothing = usual(
    ...     "you added instead of averaging",
    ...     lambda values: sum(values),
    ...     "nothing came back",
    ...     raises("NoneType"),
    ... )
    >>> added.spotted(Attempt(answer=None, inputs=([1.0, 2.0],), got=3.0))
    True
    """
    signs: list[tuple[str, list[Sign]]] = []
    for entry in entries:
        if isinstance(entry, str):
            signs.append((entry, []))
        else:
            signs[-1][1].append(entry if isinstance(entry, Sign) else gives(entry))
    assert all(each for _, each in signs), "a mistake needs a sign to be recognized by"
    return tuple(Mistake(says, tuple(each)) for says, each in signs)


def gives(wrong: Callable[..., Any]) -> Sign:
    """The result is what `wrong` makes of the same arguments."""
    like = returns(lambda got, *inputs: alike(got, wrong(*inputs)))
    return Sign(like.spotted, wrong)


def returns(like: Callable[..., Any]) -> Sign:
    """There is a result, of which `like(result, *inputs)` is true."""

    def spotted(attempt: Attempt) -> bool:
        if attempt.error is not None or attempt.got is None:
            return False
        with suppress(Exception):  # neither this result nor these inputs fit
            return bool(like(attempt.got, *attempt.inputs))
        return False

    return Sign(spotted)


def typed(*notations: str) -> Sign:
    """The answer is a computation of one of these types."""
    types = [str(parse_type(notation)) for notation in notations]
    return looks(
        lambda answer: (
            isinstance(answer, Computation) and str(answer.type_signature) in types
        )
    )


def raises(pattern: str) -> Sign:
    """An error was raised in whose class or text the pattern is found."""

    def spotted(attempt: Attempt) -> bool:
        if attempt.error is None:
            return False
        text = type(attempt.error).__name__
        with suppress(Exception):  # whatever its `__str__` does
            text = f"{text}: {attempt.error}"
        return re.search(pattern, text) is not None

    return Sign(spotted)


def looks(like: Callable[[Any], bool]) -> Sign:
    """The answer is one of which `like` is true."""

    def spotted(attempt: Attempt) -> bool:
        if isinstance(attempt.answer, Unanswered):
            return False
        with suppress(Exception):  # whatever the answer is
            return bool(like(attempt.answer))
        return False

    return Sign(spotted)


def written(*texts: str, lacking: str = "") -> Sign:
    """One of these texts is in the answer as it is written, or one is lacking."""

    def like(answer: Any) -> bool:
        text = str(answer)
        return any(part in text for part in texts) or lacking not in text

    return looks(like)


NO_RETURN: Final = ("nothing came back: is there a `return`?", raises("NoneType"))
