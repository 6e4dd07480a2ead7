# SPDX-License-Identifier: Apache-2.0
"""All workloads, one after the other, into one record of results."""

import time
from typing import Any

from benchmarks import aggregation, clusters, first_round, growth, overhead
from benchmarks.machine import describe_machine
from benchmarks.measuring import measure
from benchmarks.processes import in_fresh_process
from benchmarks.rows import ours_key, tables
from benchmarks.workloads import PARTS, Source


def run(only: tuple[str, ...], data: str, *, quick: bool) -> dict[str, Any]:
    """Measures the parts that are asked for; none means all of them."""
    started = time.perf_counter()
    wanted = set(only or PARTS)
    if "W4" in wanted:  # evaluations are timed beside the training
        wanted |= {"W1", "W2"}
    source = Source(data, quick=quick)
    sizes = source.sizes
    results: dict[str, Any] = {
        "machine": describe_machine(),
        "data": data,
        "quick": quick,
        "tables": {},
    }
    for name in ("W1", "W2", "W3"):
        if name in wanted:
            results["tables"] |= measure(tables(name, source), sizes.turns)
    if "W2" in wanted:
        results["memory"] = in_fresh_process(growth.memory_in_all, data, quick)
    if "W5" in wanted:
        results["growth"] = growth.measure(data, quick=quick, sizes=sizes.growth)
    if "W6" in wanted:
        results["overhead"] = overhead.measure(sizes.sums)
    if "W7" in wanted and clusters.dask_is_installed():
        results["clusters"] = clusters.measure(data, quick=quick, repeats=sizes.fresh)
    if "W8" in wanted:
        results["aggregation"] = aggregation.measure(sizes.updates)
    if compared := _first_rounds(wanted):
        results["first_rounds"] = first_round.measure(
            compared, data, quick=quick, repeats=sizes.fresh
        )
    results["took_s"] = round(time.perf_counter() - started)
    return results


def _first_rounds(wanted: set[str]) -> dict[str, tuple[str, ...]]:
    if "first" in wanted:
        return first_round.COMPARED
    return {"W1": (ours_key("tutorial"),)} if "W6" in wanted else {}
