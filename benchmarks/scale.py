# SPDX-License-Identifier: Apache-2.0
"""Means over ten thousand, a hundred thousand and a million clients, at two workers.

`python -m benchmarks.scale` prints a row for each; a million take five minutes. A
client has the hours of a day, which a loader makes when they are read: no process ever
has the data of all. The extra `remote` has the workers.
"""

import sys
import time
from typing import Any

import numpy as np
import psutil

import fedlearn_edu as fl

CLIENTS = (10_000, 100_000, 1_000_000)
_DAY = fl.to_type((np.float32, [24]))


def day_of(client: int) -> Any:
    """Twenty-four temperatures."""
    return np.arange(24, dtype=np.float32) + np.float32(client % 7)


@fl.np_computation(_DAY)
def warmest(day: Any) -> Any:
    """What a client computes."""
    return np.max(day)


@fl.federated_computation(fl.type_at_clients(_DAY))
def mean_of_warmest(days: Any) -> Any:
    """What the server learns."""
    return fl.federated_mean(fl.federated_map(warmest, days))


def _most_mb() -> float:
    """The memory of the largest process of the run, workers included."""
    mine = psutil.Process()
    sizes = [p.memory_info().rss for p in (mine, *mine.children(recursive=True))]
    return float(max(sizes)) / 1e6


def main(counts: tuple[int, ...] = CLIENTS) -> None:
    """Prints clients, microseconds for each, and megabytes of the largest process."""
    with fl.remote.local(workers=2) as cluster:
        for count in counts:
            days = cluster.place(day_of, count, _DAY)
            start = time.perf_counter()
            mean = float(mean_of_warmest(days))
            each_us = (time.perf_counter() - start) / count * 1e6
            row = f"{count:9,} {each_us:6.0f} µs each {_most_mb():6.0f} MB  {mean:.4f}"
            sys.stdout.write(f"{row}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or CLIENTS)
