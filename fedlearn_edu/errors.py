# SPDX-License-Identifier: Apache-2.0
"""Errors that teach: what was expected, what was found, where, and what to do.

Every error of the package is a `FedLearnError` *and* the builtin a Python programmer
would have caught (`TypeError`, `ValueError`, …). In a notebook an error shows its own
few lines instead of a page of traceback.
"""

import inspect
import math
import operator
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial, wraps
from types import TracebackType
from typing import Any, ParamSpec, TypeGuard, TypeVar, final

_PACKAGE_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
_STANDARD_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_MAX_FIELD_CHARS = 240
_LAST_FRAMES = 100

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
        lines = [self.summary]
        for label in ("expected", "found", "where", "do"):
            text = getattr(self, label)
            if text is not None:
                # Only `where` may have several lines: it draws carets.
                shown = text if label == "where" else one_line(str(text))
                lines.append(f"  {label + ':':<9} {shown}")
        return "\n".join(lines)

    def _render_traceback_(self) -> list[str]:
        """IPython shows these lines in place of its own traceback."""
        place = [f"line {f.lineno}: {f.line}" for f in _frames_of_yours(self)[-1:]]
        notes = getattr(self, "__notes__", [])
        return [*place, f"{type(self).__name__}: {self}", *notes]


def describe(thing: object) -> str:
    """What was found, with its class and without a memory address.

    >>> describe(10), describe(float), describe(len), describe(object())
    ('an int: 10', 'the class float', 'the function len', 'an object')
    """
    name = type(thing).__name__
    if isinstance(thing, type):
        return f"the class {thing.__name__}"
    if name in ("function", "builtin_function_or_method", "method"):
        return f"the function {getattr(thing, '__name__', '')}"
    kind = f"{'an' if name[0] in 'aeiouAEIOU' or name == 'ndarray' else 'a'} {name}"
    text = repr(thing)
    if " at 0x" in text:
        return kind
    return text if text.startswith("<") else f"{kind}: {text}"


def counted(count: int, one: str, many: str = "") -> str:
    """A number of things: `1 client`, `1,000 clients`."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def is_whole_number(x: object, least: float = -math.inf) -> TypeGuard[int]:
    """Whether this is an integer, of Python or NumPy, from `least` on; `True` is none.

    >>> [is_whole_number(x, 1) for x in (1, 0, 2.0, True, "2")]
    [True, False, False, False, False]
    """
    if isinstance(x, bool):
        return False
    try:
        return operator.index(x) >= least  # type: ignore[arg-type]
    except TypeError:
        return False


def whole_number(
    x: object, name: str, least: float, error: type[FedLearnError], **lines: Any
) -> int:
    """`x` as an int; an error with these lines unless it is an integer from `least`."""
    if is_whole_number(x, least):
        return int(x)
    lines = {"expected": f"a whole number from {least} on", **lines}
    raise bad_argument(x, name, error, **lines)


def bad_argument(
    x: object, name: str, error: type[FedLearnError], **lines: Any
) -> FedLearnError:
    """The error for an argument: these lines, and the usual ones for the others."""
    usual = {"summary": f"{name} does not make sense", "where": name}
    return error(**{**usual, "found": describe(x), **lines})


def line_of(error: BaseException) -> str | None:
    """The line of your code that raised an error: `line 2 of the cell: 1 / 0`."""
    for frame in reversed(_frames_of_yours(error)):
        return f"{line_in(frame.filename, frame.lineno or 0)}: {frame.line}"
    return None


def line_in(file: str, line: int) -> str:
    """Names a line of a file, or of a notebook's cell."""
    in_cell = "ipykernel" in file or file.startswith("<ipython")
    return f"line {line} of {'the cell' if in_cell else os.path.basename(file)}"


def _frames_of_yours(error: BaseException) -> list[traceback.FrameSummary]:
    frames = traceback.extract_tb(error.__traceback__)
    return [f for f in frames if f.line and is_yours(f.filename)]


def one_line(text: str) -> str:
    """A text of any length, whose middle is left out if need be."""
    text = " ".join(text.split())
    if len(text) <= _MAX_FIELD_CHARS:
        return text
    half = _MAX_FIELD_CHARS // 2 - 2
    return f"{text[:half]} … {text[-half:]}"


@final
class short_tracebacks(AbstractContextManager[Any, None]):  # noqa: N801 (reads like a function)
    """Takes the package's own frames out of errors that leave it; yours stay.

    Set `FEDLEARN_EDU_FULL_TRACEBACK=1` to see every frame.
    """

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        is_full = os.environ.get("FEDLEARN_EDU_FULL_TRACEBACK")
        if isinstance(error, Exception) and not is_full:
            error.__traceback__ = _shortened(error)
            if isinstance(error, FedLearnError):
                error.__cause__ = None  # the message says it all


@final
class depth_limit(AbstractContextManager[Any, None]):  # noqa: N801
    """Makes a `TooDeepError` of a recursion that your own functions did not cause."""

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if type(error) is RecursionError and _is_of_the_package(error):
            raise too_deep() from None


def _is_of_the_package(error: RecursionError) -> bool:
    codes = [f.f_code for f, _ in traceback.walk_tb(error.__traceback__)]
    # What dataclasses and named tuples generate has no file, and underscores in it.
    return not any(
        is_yours(code.co_filename)
        for code in codes[-_LAST_FRAMES:]
        if not (code.co_name.startswith("__") or "_cls" in code.co_varnames)
    )


def too_deep() -> "TooDeepError":
    """The error for what Python's stack does not hold, or would not hold in use."""
    limit = sys.getrecursionlimit()
    return TooDeepError(
        "this is nested too deeply",
        expected="structures in structures, and computations that call each "
        "other, some hundred levels deep",
        found=f"more levels than fit into {limit} calls of Python functions",
        do="put fields side by side, or call computations one after the other "
        "in one body; sys.setrecursionlimit makes more room",
    )


def short_traceback(fn: Callable[P, R]) -> Callable[P, R]:
    """`short_tracebacks` as a decorator of functions that users call."""

    @wraps(fn)
    def border(*args: P.args, **kwargs: P.kwargs) -> R:
        with short_tracebacks(), depth_limit():
            try:
                return fn(*args, **kwargs)
            except TypeError as error:
                # Raised by the call itself, before the first line of `fn`.
                if error.__traceback__ is None or error.__traceback__.tb_next is None:
                    raise wrong_arguments(fn, error) from None
                raise

    return border


_FORMER_KEYWORDS = {
    "participation": "client_sampling",
    "looks": "feature_shifts",
    "clients_per_round": "count",
}


_SEVERAL = {"federated_map": "fn, [a, b]", "federated_broadcast": "[a, b]"}


def wrong_arguments(fn: Callable[..., object], error: TypeError) -> "ArgumentsError":
    """The error for a call that Python refuses: names or number do not fit."""
    known = [name for name in inspect.signature(fn).parameters if name != "self"]
    while isinstance(fn, partial):
        fn = fn.func
    whole = getattr(fn, "__qualname__", type(fn).__name__)
    name = whole.removesuffix(".__init__").rpartition(".")[2]
    do = f"pass these; help({name}) says what each of them is"
    if name in _SEVERAL and "too many" in str(error):
        do = f"put the values into a list: {name}({_SEVERAL[name]})"
    for former, new in _FORMER_KEYWORDS.items():
        if f"'{former}'" in str(error) and new in known:
            do = f"write {new}=…: {former} is called so now"
    return ArgumentsError(
        f"{name} was called with other arguments than it takes",
        expected=f"{name}({', '.join(known)})",
        found=str(error).replace(f"{whole}() ", ""),
        do=do,
    )


def _shortened(error: Exception) -> TracebackType | None:
    """The frames of your code, and of the library that it called last."""
    traces, following = [], error.__traceback__
    while following is not None:
        traces.append(following)
        following = following.tb_next
    files = [trace.tb_frame.f_code.co_filename for trace in traces]
    ours = [i for i, file in enumerate(files) if file.startswith(_PACKAGE_FOLDER)]
    yours = [i for i, file in enumerate(files) if is_yours(file)]
    last = max(ours, default=-1)
    if last > max(yours, default=-1) and not isinstance(error, FedLearnError):
        return error.__traceback__  # raised by the package unawares: a bug, show it
    shown = None
    for i, trace in reversed(list(enumerate(traces))):
        if i in yours or i > last:
            shown = TracebackType(
                shown, trace.tb_frame, trace.tb_lasti, trace.tb_lineno
            )
    return shown


def is_yours(filename: str) -> bool:
    """Whether this file is neither Python's, nor the package's, nor installed."""
    known = filename.startswith((_PACKAGE_FOLDER, _STANDARD_LIBRARY, "<frozen"))
    return not (known or "site-packages" in filename or "dist-packages" in filename)


class NotationError(FedLearnError, ValueError):
    """A type was written in a way the compact notation does not know."""


class TypeMismatchError(FedLearnError, TypeError):
    """A value or a type does not fit where it is used."""


class TypeNotAssignableError(TypeMismatchError):
    """A type may not stand where another one is expected."""

    target_type: object = None
    source_type: object = None


@final
class ShapeMismatchError(TypeMismatchError):
    """An array has another shape than declared."""


class SumIncompatibleError(TypeMismatchError):
    """Values of this type cannot be added up."""


class FieldError(FedLearnError, AttributeError, IndexError):
    """A structure was asked for a field it does not have."""


class StructureError(FedLearnError, ValueError):
    """A structure has duplicate, missing or mixed names."""


class ArgumentsError(FedLearnError, TypeError):
    """A computation was called with arguments that do not fit its parameter."""


class TracingError(FedLearnError, TypeError):
    """A Python function cannot become a computation."""


class ComputationReturnedNoneError(FedLearnError, ValueError):
    """The body of a computation returned nothing."""


@final
class ExhaustedError(FedLearnError, ValueError):
    """A generator was asked for its elements a second time."""


class ContextError(FedLearnError, RuntimeError):
    """Something was used where its context cannot do it."""


class CardinalityError(FedLearnError, ValueError):
    """The number of participants is contradictory, missing or wrong."""


class UnsupportedIntrinsicError(FedLearnError, NotImplementedError):
    """The stack of executors cannot run an intrinsic, and says so before running."""


class ExecutorError(FedLearnError, ValueError):
    """An executor was handed something it does not handle."""


class EmptyGroupError(FedLearnError, ZeroDivisionError, RuntimeError):
    """An average over no participants was asked for."""


class TooDeepError(FedLearnError, RecursionError):
    """A structure, a type or a program has more levels than Python's stack holds."""


class InputRangeError(FedLearnError, ValueError):
    """A client's value, or a parameter, is outside the range of a secure sum."""


class ComputationFailedError(FedLearnError, RuntimeError):
    """Leaf code raised an error; names the computation and the participant."""


class ComputationTimeoutError(FedLearnError, TimeoutError):
    """A call took longer than it may; names the computation and the participant."""
