# SPDX-License-Identifier: Apache-2.0
"""What an answer has to be: a computation of a type, a function, a value, a class.

`judging` looks at this first, so that a learner reads "this is a function, a
computation was asked for" and not an error that follows from it.
"""

import inspect
from typing import Any

from fedlearn_edu.course.exercise import Failure, Want, named
from fedlearn_edu.errors import counted
from fedlearn_edu.language.computation import Computation, PolymorphicComputation
from fedlearn_edu.types import FunctionType, parse_type

_NO_DECORATOR = "the decorator is missing: the line with @ above your function"
_NO_TYPES = "the decorator says no types: put those of the parameters in brackets"


def computation(notation: str, says: str = "") -> Want:
    """A computation of this type, or of one that can stand in for it.

    `says` is shorter, in the names that the notebook has for parts of the type.

    >>> import numpy as np
    >>> from fedlearn_edu import np_computation
    >>> double = np_computation(lambda x: x + x, np.float32)
    >>> computation("(float32 -> float32)").failure(double) is None
    True
    >>> computation("(int32 -> int32)").failure(double).got
    '(float32 -> float32)'
    """
    wanted = parse_type(notation)

    def failure(answer: Any) -> Failure | None:
        match answer:
            case Computation():
                found = answer.type_signature
                if found == wanted or wanted.is_assignable_from(found):
                    return None
                return Failure(str(wanted), str(found), _where_types_differ(found))
            case PolymorphicComputation():
                return Failure(str(wanted), "a computation without types", _NO_TYPES)
            case _:
                likely = _NO_DECORATOR if inspect.isfunction(answer) else ""
                return Failure(f"a computation of type {wanted}", named(answer), likely)

    def _where_types_differ(found: FunctionType) -> str:
        if not isinstance(wanted, FunctionType):
            return ""
        if str(found.parameter) != str(wanted.parameter):
            return "the parameters differ: compare them with the line that is given"
        return "it returns something other than what was asked for"

    return Want(f"has the type {says or wanted}", failure)


def function(parameters: int) -> Want:
    """A Python function that takes this number of arguments."""
    wanted = f"a function of {counted(parameters, 'argument')}"

    def failure(answer: Any) -> Failure | None:
        if not callable(answer):
            return Failure(wanted, named(answer))
        try:
            signature = inspect.signature(answer)
        except Exception:  # some functions of C have none
            return None
        try:
            signature.bind(*range(parameters))
        except TypeError as error:
            return Failure(wanted, named(answer), str(error))
        return None

    return Want(f"is {wanted}", failure)


def value(kind: type | tuple[type, ...], words: str) -> Want:
    """An object of a class, which `words` describe: "a type of the library".

    >>> value(int, "a whole number").failure("three").expected
    'a whole number'
    """

    def failure(answer: Any) -> Failure | None:
        return None if isinstance(answer, kind) else Failure(words, named(answer))

    return Want(f"is {words}", failure)


def subclass(base: type, words: str) -> Want:
    """A class derived from `base`."""

    def failure(answer: Any) -> Failure | None:
        if isinstance(answer, type) and issubclass(answer, base):
            return None
        likely = "this is an object; hand in the class itself, without ()"
        return Failure(words, named(answer), likely * isinstance(answer, base))

    return Want(f"is {words}", failure)
