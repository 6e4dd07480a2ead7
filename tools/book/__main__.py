# SPDX-License-Identifier: Apache-2.0
"""`make book`: the lessons, run and rendered, as pages that need no network.

    notebooks → run (execution) → pages (pages), linked (links) → build/book (binding)

Pages of `docs/` that a lesson leads to come along. Solutions are there, folded; checks
that the learner does not see are left out.
"""

import argparse
import sys
from pathlib import Path

from fedlearn_edu.errors import FedLearnError
from tools.book.binding import Book
from tools.book.execution import run_all

ROOT = Path(__file__).resolve().parents[2]


def main(arguments: list[str] | None = None) -> int:
    """Writes the book; 0 after success, 2 if a lesson fails or a link is broken."""
    parser = argparse.ArgumentParser(prog="python -m tools.book")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "book")
    chosen = parser.parse_args(arguments)
    try:
        page = write(ROOT, chosen.out)
    except FedLearnError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"{page}\n")
    return 0


def write(root: Path, out: Path) -> Path:
    """Runs the notebooks below `root`, and writes the book; returns its first page.

    Raises:
        BookError: if a cell fails that should not, or a link leads nowhere.
    """
    lessons = sorted((root / "notebooks" / "source").glob("*/*.ipynb"))
    others = sorted((root / "notebooks" / "explorers").glob("*.ipynb"))
    ran = run_all([*lessons, *others])
    return Book(root, out, ran).write()


if __name__ == "__main__":
    sys.exit(main())
