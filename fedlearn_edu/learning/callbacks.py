# SPDX-License-Identifier: Apache-2.0
"""Callbacks: what is done after each round, such as stopping.

A callback is any function of the `Run` so far, whose arrays it cannot write into.
Returning `True`, or the reason as a text, ends the run. One that decides by the history
alone stops a resumed run where it would have stopped an uninterrupted one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu.errors import (
    bad_argument,
    counted,
    describe,
    short_traceback,
    whole_number,
)
from fedlearn_edu.former_names import unknown
from fedlearn_edu.learning.errors import RunError
from fedlearn_edu.learning.run_state import Run
from fedlearn_edu.rules import is_number
from fedlearn_edu.signals import add_place

Callback = Callable[[Run], object]
"""Returns `None` or `False` to go on, `True` or a reason to stop."""


def reason_to_stop(callbacks: tuple[Callback, ...], run: Run) -> str | None:
    """Calls them all, in their order; the first reason counts.

    Raises:
        RunError: if an answer is neither yes, no, nor a reason.
    """
    reasons = [_reason(callback, run) for callback in callbacks]
    return next((reason for reason in reasons if reason is not None), None)


def _reason(callback: Callback, run: Run) -> str | None:
    name = getattr(callback, "__name__", type(callback).__name__)
    try:
        answer = callback(run.read_only())
    except Exception as error:
        add_place(error, f"callback {name}, after round {run.rounds}")
        raise
    if isinstance(answer, str):
        return answer
    if isinstance(answer, bool | np.bool_):
        return f"{name} said so" if answer else None
    if answer is not None:
        raise RunError(
            "a callback says whether to stop",
            expected="None or False to go on, True or a reason to stop",
            found=describe(answer),
            where=name,
        )
    return None


@final
@dataclass(frozen=True)
class EarlyStop:
    """Stops when a column has not become better for a while.

    Attributes:
        column: of the history, `"test.loss_per_example"`.
        patience: how many measurements may be no better than the best one before them.
        min_change: less than this does not count as better.
        mode: `"min"` if small is good, `"max"` if large is.

    Rounds in which the column was not measured do not count.

    >>> from fedlearn_edu.learning.history import History
    >>> history = History.of([{"loss": 2.0}, {"loss": 1.0}, {"loss": 1.5}])
    >>> EarlyStop("loss", patience=1)(Run(None, history=history))
    'loss has not fallen below 1 for 1 measurement'

    Raises:
        RunError: if patience or mode makes no sense.
        HistoryError: when called, if there is no such column.
    """

    column: str
    patience: int = 5
    min_change: float = 0.0
    mode: str = "min"

    @short_traceback
    def __post_init__(self) -> None:
        if self.mode not in ("min", "max"):
            expected, found = "'min' or 'max'", str(self.mode)
            raise bad_argument(
                self.mode, "mode", RunError, expected=expected, found=found
            )
        whole_number(self.patience, "patience", 1, RunError)
        if not (is_number(self.min_change) and self.min_change >= 0):
            expected = "a number of at least 0"
            change = self.min_change
            raise bad_argument(change, "min_change", RunError, expected=expected)

    def __call__(self, run: Run) -> str | None:
        """The reason to stop, if there is one."""
        sign = 1.0 if self.mode == "min" else -1.0
        best, waited = np.inf, 0
        for value in sign * _measured(run, self.column):
            is_better = value < best - self.min_change
            best, waited = (value, 0) if is_better else (best, waited + 1)
        if waited < self.patience:
            return None
        moved = "fallen below" if self.mode == "min" else "risen above"
        times = f"{counted(waited, 'measurement')}"
        return f"{self.column} has not {moved} {sign * best:.6g} for {times}"


def _measured(run: Run, column: str) -> NDArray[Any]:
    """The column without the rounds in which it was not measured."""
    values = run.history[column]
    measured: NDArray[Any] = values[~np.isnan(values)]
    return measured


# As a package has one: then `from … import` asks for a submodule, and is answered.
__path__: list[str] = []


@short_traceback
def __getattr__(name: str) -> Any:
    known = ("Callback", "EarlyStop")
    raise unknown("fedlearn_edu.learning.callbacks", name, known)
