# SPDX-License-Identifier: Apache-2.0
"""Rows are checked first; then they take turns, and each keeps the median.

What happens on the machine meanwhile hits all of them alike, so that ratios hold where
milliseconds do not. A row that finds other losses than it should gets no time at all.
"""

import logging
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from tqdm import tqdm

from benchmarks import in_numpy
from benchmarks.models import Loop, initial
from benchmarks.rows import NUMPY, ROWS, jax_is_installed, rows_of
from benchmarks.workloads import Source, Workload

TOLERANCE = 1e-4
"""Relative: the known losses have six digits."""

T = TypeVar("T")

# Every row is traced on purpose, and TensorFlow would count and warn.
logging.getLogger("tensorflow").setLevel("ERROR")


def measure(source: Source, name: str) -> dict[str, Any]:
    """Checks and times all rows of a workload, and returns it under its name."""
    workload, sizes = source.named(name), source.sizes
    expected = workload.known or in_numpy.losses_of(workload)
    rows: dict[str, dict[str, Any]] = {}
    calls: dict[str, Callable[[], Any]] = {}
    for row in shown(rows_of(name), f"{name}: checking"):
        loop = ROWS[row](workload)
        rows[row] = check(loop, workload, expected, sizes.row_s)
        if rows[row]["right"]:
            calls[row] = partial(loop.train, start(), workload.rates[0])
    for row, seconds in medians(calls, sizes.turns, sizes.row_s, name).items():
        rows[row]["seconds"] = seconds
    return {name: {"title": workload.title, "reference": NUMPY, "rows": rows}}


def start() -> tuple[Any, ...]:
    """The model before the first round."""
    return tuple(initial().values())


def check(
    loop: Loop, workload: Workload, expected: Sequence[float], row_s: float
) -> dict[str, Any]:
    """Whether a row finds the right losses; if not, those it found.

    The first round is always checked; no other one begins after `row_s` seconds.
    """
    model, losses = start(), list[float]()
    end = time.perf_counter() + row_s
    for rate in workload.rates:
        if losses and time.perf_counter() > end:
            break
        model = loop.train(model, rate)
        losses.append(loop.evaluate(model))
    wanted = expected[: len(losses)]
    if np.allclose(losses, wanted, rtol=TOLERANCE, atol=0):
        return {"right": True}
    return {"right": False, "losses": losses, "expected": list(wanted)}


def medians(
    calls: Mapping[T, Callable[[], Any]], turns: int, row_s: float, what: str
) -> dict[T, float]:
    """Seconds of each call; one that has used up `row_s` sits out the other turns."""
    times: dict[T, list[float]] = {key: [] for key in calls}
    for _ in shown(range(turns), f"{what}: timing"):
        for key, call in calls.items():
            if sum(times[key]) < row_s:
                started = time.perf_counter()
                call()
                times[key].append(time.perf_counter() - started)
    return {key: statistics.median(found) for key, found in times.items()}


def shown(items: Iterable[T], what: str) -> Iterable[T]:
    """The same items, with a progress bar if somebody watches a terminal."""
    bar: Iterable[T] = tqdm(items, desc=what, disable=None, leave=False)
    return bar


def describe_machine() -> str:
    """Processor, cores, libraries, and how busy it is: what numbers depend on."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    load = f", load {os.getloadavg()[0]:.2f}" if hasattr(os, "getloadavg") else ""
    libraries = ["tensorflow", "numpy", *(["jax"] if jax_is_installed() else [])]
    return (
        f"{(models or [platform.processor() or 'unknown'])[0]}, {os.cpu_count()} cores"
        f"{load}, Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in libraries)
    )
