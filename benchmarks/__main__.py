# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks`, which is what `make bench` runs."""

from pathlib import Path

from benchmarks.tutorial_round import measure, report, write

if __name__ == "__main__":
    results = measure(data="auto", repeats=5)
    print(report(results))  # noqa: T201
    write(results, Path("build/bench.json"))
