# SPDX-License-Identifier: Apache-2.0
"""What the factories check of their settings, and how they write them down."""

import inspect
from collections.abc import Callable
from typing import Any

from fedlearn_edu.errors import describe
from fedlearn_edu.learning.errors import ProcessError
from fedlearn_edu.rules import number


def call_of(function: Callable[..., Any], *inner: Any, **settings: Any) -> str:
    """The call with these arguments as it is written, without those at their defaults.

    >>> call_of(lambda inner, norm=None, seed=0: None, "mean()", norm=1.0, seed=0)
    "<lambda>('mean()', norm=1.0)"
    """
    usual = inspect.signature(function).parameters
    given = [f"{k}={v}" for k, v in settings.items() if v != usual[k].default]
    return f"{function.__name__}({', '.join([*map(repr, inner), *given])})"


def check_factory(factory: object, where: str) -> None:
    """Raises `ProcessError` unless it can be called with the type of an update."""
    do = "aggregators.mean(), or leave it out"
    if inspect.isfunction(factory) and factory.__module__.startswith(__package__):
        settings = "…" if inspect.signature(factory).parameters else ""
        do = f"call it: {factory.__name__}({settings})"
    elif callable(factory) and not isinstance(factory, type):
        return
    raise ProcessError(
        "an aggregator is made for the type of the updates, by a factory",
        expected="what a call such as aggregators.mean() returns",
        found=describe(factory),
        where=where,
        do=do,
    )


def check_positive(name: str, x: object, do: str = "1.0 is a first try") -> None:
    """Raises `ProcessError` unless this is a number above 0."""
    rule, summary = f"{name} > 0, a number", f"{name} has to be a number above 0"
    number(x, rule, ProcessError, summary=summary, do=do)


def check_not_negative(name: str, x: object) -> None:
    """Raises `ProcessError` unless this is a finite number of at least 0."""
    summary = f"{name} is the size of the noise, which has no sign"
    rule, do = f"{name} >= 0, a number", "0 is no noise"
    number(x, rule, ProcessError, summary=summary, do=do)


def check_share(name: str, x: object) -> None:
    """Raises `ProcessError` unless this is a number between 0 and 1."""
    summary, do = f"{name} is a share of the clients", "0.5 is the median, 0.8 is usual"
    number(x, f"0 <= {name} <= 1", ProcessError, summary=summary, do=do)


def check_expected_clients(x: object) -> None:
    """Raises `ProcessError` unless this is a finite number of at least 1."""
    number(
        x,
        "expected_clients >= 1, a number",
        ProcessError,
        summary="a private mean is divided by how many clients are expected",
        do="how many a round invites; with a rate, the rate times all clients",
    )


def check_seed(x: object) -> None:
    """Raises `ProcessError` unless this is a whole number that fits into 32 bits."""
    rule = "0 <= seed < 2**31, a whole number"
    summary = "a seed gives the same noise again and again"
    number(x, rule, ProcessError, summary=summary)
