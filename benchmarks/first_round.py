# SPDX-License-Identifier: Apache-2.0
"""The time to the first result: from data in NumPy, tracing included.

Each figure is of a fresh process in which TensorFlow is loaded and has computed
something. Then the row is made (ours traces its computations, by hand data become
tensors), and one round is trained.
"""

import itertools
import statistics
import time
from typing import Any

from benchmarks.measuring import shown, start_of
from benchmarks.processes import in_fresh_process
from benchmarks.rows import ROWS, THREADS, ours_key
from benchmarks.workloads import Source
from fedlearn_edu import tf

_PLACED = ours_key("operators", placed=True)
COMPARED = {"W1": (THREADS, _PLACED, ours_key("tutorial")), "W2": (THREADS, _PLACED)}


def measure(
    compared: dict[str, tuple[str, ...]], data: str, *, quick: bool, repeats: int
) -> dict[str, Any]:
    """Medians over processes, for each table and row; the rows take turns here too."""
    wanted = [(name, key) for name, keys in compared.items() for key in keys]
    runs: dict[tuple[str, str], list[dict[str, float]]] = {pair: [] for pair in wanted}
    for name, key in shown(wanted * repeats, "first rounds"):
        found = in_fresh_process(first_round, data, quick, name, key)
        runs[name, key].append(found)
    results: dict[str, Any] = {name: {} for name in compared}
    for (name, key), times in runs.items():
        medians = {w: statistics.median(run[w] for run in times) for w in times[0]}
        results[name][key] = {"name": ROWS[key].name, **medians}
    return results


def first_round(data: str, quick: bool, name: str, key: str) -> dict[str, float]:
    """Seconds to make a row, of its first round, of both, and of a later round."""
    wake_up()
    workload = Source(data, quick=quick).named(name)
    start, rate = start_of(workload), workload.rates[0]
    times = [time.perf_counter()]
    loop = ROWS[key].make(workload)
    times.append(time.perf_counter())
    for _ in ("the first", "a later one"):
        loop.train(start, rate)
        times.append(time.perf_counter())
    define, first, later = (b - a for a, b in itertools.pairwise(times))
    return {
        "define_s": define,
        "call_s": first,
        "total_s": define + first,
        "later_s": later,
    }


def wake_up() -> None:
    """TensorFlow starts its threads when it first computes."""
    tf.function(lambda x: x + 1)(tf.constant(1.0))
