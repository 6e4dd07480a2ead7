# SPDX-License-Identifier: Apache-2.0
"""Rows are checked first; then they take turns, and each keeps the median.

What happens on the machine meanwhile hits all of them alike, so that ratios hold where
milliseconds do not. A row that finds other losses than it should gets no time at all.
"""

import logging
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
from tqdm import tqdm

from benchmarks import in_numpy
from benchmarks.models import Loop, Parameters, initial
from benchmarks.rows import ROWS, Table
from benchmarks.workloads import Workload

TOLERANCE = 1e-4
"""Relative: the known losses have six digits."""

T = TypeVar("T")

# Every row is traced on purpose, and TensorFlow would count and warn.
logging.getLogger("tensorflow").setLevel("ERROR")


def measure(tables: Iterable[Table], turns: int) -> dict[str, Any]:
    """Checks and times all rows of some tables, table by table in the result."""
    found: dict[str, Any] = {}
    calls: dict[tuple[str, str, str], Callable[[], Any]] = {}
    budgets: dict[tuple[str, str, str], float] = {}
    for table in tables:
        expected = table.workload.known or in_numpy.losses_of(table.workload)
        rows = {}
        for key in shown(table.rows, f"{table.name}: checking"):
            loop = ROWS[key].make(table.workload)
            row, model = check(loop, table.workload, expected, table.row_s)
            rows[key] = {"name": ROWS[key].name, **row}
            if row["right"]:
                for what, call in _timed(loop, table, model).items():
                    calls[table.name, key, what] = call
                    budgets[table.name, key, what] = table.row_s
        found[table.name] = {
            "title": table.workload.title,
            "reference": table.reference,
            "expected": list(expected),
            "rows": rows,
        }
    names = " and ".join(dict.fromkeys(name.partition(",")[0] for name in found))
    for (name, key, what), times in take_turns(calls, turns, budgets, names).items():
        found[name]["rows"][key][what] = statistics.median(times)
    return found


def _timed(loop: Loop, table: Table, model: Parameters) -> dict[str, Callable[[], Any]]:
    """What of a row is timed: a round from the start, and evaluating its model."""
    start, rate = start_of(table.workload), table.workload.rates[0]
    calls: dict[str, Callable[[], Any]] = {"train_s": partial(loop.train, start, rate)}
    if table.evaluates:
        calls["eval_s"] = partial(loop.evaluate, model)
    return calls


def start_of(workload: Workload) -> Parameters:
    """The model before the first round."""
    return tuple(initial(workload.model).values())


def check(
    loop: Loop, workload: Workload, expected: Sequence[float], row_s: float
) -> tuple[dict[str, Any], Parameters]:
    """The losses a row finds, whether they are right, and its model after all.

    The first round is always checked; no other one begins after `row_s` seconds.
    """
    model, losses = start_of(workload), list[float]()
    end = time.perf_counter() + row_s
    for rate in workload.rates:
        if losses and time.perf_counter() > end:
            break
        model = loop.train(model, rate)
        losses.append(loop.evaluate(model))
    return {"losses": losses, "right": agree(losses, expected[: len(losses)])}, model


def agree(found: Sequence[float], expected: Sequence[float]) -> bool:
    """Whether two lists of losses are the same, up to rounding."""
    return bool(np.allclose(found, expected, rtol=TOLERANCE, atol=0))


def take_turns(
    calls: Mapping[T, Callable[[], Any]],
    turns: int,
    budgets: Mapping[T, float],
    what: str,
) -> dict[T, list[float]]:
    """Seconds of each call, turn by turn; one that has used up its seconds sits out."""
    times: dict[T, list[float]] = {key: [] for key in calls}
    for _ in shown(range(turns), f"{what}: timing"):
        for key, call in calls.items():
            if sum(times[key]) < budgets[key]:
                times[key].append(seconds(call))
    return times


def seconds(call: Callable[[], Any]) -> float:
    """How long a call takes."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def shown(items: Iterable[T], what: str) -> Iterable[T]:
    """The same items, with a progress bar if somebody watches a terminal."""
    bar: Iterable[T] = tqdm(items, desc=what, disable=None, leave=False)
    return bar
