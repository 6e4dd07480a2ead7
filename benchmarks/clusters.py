# SPDX-License-Identifier: Apache-2.0
"""W7: rounds with their clients at two worker processes, beside the same in one.

Nothing here imports TensorFlow before it is needed: some of what is timed is how long
that takes, in this process and in the workers.
"""

import statistics
import sys
import time
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from typing import Any, final

import numpy as np

import fedlearn_edu as fl
from benchmarks.models import initial
from benchmarks.processes import in_fresh_process, on_one_core
from benchmarks.workloads import SIZES, Source, Workload

WORKERS = 2
_MODEL, _RATE = "softmax", 0.05
_GROUPS = 10
_TURNS = 9
_ROW_S = 10.0


@final
@dataclass(frozen=True)
class Row:
    """Rounds of W2.

    Attributes:
        name: how the report calls them.
        form: how a client's part is written.
    """

    name: str
    form: str


FIRST = "operators"
ROWS = {
    FIRST: Row("W2, sequence operators", "operators"),
    "reduce": Row("W2, one `Dataset.reduce`", "reduce"),
}


def dask_is_installed() -> bool:
    """Whether there are workers: the extra `remote` has them."""
    return find_spec("distributed") is not None


def measure(data: str, *, quick: bool, repeats: int) -> dict[str, Any]:
    """Everything about W7; what fresh processes say once are medians of `repeats`."""
    start = [in_fresh_process(start_and_sum, quick) for _ in range(repeats)]
    first = {
        who: [in_fresh_process(first_round, data, quick, who) for _ in range(repeats)]
        for who in ("remote", "local")
    }
    found = in_fresh_process(rounds, data, quick)
    for key, seconds in on_one_core(rounds_alone, data, quick).items():
        found["rows"][key]["one_core_s"] = seconds
    return found | {
        "sum": {key: statistics.median(run[key] for run in start) for key in start[0]},
        "first": {who: statistics.median(times) for who, times in first.items()},
    }


@cache
def _workload(data: str, quick: bool) -> Workload:
    """W2, made once per process."""
    return Source(data, quick=quick).w2()


def _batches(data: str, quick: bool, client: int) -> Any:
    return _workload(data, quick).batches[client]


def _count(data: str, quick: bool) -> int:
    return SIZES["quick" if quick else data].w2


def _fanout(data: str, quick: bool) -> int:
    return max(2, _count(data, quick) // _GROUPS)


def _here(max_fanout: int) -> Any:
    factory = fl.framework.local_executor_factory(
        support_sequence_ops=True, max_fanout=max_fanout
    )
    return fl.framework.SyncExecutionContext(factory)


def _on(cluster: Any, data: str, quick: bool, row: Row) -> Any:
    """The rounds of W2 with clients that workers load; this process has no data."""
    from benchmarks import ours

    load = partial(_batches, data, quick)
    placed = cluster.place(load, _count(data, quick), ours.BATCHES)
    return ours.loop_in(cluster.context, placed, _MODEL, row.form)


def _alone(data: str, quick: bool, row: Row) -> Any:
    """The same in this process."""
    from benchmarks import ours

    placed = ours.placed_data(_workload(data, quick))
    return ours.loop_in(_here(_fanout(data, quick)), placed, _MODEL, row.form)


def rounds(data: str, quick: bool) -> dict[str, Any]:
    """Seconds of rounds of W2 at workers and here, in turns, and bytes of one."""
    from benchmarks.measuring import take_turns
    from fedlearn_edu import remote

    start = tuple(initial(_MODEL).values())
    rows: dict[str, dict[str, Any]] = {}
    calls: dict[tuple[str, str], Any] = {}
    with remote.local(WORKERS, max_fanout=_fanout(data, quick)) as cluster:
        for key, row in ROWS.items():
            loops = {
                "remote_s": _on(cluster, data, quick, row),
                "local_s": _alone(data, quick, row),
            }
            models = [loop.train(start, _RATE) for loop in loops.values()]
            same = all(map(np.array_equal, *models))
            rows[key] = {"name": row.name, "right": same}
            for who, loop in loops.items():
                calls[key, who] = partial(loop.train, models[0], _RATE)
        times = take_turns(calls, _TURNS, dict.fromkeys(calls, _ROW_S), "W7")
        calls[FIRST, "remote_s"]()
        last = cluster.traffic().rounds[-1]
    for (key, who), seconds in times.items():
        rows[key][who] = statistics.median(seconds)
    model = sum(array.nbytes for array in start)
    sizes = {"down": last.bytes_down, "up": last.bytes_up, "model": model}
    return {"rows": rows, "bytes": {"groups": last.num_groups, **sizes}}


def rounds_alone(data: str, quick: bool) -> dict[str, float]:
    """Seconds of rounds of W2 in this process."""
    from benchmarks.measuring import take_turns

    start = tuple(initial(_MODEL).values())
    calls: dict[str, Any] = {}
    for key, row in ROWS.items():
        calls[key] = partial(_alone(data, quick, row).train, start, _RATE)
        calls[key]()
    times = take_turns(calls, _TURNS, dict.fromkeys(calls, _ROW_S), "W7: one core")
    return {key: statistics.median(seconds) for key, seconds in times.items()}


def first_round(data: str, quick: bool, who: str) -> float:
    """Seconds from nothing, TensorFlow not loaded, to the result of one round of W2."""
    sys.modules.pop("jax", None)  # workers import it, too
    started = time.perf_counter()
    if who == "remote":
        from fedlearn_edu import remote

        cluster = remote.local(WORKERS, max_fanout=_fanout(data, quick))
        loop = _on(cluster, data, quick, ROWS[FIRST])
    else:
        loop = _alone(data, quick, ROWS[FIRST])
    loop.train(tuple(initial(_MODEL).values()), _RATE)
    seconds = time.perf_counter() - started
    if who == "remote":
        cluster.close()
    return seconds


def start_and_sum(quick: bool) -> dict[str, float]:
    """Seconds until two workers answer, and of a sum of two floats at each of them."""
    from fedlearn_edu import remote

    @fl.federated_computation(fl.type_at_clients(np.float32))
    def total(values: Any) -> Any:
        one_more = fl.np_computation(lambda x: x + 1, np.float32)
        return fl.federated_sum(fl.federated_map(one_more, values))

    values = fl.place([1.0, 2.0, 3.0, 4.0], fl.CLIENTS)
    started = time.perf_counter()
    with remote.local(WORKERS, max_fanout=2) as cluster:
        total(values)
        found = {"start_s": time.perf_counter() - started}
        _wait_for_tensorflow(cluster)
        calls = {
            "remote_s": partial(_in, cluster.context, total, values),
            "local_s": partial(_in, _here(2), total, values),
        }
        from benchmarks.measuring import take_turns

        turns = _TURNS if quick else 10 * _TURNS
        times = take_turns(calls, turns, dict.fromkeys(calls, _ROW_S), "W7: sums")
    return found | {who: statistics.median(found) for who, found in times.items()}


def _in(context: Any, computation: Any, values: Any) -> Any:
    with context:
        return computation(values)


def _wait_for_tensorflow(cluster: Any) -> None:
    """Workers import it beside everything else, which would be timed."""
    from fedlearn_edu import tf

    negated = fl.tf_computation(lambda x: -x, np.float32)

    @fl.federated_computation(fl.type_at_clients(np.float32))
    def total(values: Any) -> Any:
        return fl.federated_sum(fl.federated_map(negated, values))

    tf.constant(1.0)
    total([1.0, 2.0, 3.0, 4.0])
