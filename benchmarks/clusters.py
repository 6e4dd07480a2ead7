# SPDX-License-Identifier: Apache-2.0
"""W7: rounds of W2 with their clients at two worker processes, beside the same in one.

The extra `remote` has the workers. Rounds there and here take turns in one fresh
process, and both have to find the same bits.
"""

from functools import cache, partial
from importlib.util import find_spec
from typing import Any

import numpy as np

import fedlearn_edu as fl
from benchmarks.processes import in_fresh_process
from benchmarks.rows import PLACED
from benchmarks.workloads import SIZES, Source, Workload

AT_WORKERS = f"{PLACED}, at two workers"
_WORKERS, _GROUPS = 2, 10
_RATE, _TURNS, _ROW_S = 0.05, 9, 10.0


def dask_is_installed() -> bool:
    """Whether there are workers."""
    return find_spec("distributed") is not None


def measure(data: str, *, quick: bool) -> dict[str, Any]:
    """Seconds at two workers and in one process, and bytes of one round."""
    return in_fresh_process(rounds, data, quick)


@cache
def _workload(data: str, quick: bool) -> Workload:
    """W2, made once per process."""
    return Source(data, quick=quick).w2()


def _batches(data: str, quick: bool, client: int) -> Any:
    """What workers load: the process of the program has no data."""
    return _workload(data, quick).batches[client]


def _fanout(clients: int) -> int:
    return max(2, clients // _GROUPS)


def _here(data: str, quick: bool, clients: int) -> Any:
    from benchmarks import ours

    factory = fl.framework.local_executor_factory(
        support_sequence_ops=True, max_fanout=_fanout(clients)
    )
    context = fl.framework.SyncExecutionContext(factory)
    placed = ours.placed_data(_workload(data, quick))
    return ours.loop_in(context, placed, ours.BY_OPERATORS)


def rounds(data: str, quick: bool) -> dict[str, Any]:
    """Rounds of W2 at workers and here, in turns, and bytes of one."""
    from benchmarks import ours
    from benchmarks.measuring import medians, start
    from fedlearn_edu import remote

    clients = SIZES["quick" if quick else data].w2
    with remote.local(_WORKERS, max_fanout=_fanout(clients)) as cluster:
        placed = cluster.place(partial(_batches, data, quick), clients, ours.BATCHES)
        loops = {
            AT_WORKERS: ours.loop_in(cluster.context, placed, ours.BY_OPERATORS),
            PLACED: _here(data, quick, clients),
        }
        models = {row: loop.train(start(), _RATE) for row, loop in loops.items()}
        same = all(map(np.array_equal, *models.values()))
        calls = {row: partial(loops[row].train, models[row], _RATE) for row in loops}
        times = medians(calls, _TURNS, _ROW_S, "W7")
        last = cluster.traffic().rounds[-1]  # the first sends zeros, compressed
    return {
        "title": f"W2 with its clients at {_WORKERS} workers",
        "reference": PLACED,
        "rows": {row: {"right": same, "seconds": times[row]} for row in loops},
        "bytes": {
            "groups": last.num_groups,
            "down": last.bytes_down,
            "up": last.bytes_up,
            "model": sum(array.nbytes for array in start()),
        },
    }
