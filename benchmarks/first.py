# SPDX-License-Identifier: Apache-2.0
"""The time to the first result, from data in NumPy; and importing the package.

Each figure is of a fresh process in which TensorFlow is loaded and has computed
something. Then the row is made (ours traces its computations, by hand data become
tensors), and one round is trained.
"""

import statistics
import subprocess
import sys
import time
from typing import Any

from benchmarks.measuring import shown, start
from benchmarks.processes import in_fresh_process
from benchmarks.rows import PLACED, ROWS, THREADS, TUTORIAL, named
from benchmarks.workloads import SIZES, Source

_COMPARED = {"W1": (THREADS, PLACED, named(TUTORIAL, "lists")), "W2": (THREADS, PLACED)}
_IMPORT = """
import sys, time
started = time.perf_counter()
import fedlearn_edu
print(time.perf_counter() - started)
assert "tensorflow" not in sys.modules
"""
_IMPORTS = 5


def measure(data: str, *, quick: bool) -> dict[str, Any]:
    """A workload of first rounds for each of W1 and W2; rows take turns here, too."""
    repeats = SIZES["quick" if quick else data].fresh
    wanted = [(name, row) for name, rows in _COMPARED.items() for row in rows]
    times: dict[tuple[str, str], list[float]] = {pair: [] for pair in wanted}
    for pair in shown(wanted * repeats, "first rounds"):
        times[pair].append(in_fresh_process(first_round, data, quick, *pair))
    found: dict[str, Any] = {}
    for (name, row), seconds in times.items():
        first = {"title": "a fresh process", "reference": THREADS, "rows": {}}
        rows = found.setdefault(f"{name}, first round", first)["rows"]
        rows[row] = {"right": True, "seconds": statistics.median(seconds)}
    return found


def first_round(data: str, quick: bool, name: str, row: str) -> float:
    """Seconds to make a row and to train one round."""
    from fedlearn_edu import tf

    # TensorFlow starts its threads when it first computes.
    tf.function(lambda x: x + 1)(tf.constant(1.0))
    workload = Source(data, quick=quick).named(name)
    started = time.perf_counter()
    ROWS[row](workload).train(start(), workload.rates[0])
    return time.perf_counter() - started


def import_seconds() -> float:
    """Imports the package in fresh processes; the first one only warms up the disk."""
    runs = [
        subprocess.run(
            [sys.executable, "-c", _IMPORT], capture_output=True, check=True, text=True
        ).stdout
        for _ in range(_IMPORTS + 1)
    ]
    return statistics.median(float(seconds) for seconds in runs[1:])
