# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.learning`, which is what `make results` runs.

It writes `docs/results.md`, its two pictures, and the record they are made of. Exit
status: 0 after success, 1 if a figure was missed, 2 if there is no MNIST.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]
_RECORD = "results.json"
PARTS = (
    *("algorithms", "paper", "network", "memory"),
    *("inversion", "poisoning", "privacy"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, writes the page, and says which figures were reached."""
    chosen = _build_parser().parse_args(arguments)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    from benchmarks.learning.page import figures, write

    record = _ROOT / "benchmarks" / "learning" / _RECORD
    results = json.loads(record.read_text("utf-8")) if record.exists() else {}
    if not chosen.draw_only:
        measured = _measure(tuple(chosen.only), tuple(chosen.seeds))
        if measured is None:
            return 2
        results |= measured
        record.write_text(json.dumps(results) + "\n", encoding="utf-8")
    write(results, _ROOT / "docs")
    missed = False
    for what, is_reached in figures(results):
        sys.stdout.write(f"{'reached' if is_reached else 'MISSED '}  {what}\n")
        missed = missed or not is_reached
    return 1 if missed else 0


def _measure(parts: tuple[str, ...], seeds: tuple[int, ...]) -> dict[str, Any] | None:
    from benchmarks.learning import algorithms, attacked, many_clients, paper, private
    from benchmarks.machine import describe_machine
    from benchmarks.processes import in_fresh_process
    from fedlearn_edu.simulation import datasets

    path = datasets.find_mnist()
    if path is None:
        sys.stderr.write("this needs MNIST: put mnist.npz into FEDLEARN_EDU_DATA\n")
        return None
    mnist = datasets.read_mnist(path)
    work: dict[str, Callable[[], Any]] = {
        "algorithms": lambda: algorithms.measure(
            mnist, seeds, rounds=algorithms.ROUNDS[-1]
        ),
        "paper": lambda: paper.rounds_to_target(mnist, seeds),
        "network": lambda: paper.one_round_of_the_network(mnist),
        "inversion": lambda: attacked.inversion(mnist, seeds),
        "poisoning": lambda: attacked.poisoning(mnist, seeds),
        "privacy": lambda: private.privacy(mnist, seeds),
        "memory": lambda: in_fresh_process(many_clients.memory, "mnist"),
    }
    found: dict[str, Any] = {"machine": describe_machine(), "seeds": seeds}
    for part in parts:
        sys.stdout.write(f"measuring  {part}\n")
        sys.stdout.flush()
        found[part] = work[part]()
    return found


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.learning",
        description="What the algorithms reach on MNIST, written to docs/results.md.",
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--seeds", nargs="+", type=int, default=(0, 1, 2))
    parser.add_argument(
        "--draw-only",
        action="store_true",
        help="write the page once more from the record of the last run",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
