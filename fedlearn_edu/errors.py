# SPDX-License-Identifier: Apache-2.0
"""Errors that teach: what was expected, what was found, where, and what to do.

Every error of the package is a `FedLearnError` *and* the builtin a Python programmer
would have caught (`TypeError`, `ValueError`, …). Everybody raises these; nobody below
this file. In a notebook an error shows its own few lines instead of a page of
traceback.
"""

import os
import traceback
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

_PACKAGE_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
_MAX_FIELD_CHARS = 240

P = ParamSpec("P")
R = TypeVar("R")


class FedLearnError(Exception):
    """The root of all errors raised by this package.

    >>> print(
    ...     FedLearnError("wrong fruit", expected="apple", found="pear", do="swap it")
    ... )
    wrong fruit
      expected: apple
      found:    pear
      do:       swap it
    """

    def __init__(
        self,
        summary: str,
        *,
        expected: object = None,
        found: object = None,
        where: object = None,
        do: str | None = None,
    ) -> None:
        super().__init__(summary)
        self.summary = summary
        self.expected = expected
        self.found = found
        self.where = where
        self.do = do

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.summary,), dict(self.__dict__))

    def __str__(self) -> str:
        parts = [
            ("expected", self.expected),
            ("found", self.found),
            ("where", self.where),
            ("do", self.do),
        ]
        lines = [
            f"  {label + ':':<9} {_shorten(str(text))}"
            for label, text in parts
            if text is not None
        ]
        return "\n".join([self.summary, *lines])

    def _render_traceback_(self) -> list[str]:
        """IPython shows these lines in place of its own traceback."""
        frames = traceback.extract_tb(self.__traceback__)
        yours = [f for f in frames if not f.filename.startswith(_PACKAGE_FOLDER)]
        shown = [f for f in yours if f.line and "site-packages" not in f.filename]
        place = [f"line {f.lineno}: {f.line}" for f in shown[-1:]]
        notes = list(getattr(self, "__notes__", []))
        return [*place, f"{type(self).__name__}: {self}", *notes]


def _shorten(text: str) -> str:
    if len(text) <= _MAX_FIELD_CHARS or "\n" in text:
        return text
    half = _MAX_FIELD_CHARS // 2 - 2
    return f"{text[:half]} … {text[-half:]}"


def short_traceback(fn: Callable[P, R]) -> Callable[P, R]:
    """Lets errors of this package leave `fn` without the package's own frames.

    Set `FEDLEARN_EDU_FULL_TRACEBACK=1` to see every frame.
    """

    @wraps(fn)
    def border(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return fn(*args, **kwargs)
        except FedLearnError as error:
            if os.environ.get("FEDLEARN_EDU_FULL_TRACEBACK"):
                raise
            raise error.with_traceback(None) from None

    return border


class NotationError(FedLearnError, ValueError):
    """A type was written in a way the compact notation does not know."""


class TypeMismatchError(FedLearnError, TypeError):
    """A value or a type does not fit where it is used."""


class TypeNotAssignableError(TypeMismatchError):
    """A type may not stand where another one is expected."""

    target_type: object = None
    source_type: object = None


class TypesNotEquivalentError(TypeMismatchError):
    """Two types are not assignable both ways."""


class TypesNotIdenticalError(TypeMismatchError):
    """Two types differ, be it only in their Python container."""


class UnexpectedTypeError(TypeMismatchError):
    """A type of one kind was needed, one of another kind was found."""


class SumIncompatibleError(TypeMismatchError):
    """Values of this type cannot be added up."""


class StructureError(FedLearnError, ValueError):
    """A structure has duplicate, missing or mixed names."""


class ArgumentsError(FedLearnError, TypeError):
    """A computation was called with arguments that do not fit its parameter."""


class TracingError(FedLearnError, TypeError):
    """A Python function cannot become a computation."""


class ComputationReturnedNoneError(FedLearnError, ValueError):
    """The body of a computation returned nothing."""


class ContextError(FedLearnError, RuntimeError):
    """Something was used where its context cannot do it."""


class CardinalityError(FedLearnError, ValueError):
    """The number of participants is contradictory, missing or wrong."""


class UnsupportedIntrinsicError(FedLearnError, NotImplementedError):
    """The stack of executors cannot run an intrinsic, and says so before running."""


class ExecutorError(FedLearnError, ValueError):
    """An executor was handed something it does not handle."""


class EmptyGroupError(FedLearnError, ZeroDivisionError, RuntimeError):
    """An average over nobody was asked for."""


class InputRangeError(FedLearnError, ValueError):
    """A client's value is outside the range it promised to a secure sum."""


class ComputationFailedError(FedLearnError, RuntimeError):
    """Leaf code raised an error; names the computation and the participant."""
