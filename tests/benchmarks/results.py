# SPDX-License-Identifier: Apache-2.0
"""Results made up for tests: every row of every table takes as long as is asked for."""

from collections.abc import Callable
from typing import Any

MACHINE = {
    "processor": "Some Processor",
    "cores": 2,
    "memory_gb": 25,
    "system": "Linux x86_64",
    "load_before": 0.5,
    "python": "3.11",
    "tensorflow": "2.21",
    "numpy": "2.4",
    "jax": "0.10",
}


def made_up(seconds: Callable[[str, str], float]) -> dict[str, Any]:
    """`seconds` gets the name of a table and the key of a row."""
    from benchmarks import clusters
    from benchmarks.first_round import COMPARED
    from benchmarks.rows import ROWS, tables
    from benchmarks.workloads import Source

    source = Source("digits", quick=True)
    results: dict[str, Any] = {
        "machine": MACHINE,
        "data": "digits",
        "quick": True,
        "took_s": 90,
        "tables": {},
    }
    for table in [t for name in ("W1", "W2", "W3") for t in tables(name, source)]:
        rows = {
            key: {
                "name": ROWS[key].name,
                "losses": [2.0],
                "right": True,
                "train_s": seconds(table.name, key),
            }
            | ({"eval_s": 0.5 * seconds(table.name, key)} if table.evaluates else {})
            for key in table.rows
        }
        results["tables"][table.name] = {
            "title": "1,000 clients × 10 batches × 100",
            "reference": table.reference,
            "expected": [2.0],
            "rows": rows,
        }
    results["memory"] = {"before_gb": 0.5, "peak_gb": 0.875}
    results["first_rounds"] = {
        name: {
            key: {
                "name": ROWS[key].name,
                "define_s": 0.25,
                "call_s": seconds(name, key),
                "total_s": 0.25 + seconds(name, key),
                "later_s": 0.125,
            }
            for key in keys
        }
        for name, keys in COMPARED.items()
    }
    per_client = {10: (9e-3, 1.0), 100: (1e-3, 2.0), 1000: (1.1e-3, 12.0)}
    results["growth"] = [
        {
            "clients": n,
            "right": True,
            "train_s": each * n,
            "first_mb": 9.0,
            "later_mb": mb,
        }
        for n, (each, mb) in {**per_client, 10_000: (1.05e-3, 42.0)}.items()
    ]
    sums = {10: 0.01, 1000: 0.05, 100_000: 5.5}
    results["overhead"] = {
        "sums": [
            {
                "clients": n,
                "intrinsics": 1,
                "right": True,
                "seconds": s,
                "each_us": 1e6 * s / n,
            }
            for n, s in sums.items()
        ],
        "import": {"seconds": 0.125, "loads_tensorflow": False},
    }
    results["clusters"] = {
        "rows": {
            key: {
                "name": row.name,
                "right": True,
                "remote_s": 0.0625,
                "local_s": 0.125,
                "one_core_s": 0.25,
            }
            for key, row in clusters.ROWS.items()
        },
        "bytes": {"groups": 10, "down": 319_000, "up": 318_000, "model": 31_400},
        "sum": {"start_s": 2.0, "remote_s": 0.006, "local_s": 0.001},
        "first": {"remote": 9.0, "local": 6.0},
    }
    results["aggregation"] = {
        "clients": 100,
        "rules": {
            "median()": {
                "name": "median()",
                "right": True,
                "ours_s": 0.018,
                "by_hand_s": 0.012,
            }
        },
        "slot": {"with_s": 0.02, "without_s": 0.02},
    }
    return results
