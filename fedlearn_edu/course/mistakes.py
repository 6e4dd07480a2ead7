# SPDX-License-Identifier: Apache-2.0
"""Ways to recognize a usual mistake: by what it gives, by its type, by its error.

The files in `lessons/` list them with each exercise; `judging` names the first that
fits. What a mistake *gives* is computed from the inputs of the case that failed, so it
is recognized on any input.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from fedlearn_edu.computations.computation import Computation
from fedlearn_edu.course.exercise import Attempt, Mistake
from fedlearn_edu.testing.comparison import alike
from fedlearn_edu.types import parse_type


def gives(says: str, wrong: Callable[..., Any]) -> Mistake:
    """Made by whoever gets what `wrong` makes of the same arguments.

    >>> mistake = gives("you added instead of averaging", lambda values: sum(values))
    >>> mistake.spotted(Attempt(answer=None, inputs=([1.0, 2.0],), got=3.0))
    True
    """

    def spotted(attempt: Attempt) -> bool:
        if attempt.error is not None or attempt.got is None:
            return False
        with suppress(Exception):  # a mistake that these inputs do not allow
            return alike(attempt.got, wrong(*attempt.inputs))
        return False

    return Mistake(says, spotted)


def returns(says: str, like: Callable[..., Any]) -> Mistake:
    """Made by whoever gets a result of which `like(result, *inputs)` is true.

    >>> mistake = returns("this is below zero", lambda got, number: got < 0)
    >>> mistake.spotted(Attempt(answer=None, inputs=(2.0,), got=-2.0))
    True
    """

    def spotted(attempt: Attempt) -> bool:
        if attempt.error is not None or attempt.got is None:
            return False
        with suppress(Exception):  # a result that is not even of that kind
            return bool(like(attempt.got, *attempt.inputs))
        return False

    return Mistake(says, spotted)


def typed(says: str, *notations: str) -> Mistake:
    """Made by whoever hands in a computation of one of these types, as written."""
    types = [str(parse_type(notation)) for notation in notations]

    def spotted(attempt: Attempt) -> bool:
        answer = attempt.answer
        return isinstance(answer, Computation) and str(answer.type_signature) in types

    return Mistake(says, spotted)


def raises(says: str, pattern: str) -> Mistake:
    """Made by whoever gets an error in whose class or text this is found."""

    def spotted(attempt: Attempt) -> bool:
        if attempt.error is None:
            return False
        text = type(attempt.error).__name__
        with suppress(Exception):  # whatever its `__str__` does
            text = f"{text}: {attempt.error}"
        return re.search(pattern, text) is not None

    return Mistake(says, spotted)


def looks(says: str, like: Callable[[Any], bool]) -> Mistake:
    """Made by whoever hands in something of which `like` is true."""

    def spotted(attempt: Attempt) -> bool:
        with suppress(Exception):  # whatever the answer is
            return bool(like(attempt.answer))
        return False

    return Mistake(says, spotted)
