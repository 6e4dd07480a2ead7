# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks`, which is what `make bench` runs.

Exit status: 0 after success, 1 if a row found wrong losses or has become slower than in
another checkout, 2 if something was asked for that cannot be done.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.workloads import NoDataError, Source

_ROOT = Path(__file__).resolve().parents[1]
_PAGE = _ROOT / "docs" / "performance.md"
_RESULTS = _ROOT / "benchmarks" / "results.json"
PARTS = ("W1", "W2", "first", "W7")
"""What can be asked for; `"first"` are first rounds, and importing the package."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints the table, writes it down, and returns the exit status."""
    parser = _build_parser()
    chosen = parser.parse_args(arguments)
    if chosen.write and (chosen.only or chosen.quick or chosen.data != "mnist"):
        parser.error("--write keeps a whole run on MNIST, nothing less")
    # Not before the options are known to be good: TensorFlow takes seconds to load.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        if chosen.against:
            return _compare(chosen)
        results = run(chosen.only or PARTS, chosen.data, quick=chosen.quick)
    except NoDataError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    from benchmarks.report import put_into, report, wrong_rows

    sys.stdout.write(f"{report(results)}\n")
    _write_json(results, chosen.out / "results.json")
    wrong = wrong_rows(results["workloads"])
    sys.stderr.writelines(f"wrong: {row}\n" for row in wrong)
    if chosen.write and not wrong:
        _write_json(results, _RESULTS)
        page = put_into(_PAGE.read_text(encoding="utf-8"), report(results))
        _PAGE.write_text(page, encoding="utf-8")
    return 1 if wrong else 0


def run(parts: Sequence[str], data: str, *, quick: bool) -> dict[str, Any]:
    """Measures the parts that are asked for, one after the other."""
    from benchmarks import clusters, first, measuring

    source = Source(data, quick=quick)
    results: dict[str, Any] = {
        "machine": measuring.describe_machine(),
        "data": data,
        "quick": quick,
    }
    found: dict[str, Any] = {}
    for name in _WORKLOADS:
        if name in parts:
            found |= measuring.measure(source, name)
    if "first" in parts:
        found |= first.measure(data, quick=quick)
        results["import_s"] = first.import_seconds()
    if "W7" in parts and clusters.dask_is_installed():
        found["W7"] = clusters.measure(data, quick=quick)
    return results | {"workloads": found}


_WORKLOADS = ("W1", "W2")


def _compare(chosen: argparse.Namespace) -> int:
    from benchmarks.against import compare
    from benchmarks.report import comparison, slower_rows, wrong_rows

    names = [name for name in _WORKLOADS if name in (chosen.only or PARTS)]
    found = compare(chosen.against, names, chosen.data, quick=chosen.quick)
    sys.stdout.write(f"{comparison(found)}\n")
    wrong = [f"{side}: {row}" for side in found for row in wrong_rows(found[side])]
    sys.stderr.writelines(f"wrong: {row}\n" for row in wrong)
    return 1 if wrong or slower_rows(found) else 0


def _write_json(results: dict[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
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
        help="these parts; first are first rounds, and importing the package",
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
        "--against",
        type=Path,
        metavar="DIR",
        help="compare our rows of W1 and W2 with those of another checkout",
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help="update docs/performance.md and benchmarks/results.json",
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
