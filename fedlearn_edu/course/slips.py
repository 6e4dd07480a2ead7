# SPDX-License-Identifier: Apache-2.0
"""Slips of Python and NumPy that belong to no lesson, told where no mistake fits.

`judging` asks here last. A slip says only what holds of every error or result like it.
"""

import dis
import inspect
import re
from collections.abc import Iterator
from contextlib import suppress
from traceback import walk_tb
from types import CodeType
from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course.exercise import Attempt
from fedlearn_edu.errors import line_of
from fedlearn_edu.testing.comparison import alike, to_plain

_NUMPY: Final = {
    "ln": "np.log",
    "norm": "np.linalg.norm",
    "avg": "np.mean",
    "len": "len",
    "length": "len",
    "numpy": "np",
    "true": "True",
    "false": "False",
}
"""What is meant by names that NumPy, or Python, does not have."""

_FUNCTION = (
    r"'(?:builtin_function_or_method|function|method"
    r"|[\w.]*(?:ufunc|FunctionDispatcher))'"
)
_NUMBER = r"'(?:int|float|bool|complex|numpy\.(?:float|int|bool)\w*)'"
_ONE = "one number is needed, and this is an array: `math`, `int` and `float` take no "

_ERRORS: Final = (
    ("RecursionError", "the function calls itself, and that call does so again"),
    (
        "'NoneType'",
        "something is `None` here: `.sort()`, `.append()`, `.shuffle()` change a list, "
        "and give nothing back, and nor does a function without `return`",
    ),
    (
        f"{_NUMBER} object is not callable",
        "round brackets after a number call it: is a `*` missing, or is a function's "
        "name, like `sum`, used for a number?",
    ),
    (
        "'(?:numpy.ndarray|list|tuple|dict|[\\w.]*OrderedDict)' object is not callable",
        "round brackets call a function: positions and keys are in square ones, and "
        "a product needs a `*`",
    ),
    (
        f"{_FUNCTION} object is not subscriptable",
        "round brackets call a function: `f(x)`, not `f[x]`",
    ),
    (
        f"{_FUNCTION}(?! object is not iterable)",
        "a function is where its result is needed: are brackets missing, as in "
        "`x.mean()`, or a name, as in `key=…`?",
    ),
    (
        "(?:UnboundLocal|Name)Error.*variable '(\\w+)'",
        "`{0}` is read before it has a value: set it first, before any loop; an "
        "outer thing of this name is hidden",
    ),
    (
        "'(?:dict|[\\w.]*OrderedDict)' object has no attribute '(\\w+)'",
        "this is a dictionary: a key is in square brackets, "
        '`["{0}"]`, and only an entry may have `.{0}`',
    ),
    (
        f"{_NUMBER} object has no attribute '(\\w+)'",
        "one number has no `.{0}`: this is no array",
    ),
    (
        "'numpy.ndarray' object has no attribute '(\\w+)'",
        "an array has no `.{0}`: functions of arrays are in `np`, as `np.mean(x)`",
    ),
    ("bitwise_xor|for \\^", "in Python a power is `**`; `^` is something else"),
    (
        "for [^:]+: .*'(?:list|tuple|range|map|zip|generator)'"
        "|can't multiply sequence|can only concatenate (?:list|tuple)",
        "one cannot compute with a list as a whole: make it an array, `np.array(…)`",
    ),
    (
        "only .*(?:scalar index)",
        "one whole number is needed, and this is an array; where arrays are joined, "
        "several arrays are one list: `np.concatenate([a, b])`",
    ),
    ("only .*(?:scalar|0-dim|length-1|size-1)", f"{_ONE}arrays; `np` does"),
    (
        "truth value",
        "`if`, `and`, `min` and `max` cannot decide for a whole array: compare one "
        "number, or use `np.where`, `np.minimum`, `np.maximum`",
    ),
    (
        "axis (-?\\d+) is out of bounds for array of dimension (\\d+)",
        "there is no axis {0}: this array has {1}, counted from 0; a second argument "
        "without a name may be the axis",
    ),
    (
        "broadcast.*?(\\(.*?\\)) +(?:and +)?(\\(.*?\\))",
        "the shapes {0} and {1} do not fit: is an axis the wrong one, or "
        "`keepdims=True` missing?",
    ),
    (
        "matmul|not aligned",
        "for `@`, rows of the first are as long as columns of the second: are they "
        "swapped, or is `.T` missing?",
    ),
    (
        "either both or neither of x and y",
        "`np.where` takes three things: the condition, what there is where it is "
        "true, and what there is elsewhere",
    ),
    (
        "cannot be interpreted as an integer",
        "whole numbers only: `range` takes no others (`np.arange` does), and `/` "
        "makes decimals (`//` does not); a second argument may be taken for the axis",
    ),
    (
        "out of bounds for axis (\\d+) with size (\\d+)",
        "axis {0} has {1} entries here, counted from 0: take sizes from the arguments",
    ),
    (
        "slice indices must be integers",
        "cuts and the ends of a slice are whole numbers: `np.rint(…).astype(int)`",
    ),
    ("equal division", "`np.split` needs equal parts; `np.array_split` does not"),
    (
        "only integers, slices|indices must be integers",
        "a position is a whole number; something else is in the square brackets",
    ),
    (
        "list (?:assignment )?index out of range",
        "the list is shorter here: take its length, `len(…)`; positions begin at 0",
    ),
    ("unpack", "there are not as many values after `=` or `in` as names before it"),
    (
        f"{_NUMBER} object is not iterable",
        "one number is where several are needed: to count, loop over `range(…)`",
    ),
    (
        "([\\w.<>]+)\\(\\) (?:takes|missing|expected at)",
        "`{0}` is called with too few arguments, or too many",
    ),
    (
        "cannot reshape array of size (\\d+)",
        "there are {0} numbers here, and not as many places in this shape",
    ),
    ("KeyError: (.*)", "there is no entry {0} here: is it the name of another one?"),
    ("empty sequence|iterable argument is empty", "nothing is left to choose from"),
)


def of_error(answer: Any, error: BaseException) -> str:
    """What an error says, in a beginner's words; nothing if it is none of these."""
    text = type(error).__name__
    with suppress(Exception):  # whatever its `__str__` does
        text = f"{text}: {error}".splitlines()[0]
    if told := _misnamed(text, answer, error):
        return told
    for pattern, told in _ERRORS:
        if found := re.search(pattern, text):
            return told.format(*found.groups())
    return ""


def _misnamed(text: str, answer: Any, error: BaseException) -> str:
    """What the name may be that Python does not know."""
    match = re.search("^NameError: name '(\\w+)' is not|no attribute '(\\w+)'", text)
    if match is None:
        return ""
    name = match[1] or match[2]
    known = _NUMPY.get(name, f"np.{name}" if hasattr(np, name) else "")
    if match[1]:
        there = _arguments_where(error) or _parameters(answer)
        arguments = ", ".join(f"`{each}`" for each in there)
        listed = f": the function has {arguments}" if arguments else ""
        if name == "math":
            return "`math` is not imported here: `np` has such functions, too"
        if hasattr(fl, name):
            return f"`{name}` alone is not known: write `fl.{name}`"
        is_called = re.search(rf"\b{name}\(", line_of(error) or f"{name}(")
        if known and (is_called or name in ("pi", "inf", "true", "false", "numpy")):
            placed = hasattr(fl, f"federated_{name}")
            also = f", or of placed values `fl.federated_{name}`" if placed else ""
            return f"`{name}` alone is not known: write `{known}`{also}"
        return f"nothing is called `{name}` here{listed}"
    if "module 'numpy'" in text:
        return f"in NumPy it is `{known}`" if known else f"NumPy has no `{name}`"
    if "'numpy.ndarray'" in text and known:
        return f"an array has no `.{name}`: write `{known}(…)`"
    if re.search("'(list|tuple|map|generator)'", text) and hasattr(np.ndarray, name):
        return f"only an array has `.{name}`: put `np.array(…)` around the list"
    return ""


def _arguments_where(error: BaseException) -> list[str]:
    """Those of the function that raised it, which may be inside of the answer."""
    codes = [frame.f_code for frame, _ in walk_tb(error.__traceback__)]
    names = codes[-1].co_varnames[: codes[-1].co_argcount] if codes else ()
    return [name for name in names if name.isidentifier()]


def of_result(attempt: Attempt, expected: Any) -> str:
    """What a wrong result has to do with the right one, or with what went in."""
    answer, got = attempt.answer, attempt.got
    if inspect.isroutine(got) and not callable(expected):
        return "this is a function, not its result: are brackets missing, `()`?"
    if isinstance(got, tuple) and len(got) == 1 and alike(got[0], expected):
        return "a comma at the end makes a tuple of one: leave it out"
    with suppress(AttributeError):  # it is no plain function
        known = answer.__globals__
        for name in _names(answer.__code__):
            if isinstance(known.get(name), np.ndarray):
                return f"`{name}` is the lesson's: use the arguments alone"
        steps = {step.opname[:9] for step in dis.get_instructions(answer)}
        if isinstance(got, float | int) and "LOAD_FAST" not in steps:
            return "this is the same for all arguments: work it out from them"
    with suppress(Exception):  # of results that are no numbers
        for name, given in zip(_parameters(answer), attempt.inputs, strict=False):
            if np.size(given) > 1 and alike(got, given):
                return f"this is `{name}` as it came in: return what you made of it"
        if told := _related(_numbers(got), _numbers(expected)):
            return told
    return ""


def _names(code: CodeType) -> Iterator[str]:
    """All that it looks up, also inside of comprehensions and lambdas."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _numbers(thing: Any) -> Any:
    return np.asarray(to_plain(thing), dtype=float)


def _related(got: Any, wanted: Any) -> str:
    if got.shape != wanted.shape or not np.isfinite(got).all() or not wanted.any():
        return ""
    if np.allclose(got, -wanted):
        return "this has the opposite sign: what is subtracted from what?"
    if np.allclose(got, 100 * wanted):
        return "this is a hundred times as much: is it in per cent?"
    # Two numbers may agree in their first digit by chance.
    digits = range(1 if wanted.size > 1 else 2, 6)
    if any((got == wanted.round(each)).all() for each in digits):
        return "this is rounded: return it as it is"
    if (np.sort(got, axis=None) == np.sort(wanted, axis=None)).all():
        return "these are the right numbers, in another order"
    if np.ptp(wanted) == 0:  # of one number, any other one is a multiple or a power
        return ""
    ratio = float(np.vdot(got, wanted) / np.vdot(wanted, wanted))
    if ratio and np.allclose(got, ratio * wanted):
        return f"this is {ratio:.4g} times what is asked for, everywhere"
    for told, function in (
        ("square", np.square),
        ("root", lambda x: np.sqrt(np.abs(x))),
    ):
        if np.allclose(got, function(wanted)):
            return f"this is the {told} of what is asked for"
    return ""


def _parameters(answer: Any) -> list[str]:
    with suppress(Exception):  # it is no function, or tells nothing
        names = inspect.signature(answer).parameters
        return [name for name in names if not name.startswith("_")]
    return []
