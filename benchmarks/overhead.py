# SPDX-License-Identifier: Apache-2.0
"""W6: what the language itself costs, where there is next to nothing to compute."""

import dataclasses
import statistics
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np

import fedlearn_edu as fl
from benchmarks.measuring import take_turns
from fedlearn_edu.framework import compile_tree, ir, local_executor_factory

_TURNS = 5
_ROW_S = 5.0

_IMPORT = """
import sys, time
started = time.perf_counter()
import fedlearn_edu
seconds = time.perf_counter() - started
print(seconds, "tensorflow" in sys.modules)
"""


def measure(sizes: tuple[int, ...]) -> dict[str, Any]:
    """A sum of one float per client, step by step, and the import of the package."""
    return {"sums": measure_sums(sizes), "import": measure_import(_TURNS)}


def measure_sums(sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """One entry for each number of clients."""
    factory = local_executor_factory(support_sequence_ops=True, fuse=False)
    context = fl.framework.SyncExecutionContext(factory)

    @fl.federated_computation(fl.type_at_clients(np.float32))
    def total(values: Any) -> Any:
        return fl.federated_sum(values)

    calls: dict[int, Any] = {}
    entries: list[dict[str, Any]] = []
    with context:
        for count in sizes:
            values = [float(i % 7) for i in range(count)]
            tree = compile_tree(
                total.tree, factory.native({fl.CLIENTS: count}), "total"
            )
            right = bool(total(values) == sum(values))
            entries.append(
                {"clients": count, "intrinsics": intrinsics_in(tree), "right": right}
            )
            calls[count] = partial(total, values)
        times = take_turns(calls, _TURNS, dict.fromkeys(calls, _ROW_S), "W6")
    for entry in entries:
        count = entry["clients"]
        entry["seconds"] = statistics.median(times[count])
        entry["each_us"] = 1e6 * entry["seconds"] / count / entry["intrinsics"]
    return entries


def intrinsics_in(node: Any) -> int:
    """How many intrinsics a tree holds: what a stack is really asked to run."""
    if isinstance(node, tuple):
        return sum(map(intrinsics_in, node))
    if isinstance(node, ir.Intrinsic):
        return 1
    if not dataclasses.is_dataclass(node):
        return 0
    return sum(intrinsics_in(getattr(node, f.name)) for f in dataclasses.fields(node))


def measure_import(repeats: int) -> dict[str, Any]:
    """Imports the package in fresh processes; the first one only warms up the disk."""
    runs = [
        subprocess.run(
            [sys.executable, "-c", _IMPORT], capture_output=True, check=True, text=True
        ).stdout.split()
        for _ in range(repeats + 1)
    ]
    return {
        "seconds": statistics.median(float(seconds) for seconds, _ in runs[1:]),
        "loads_tensorflow": any(loaded == "True" for _, loaded in runs),
    }
