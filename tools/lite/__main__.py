# SPDX-License-Identifier: Apache-2.0
"""`make lite`: the lessons as a site in which they run, in a browser with nothing else.

Pyodide and wheels (kernel) → notebooks (contents) → JupyterLite (site) → build/lite
"""

import argparse
import os
import sys
from pathlib import Path

from fedlearn_edu.errors import FedLearnError
from tools.lite import contents, licences, site
from tools.lite.kernel import kernel
from tools.lite.pyodide import SETTING, pinned

ROOT = Path(__file__).resolve().parents[2]


def main(arguments: list[str] | None = None) -> int:
    """Writes the site; 0 after success, 2 if a part of it cannot be had."""
    parser = argparse.ArgumentParser(prog="python -m tools.lite")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "lite")
    out = parser.parse_args(arguments).out
    try:
        write(ROOT, out)
    except (FedLearnError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sizes = [file.stat().st_size for file in out.rglob("*") if file.is_file()]
    _say(f"{out}: {len(sizes)} files, {sum(sizes) / 1e6:.0f} MB")
    _say(f"To look at it: python -m http.server -d {out}")
    return 0


def write(root: Path, out: Path) -> None:
    """Collects all parts, and writes the site to `out`.

    Raises:
        LiteError: if a part cannot be had, or is another one than it should be.
    """
    kept, release = root / "build" / "lite-parts", pinned()
    _say(f"Pyodide {release.version} and wheels (the first time downloads 120 MB) …")
    loaded = kernel(root, release, os.environ.get(SETTING, ""), kept)
    _say("Notebooks …")
    notebooks = contents.write(kept)
    _say("JupyterLite …")
    site.build(loaded, notebooks, kept, out)
    licences.write(loaded, out / "THIRD_PARTY.txt")


def _say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
