# SPDX-License-Identifier: Apache-2.0
"""Our rows with the package of another checkout, beside those with this one.

Each checkout has a process of its own, and the two take turns, row by row: what a
commit changes is a ratio of two figures from the same minutes.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from benchmarks import in_numpy
from benchmarks.measuring import check, medians, shown, start
from benchmarks.processes import Elsewhere, use_checkout
from benchmarks.rows import OURS, rows_of
from benchmarks.workloads import Source, Workload

HERE, THERE = "here", "there"
SLOWER = 1.1
"""From this ratio on, a row has become slower."""

_ROOT = Path(__file__).resolve().parents[1]


def compare(root: Path, names: Sequence[str], data: str, *, quick: bool) -> Any:
    """For each side the rows of ours, by workload, in the form of `measure`."""
    source = Source(data, quick=quick)
    sides = {HERE: Elsewhere(use_checkout, _ROOT), THERE: Elsewhere(use_checkout, root)}
    found: dict[str, dict[str, Any]] = {side: {} for side in sides}
    calls: dict[tuple[str, str, str], Callable[[], Any]] = {}
    for name in names:
        workload = source.named(name)
        expected = workload.known or in_numpy.losses_of(workload)
        ours = [row for row in rows_of(name) if row in OURS]
        for row in shown(ours, f"{name}: checking"):
            for side, process in sides.items():
                loop = process.loop(_loop, data, quick, name, row)
                entry = check(loop, workload, expected, source.sizes.row_s)
                found[side].setdefault(name, {"rows": {}})["rows"][row] = entry
                if entry["right"]:
                    train = partial(loop.train, start(), workload.rates[0])
                    calls[side, name, row] = train
    times = medians(calls, source.sizes.turns, source.sizes.row_s, "both checkouts")
    for (side, name, row), seconds in times.items():
        found[side][name]["rows"][row]["seconds"] = seconds
    for process in sides.values():
        process.close()
    return found


@cache
def _workload(data: str, quick: bool, name: str) -> Workload:
    return Source(data, quick=quick).named(name)


def _loop(data: str, quick: bool, name: str, row: str) -> Any:
    """A row, made in the process of a checkout."""
    return OURS[row](_workload(data, quick, name))
