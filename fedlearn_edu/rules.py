# SPDX-License-Identifier: Apache-2.0
"""Checks of arguments, in which the text that an error shows is the rule.

>>> from fedlearn_edu.errors import StructureError
>>> number(0.5, "0 < share <= 1", StructureError)
>>> number(2, "0 < share <= 1", StructureError)
Traceback (most recent call last):
    ...
fedlearn_edu.errors.StructureError: share does not make sense
  expected: 0 < share <= 1
  found:    an int: 2
  where:    share
"""

import math
import operator
import re
from collections.abc import Sequence
from numbers import Real
from typing import Any, TypeGuard

from fedlearn_edu.errors import FedLearnError, bad_argument, is_whole_number

_SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_SIDE, _BOUND = "<=?|>=?", r"-?[\d.]+(?:\*\*\d+)?|inf"
_RULE = re.compile(
    rf"(?:({_BOUND}) ({_SIDE}) )?(\w+)(?: ({_SIDE}) ({_BOUND}))?"
    r"(?:, (a number|a whole number))?"
)


def is_number(thing: object) -> TypeGuard[float]:
    """Numbers of NumPy count, too; `True` is none."""
    return isinstance(thing, Real) and not isinstance(thing, bool)


def number(x: Any, rule: str, error: type[FedLearnError], **lines: Any) -> None:
    """Raises `error` unless the rule holds for a finite number x.

    Args:
        x: The argument.
        rule: `"0 < share <= 1"`, `"clip > 0, a number"`, `"bits >= 1, a whole number"`,
            with the name of the argument; a side that is left out has no bound.
        error: The class of the error.
        lines: Its other lines, such as `summary` and `do`.
    """
    found = _RULE.fullmatch(rule)
    assert found, rule
    low, before, name, after, high, kind = found.groups()
    fits = is_number(x) and abs(x) < math.inf
    fits = fits and (kind != "a whole number" or is_whole_number(x))
    fits = fits and (low is None or _SIGNS[before](_bound(low), x))
    if fits and (high is None or _SIGNS[after](x, _bound(high))):
        return
    if is_number(x) and abs(x) == math.inf:
        rule = rule.replace(", a number", ", a finite number")
    raise bad_argument(x, name, error, **{"expected": rule, **lines})


def one_of(
    x: object, name: str, known: Sequence[Any], error: type[FedLearnError], **lines: Any
) -> None:
    """Raises `error` unless x is one of these."""
    if not any(isinstance(x, type(each)) and x == each for each in known):
        expected = " or ".join(map(repr, known))
        raise bad_argument(x, name, error, **{"expected": expected, **lines})


def a(
    kind: type, x: object, name: str, error: type[FedLearnError], **lines: Any
) -> None:
    """Raises `error` unless x is an instance of this class."""
    if not isinstance(x, kind):
        expected = f"a {kind.__name__}"
        raise bad_argument(x, name, error, **{"expected": expected, **lines})


def _bound(text: str) -> float:
    base, _, power = text.partition("**")
    return float(float(base) ** float(power or 1))
