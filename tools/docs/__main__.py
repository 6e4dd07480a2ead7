# SPDX-License-Identifier: Apache-2.0
"""`make docs`: guides, lessons, decisions and the reference as one site.

    pages and code of the clone ─┐
    notebooks → run (execution) ─┼→ a folder of sources → Sphinx (conf) → build/docs
    public names (reference) ────┘

Sources lie as they do in the clone, so links lead where they lead there; Sphinx names
those that lead nowhere. If the lessons for a browser were built (`make lite`), they are
in the site, which needs no network.
"""

import argparse
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.cells import read, write
from tools.docs import reference
from tools.docs.execution import run_all
from tools.release import EXPLORERS, RELEASE, ROOT, SOURCE

_RELEASED = RELEASE.relative_to(ROOT)


def main() -> int:
    """Writes the site; 0 after success, another number if Sphinx warns."""
    parser = argparse.ArgumentParser(prog="python -m tools.docs")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "docs")
    parser.add_argument("--lite", type=Path, default=ROOT / "build" / "lite")
    no_run = "do not run the lessons; their pages say that they were not run"
    parser.add_argument("--as-stored", action="store_true", help=no_run)
    chosen = parser.parse_args()
    paths = [*sorted(SOURCE.glob("*/*.ipynb")), EXPLORERS]
    kept = ROOT / "build" / "lessons"
    ran = {p: read(p) for p in paths} if chosen.as_stored else run_all(paths, kept)
    return build(ran, chosen.out, chosen.lite)


def build(notebooks: Mapping[Path, Any], out: Path, lite: Path) -> int:
    """Writes the site, and returns what Sphinx returns."""
    from sphinx.cmd.build import build_main as sphinx

    sources = out.with_name(f"{out.name}_source")
    for folder in (sources, out):
        shutil.rmtree(folder, ignore_errors=True)
    _put(notebooks, sources)
    os.environ["FEDLEARN_EDU_LITE"] = str(lite)
    doctrees = out.with_name(f"{out.name}_doctrees")
    asked = ["-W", "--keep-going", "-q", "-E", "-c", str(Path(__file__).parent)]
    if failed := sphinx([*asked, "-d", str(doctrees), str(sources), str(out)]):
        return failed
    shutil.copy(out / "README.html", out / "index.html")
    # What a learner gets lies beside its page, to be downloaded.
    shutil.copytree(RELEASE, out / _RELEASED, dirs_exist_ok=True)
    if lite.is_dir():
        shutil.copytree(lite, out / "lite")
    print(out / "index.html")
    return 0


def _put(notebooks: Mapping[Path, Any], sources: Path) -> None:
    """Copies the clone; notebooks that ran take the place of what learners get."""
    skipped = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "notebooks")
    shutil.copytree(ROOT, sources, ignore=skipped)
    shutil.copytree(RELEASE, sources / _RELEASED)
    for path, notebook in notebooks.items():
        (place,) = (sources / _RELEASED).rglob(path.name)
        write(notebook, place)
    (sources / "reference").mkdir()
    shutil.copy(reference.INDEX, sources / "reference" / "index.rst")


if __name__ == "__main__":
    sys.exit(main())
