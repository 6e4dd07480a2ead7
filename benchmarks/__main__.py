# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks`, which is what `make bench` runs.

Exit status: 0 after success, 1 if a row found wrong losses, 2 if something was asked
for that cannot be done.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.workloads import PARTS, NoDataError

_ROOT = Path(__file__).resolve().parents[1]
_PAGE = _ROOT / "docs" / "performance.md"
_PICTURE = _ROOT / "docs" / "images" / "performance.png"
_RESULTS = _ROOT / "benchmarks" / "results.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints the report, writes it down, and returns the exit status."""
    parser = _build_parser()
    chosen = parser.parse_args(arguments)
    if chosen.write and (chosen.only or chosen.quick or chosen.data != "mnist"):
        parser.error("--write keeps a whole run on MNIST, nothing less")
    # Not before the options are known to be good: TensorFlow takes seconds to load.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    from benchmarks.report import report, wrong_rows
    from benchmarks.suite import run

    try:
        results = run(tuple(chosen.only), chosen.data, quick=chosen.quick)
    except NoDataError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"{report(results)}\n")
    _keep(results, chosen.out)
    wrong = wrong_rows(results)
    for row in wrong:
        sys.stderr.write(f"wrong: {row}\n")
    if chosen.write and not wrong:
        _commit(results)
    return 1 if wrong else 0


def _keep(results: dict[str, Any], folder: Path) -> None:
    """The record, the report and the picture, for whoever asked."""
    from benchmarks.report import report

    folder.mkdir(parents=True, exist_ok=True)
    _write_json(results, folder / "results.json")
    (folder / "report.md").write_text(report(results) + "\n", encoding="utf-8")
    _draw(results, folder / "performance.png")


def _commit(results: dict[str, Any]) -> None:
    """The same into the files that are under version control."""
    from benchmarks.report import put_into

    _write_json(results, _RESULTS)
    page = _PAGE.read_text(encoding="utf-8")
    _PAGE.write_text(put_into(page, results), encoding="utf-8")
    _draw(results, _PICTURE)


def _draw(results: dict[str, Any], path: Path) -> None:
    from benchmarks.picture import DESCRIPTION, draw
    from fedlearn_edu.viz.style import save_png

    if results["tables"]:
        save_png(draw(results), path, DESCRIPTION)


def _write_json(results: dict[str, Any], path: Path) -> None:
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="How long federated rounds take, beside the same by hand.",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=PARTS,
        default=[],
        help="these workloads; W4 comes with W1 and W2, first are the first rounds",
    )
    parser.add_argument(
        "--data",
        choices=("mnist", "digits"),
        default="mnist",
        help="digits are part of the package, and checked against NumPy only "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--quick", action="store_true", help="small sizes: a trial, not a measurement"
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help="update docs/performance.md, its picture, and benchmarks/results.json",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        default=Path("build/bench"),
        help="the folder for the results (default: %(default)s)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
