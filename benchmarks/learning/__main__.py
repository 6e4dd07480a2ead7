# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.learning` measures what the algorithms reach on MNIST.

It keeps a record, and writes its tables into `docs/performance.md`. Exit status: 0
after success, 1 if a figure was missed, 2 if there is no MNIST.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]
_RECORD = Path(__file__).with_name("results.json")
_PAGE = _ROOT / "docs" / "performance.md"
PARTS = ("algorithms", "paper", "poisoning", "privacy")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, writes the tables, and says which figures were reached."""
    chosen = _build_parser().parse_args(arguments)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    from benchmarks.learning.page import figures, written

    measured = _measure(tuple(chosen.only), tuple(chosen.seeds))
    if measured is None:
        return 2
    results = json.loads(_RECORD.read_text("utf-8")) | measured
    _RECORD.write_text(json.dumps(results) + "\n", encoding="utf-8")
    _PAGE.write_text(written(_PAGE.read_text("utf-8"), results), encoding="utf-8")
    reached = dict(figures(results))
    for what, is_reached in reached.items():
        sys.stdout.write(f"{'reached' if is_reached else 'MISSED '}  {what}\n")
    return 0 if all(reached.values()) else 1


def _measure(parts: tuple[str, ...], seeds: tuple[int, ...]) -> dict[str, Any] | None:
    from benchmarks.learning import experiments
    from benchmarks.measuring import describe_machine
    from fedlearn_edu.simulation import datasets

    path = datasets.find_mnist()
    if path is None:
        sys.stderr.write("this needs MNIST: put mnist.npz into FEDLEARN_EDU_DATA\n")
        return None
    mnist = datasets.read_mnist(path)
    found: dict[str, Any] = {"machine": describe_machine(), "seeds": seeds}
    for part in parts:
        sys.stdout.write(f"measuring  {part}\n")
        sys.stdout.flush()
        found[part] = getattr(experiments, part)(mnist, seeds)
    return found


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.learning",
        description="What the algorithms reach on MNIST, for docs/performance.md.",
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--seeds", nargs="+", type=int, default=(0, 1, 2))
    return parser


if __name__ == "__main__":
    sys.exit(main())
