# SPDX-License-Identifier: Apache-2.0
"""`make docs`: guides, lessons, decisions and the reference as one site.

    notebooks → run (execution) → Markdown (lessons) ┐
    pages of the clone, linked (links) ──────────────┼→ assembly → Sphinx (conf)
    public names (reference), code (code) ───────────┘

The site needs no network. If the lessons for a browser were built (`make lite`), they
are in it, and each lesson's page leads there.
"""

import argparse
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fedlearn_edu.errors import FedLearnError
from tools.cells import read
from tools.docs import links
from tools.docs.assembly import Assembly
from tools.docs.execution import DocsError, run_all

ROOT = Path(__file__).resolve().parents[2]


def main(arguments: list[str] | None = None) -> int:
    """Writes the site; 0 after success, 2 if a lesson fails or a link is broken."""
    parser = argparse.ArgumentParser(prog="python -m tools.docs")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "docs")
    parser.add_argument("--lite", type=Path, default=ROOT / "build" / "lite")
    as_they_are = "take the lessons as they are stored, without running them"
    parser.add_argument("--as-stored", action="store_true", help=as_they_are)
    chosen = parser.parse_args(arguments)
    try:
        notebooks = _notebooks(ROOT, run=not chosen.as_stored)
        page = write(ROOT, chosen.out, notebooks, chosen.lite)
    except FedLearnError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"{page}\n")
    return 0


def _notebooks(root: Path, *, run: bool) -> dict[Path, Any]:
    lessons = sorted((root / "notebooks" / "source").glob("*/*.ipynb"))
    paths = [*lessons, *sorted((root / "notebooks" / "explorers").glob("*.ipynb"))]
    if run:
        return run_all(paths, root / "build" / "lessons")
    return {path: read(path) for path in paths}


def write(root: Path, out: Path, notebooks: Mapping[Path, Any], lite: Path) -> Path:
    """Writes the site; returns its first page.

    Raises:
        DocsError: if a link leads nowhere, or a page would ask another host.
    """
    sources = out.with_name(f"{out.name}_source")
    Assembly(root, sources, notebooks, lite).write()
    shutil.rmtree(out, ignore_errors=True)
    _build(sources, out)
    if lite.is_dir():
        shutil.copytree(lite, out / links.LITE)
    _refuse("links of the site lead nowhere", list(links.broken(out)))
    _refuse("the site asks other hosts", list(links.fetched(out)))
    return out / "index.html"


def _build(sources: Path, out: Path) -> None:
    from sphinx.application import Sphinx

    app = Sphinx(
        srcdir=sources,
        confdir=Path(__file__).parent,
        outdir=out,
        doctreedir=out.with_name(f"{out.name}_doctrees"),
        buildername="html",
        confoverrides={"html_extra_path": [str(sources / "extra")]},
        status=None,
        freshenv=True,
        warningiserror=True,
    )
    app.build()
    if app.statuscode:
        raise DocsError("the site has mistakes", do="mend what Sphinx names above")


def _refuse(what: str, lost: list[str]) -> None:
    if lost:
        raise DocsError(
            what,
            expected="addresses of pages of the site, and of their headings",
            found=f"{len(lost)} that are not",
            where="\n".join(lost),
            do="mend the link in the notebook, in the page or in the docstring",
        )


if __name__ == "__main__":
    sys.exit(main())
