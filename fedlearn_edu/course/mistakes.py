# SPDX-License-Identifier: Apache-2.0
"""Ways to recognize a usual mistake: by what it gives, by its type, by its error.

The files in `lessons/` list them with each exercise; `judging` names the first that
fits. What a mistake *gives* is computed from the inputs of the case that failed, so it
is recognized on any input.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from fedlearn_edu.computations.computation import Computation
from fedlearn_edu.course.exercise import Attempt, Mistake
from fedlearn_edu.testing.comparison import alike
from fedlearn_edu.types import parse_type


def gives(says: str, *wrongs: Callable[..., Any]) -> Mistake:
    """The result is what one of `wrongs` makes of the same arguments.

    >>> mistake = gives("you added instead of averaging", lambda values: sum(values))
    >>> mistake.spotted(Attempt(answer=None, inputs=([1.0, 2.0],), got=3.0))
    True
    """

    def made_by(wrong: Callable[..., Any]) -> Mistake:
        return returns(says, lambda got, *inputs: alike(got, wrong(*inputs)))

    each = [made_by(wrong) for wrong in wrongs]
    return Mistake(says, lambda attempt: any(one.spotted(attempt) for one in each))


def returns(says: str, like: Callable[..., Any]) -> Mistake:
    """There is a result, of which `like(result, *inputs)` is true.

    >>> mistake = returns("this is below zero", lambda got, number: got < 0)
    >>> mistake.spotted(Attempt(answer=None, inputs=(2.0,), got=-2.0))
    True
    """

    def spotted(attempt: Attempt) -> bool:
        if attempt.error is not None or attempt.got is None:
            return False
        with suppress(Exception):  # neither this result nor these inputs fit
            return bool(like(attempt.got, *attempt.inputs))
        return False

    return Mistake(says, spotted)


def typed(says: str, *notations: str) -> Mistake:
    """The answer is a computation of one of these types."""
    types = [str(parse_type(notation)) for notation in notations]

    def spotted(attempt: Attempt) -> bool:
        answer = attempt.answer
        return isinstance(answer, Computation) and str(answer.type_signature) in types

    return Mistake(says, spotted)


def raises(says: str, pattern: str) -> Mistake:
    """An error was raised in whose class or text the pattern is found."""

    def spotted(attempt: Attempt) -> bool:
        if attempt.error is None:
            return False
        text = type(attempt.error).__name__
        with suppress(Exception):  # whatever its `__str__` does
            text = f"{text}: {attempt.error}"
        return re.search(pattern, text) is not None

    return Mistake(says, spotted)


def looks(says: str, like: Callable[[Any], bool]) -> Mistake:
    """The answer is one of which `like` is true."""

    def spotted(attempt: Attempt) -> bool:
        with suppress(Exception):  # whatever the answer is
            return bool(like(attempt.answer))
        return False

    return Mistake(says, spotted)


def written(says: str, *texts: str, lacking: str = "") -> Mistake:
    """One of these texts is in the answer as it is written, or one is lacking."""

    def like(answer: Any) -> bool:
        text = str(answer)
        return any(map(text.__contains__, texts)) or lacking not in text

    return looks(says, like)


NO_RETURN: Final = raises("nothing came back: is there a `return`?", "NoneType")
