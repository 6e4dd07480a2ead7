# SPDX-License-Identifier: Apache-2.0
"""W5: what a client costs, in seconds and in memory, as their number grows.

Clients are those of W2, placed; their examples share one piece of memory for as long as
nobody converts them. Beside that, the memory of a whole process, TensorFlow included.
"""

import statistics
from functools import partial
from typing import Any

from benchmarks import in_numpy, ours
from benchmarks.first_round import wake_up
from benchmarks.measuring import agree, shown, start_of, take_turns
from benchmarks.memory import settled, status
from benchmarks.processes import in_fresh_process
from benchmarks.workloads import Source, Workload

_FORM = "operators"
_TURNS = 7
_ROW_S = 8.0


def measure(data: str, *, quick: bool, sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """One entry for each number of clients."""
    times = in_fresh_process(seconds, data, quick, sizes)
    memory = [
        in_fresh_process(peak_memory, data, quick, count)
        for count in shown(sizes, "W5: memory")
    ]
    return [
        {"clients": count, **time, **peak}
        for count, time, peak in zip(sizes, times, memory, strict=True)
    ]


def seconds(data: str, quick: bool, sizes: tuple[int, ...]) -> list[dict[str, Any]]:
    """A round for each number of clients, checked with NumPy; they take turns."""
    source = Source(data, quick=quick)
    calls: dict[int, Any] = {}
    entries: list[dict[str, Any]] = []
    for count in shown(sizes, "W5: checking"):
        workload = source.w2(count)
        loop, truth = _loop(workload), in_numpy.loop(workload)
        start, rate = start_of(workload), workload.rates[0]
        models = [each.train(start, rate) for each in (loop, truth)]
        found, expected = map(truth.evaluate, models)
        entries.append({"right": agree([found], [expected])})
        calls[count] = partial(loop.train, start, rate)
    times = take_turns(calls, _TURNS, dict.fromkeys(calls, _ROW_S), "W5")
    for entry, count in zip(entries, sizes, strict=True):
        entry["train_s"] = statistics.median(times[count])
    return entries


def peak_memory(data: str, quick: bool, count: int) -> dict[str, float | None]:
    """Megabytes that rounds need at their peak, beyond what is there before them.

    `first_mb` is of the first round, in which data are converted, beyond one copy of
    them; `later_mb` of the next, on what is converted already. Only Linux tells.
    """
    workload = Source(data, quick=quick).w2(count)
    loop = _loop(workload)

    def of_one_round() -> float | None:
        before = settled()
        loop.train(start_of(workload), workload.rates[0])
        peak = status("VmHWM")
        return None if before is None or peak is None else (peak - before) / 1e6

    first, later = of_one_round(), of_one_round()
    if first is not None:
        first -= workload.bytes / 1e6
    return {"first_mb": first, "later_mb": later}


def memory_in_all(data: str, quick: bool) -> dict[str, float | None]:
    """Gigabytes of a whole process that runs two rounds of W2, to be a fresh one.

    `before_gb` is with TensorFlow and the data, before the first round; `peak_gb` is
    the most it ever had. Only Linux tells.
    """
    workload = Source(data, quick=quick).w2()
    model, rates = start_of(workload), workload.rates[:2]
    wake_up()
    before = status("VmRSS")
    loop = _loop(workload)
    for rate in rates:
        model = loop.train(model, rate)
    peak = status("VmHWM")
    return {
        name: None if value is None else value / 1e9
        for name, value in (("before_gb", before), ("peak_gb", peak))
    }


def _loop(workload: Workload) -> Any:
    return ours.loop(workload, _FORM, placed=True, fuse=True)
