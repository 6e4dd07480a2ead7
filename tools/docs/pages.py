# SPDX-License-Identifier: Apache-2.0
"""What a page of the site has that its file has not: outputs, ways in, lists of pages.

Sphinx asks for the Markdown of each file; what is added to it is in `templates`.
Solutions of a lesson are folded, and checks that a learner does not see are left out.
What cells showed is HTML already; its pictures become files.
"""

import os
import re
from base64 import b64decode
from collections.abc import Callable
from html import escape
from os.path import relpath
from pathlib import Path
from typing import Any

import nbformat
from jinja2 import Environment, FileSystemLoader

from fedlearn_edu.viz import explore_mean
from tools.cells import code_cells, is_answer, read
from tools.docs.still import still

TEMPLATES = Path(__file__).with_name("templates")
Save = Callable[[bytes], str]
"""Keeps a picture, and returns its address."""

linked_code: set[str] = set()
"""Modules of the package that a page leads to: they need pages, too."""

_LESSONS, _PACKAGE = "notebooks/release/", "fedlearn_edu"
_LINK = re.compile(r"^ *```.*?^ *```|`[^`\n]+`|\]\(\s*([^)\s]+)\s*\)", re.M | re.S)
_NOTEBOOKS = re.compile("notebooks/(source|explorers)/")
_NAMED = re.compile(r"\]\(([\w/]+)\.md")
_HIDDEN_TESTS = re.compile(
    r"^ *### BEGIN HIDDEN TESTS.*?^ *### END HIDDEN TESTS\n?", re.M | re.S
)
_MARKERS = re.compile(r"^ *### (?:BEGIN|END) SOLUTION *\n?", re.M)
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_INLINE_PNG = re.compile(r"data:image/png;base64,([A-Za-z0-9+/=\s]+)")


def markdown(sources: Path, name: str, text: str, save: Save) -> str:
    """The Markdown of a page; `text` is what its file has."""
    if (sources / f"{name}.ipynb").is_file():
        notebook = nbformat.reads(text, 4)  # type: ignore[no-untyped-call]
        text = from_notebook(notebook, name, save)
    elif name == "README":
        index = sources / "docs" / "README.md"
        guides = _NAMED.findall(index.read_text("utf-8")) if index.is_file() else []
        moves = still(explore_mean([18.0, 21.0, 19.0, 24.0, 23.0], weights=[1.0] * 5))
        parts = {"guides": guides, "lite": _lite("00_why"), "moves": moves.data}
        text = _filled("front.jinja", text=text, **parts)
    elif name == "docs/decisions/README":
        text += "\n\n```{toctree}\n:hidden:\n:glob:\n\n0*\n```\n"
    return _LINK.sub(lambda link: _linked(link, sources / name, sources), text)


def _linked(match: re.Match[str], page: Path, sources: Path) -> str:
    """A link as Sphinx reads it: to a lesson that ran, a page of a folder, or code."""
    href = match[1] or ""
    path, _, anchor = href.partition("#")
    if not href or ":" in path:
        return match[0]
    path = _NOTEBOOKS.sub(_LESSONS, path)
    there = (page.parent / path).resolve()
    if path and there.is_dir():
        inside = (there / "README.md", there / "__init__.py")
        there = next(filter(Path.is_file, inside), there)
        path = relpath(there, page.parent)
    if there.suffix == ".py" and there.is_file() and _PACKAGE in there.parts:
        code = str(there.relative_to(sources).with_suffix("")).removesuffix("/__init__")
        linked_code.add(code.replace("/", "."))
        return (
            f"]({relpath(sources / '_modules' / code, page.parent)}.html){{.external}}"
        )
    if anchor.startswith("cell-id="):  # where JupyterLab goes, too, as it opens one
        anchor = _heading(there, anchor.removeprefix("cell-id="))
    if path.endswith(".ipynb") or not path:  # in a notebook an anchor is its heading
        anchor = re.sub(r"[^\w -]", "", anchor.lower())
    return f"]({path}{anchor and '#'}{anchor})"


def _heading(notebook: Path, cell: str) -> str:
    (found,) = (each.source for each in read(notebook).cells if each.id == cell)
    return str(found).splitlines()[0].lstrip("# ").replace(" ", "-")


def from_notebook(notebook: Any, name: str, save: Save) -> str:
    """The Markdown of a notebook's page."""
    code = [cell for cell in code_cells(notebook) if cell.source]
    is_run = all(cell.execution_count or cell.outputs for cell in code)
    for cell in code:
        cell.source = _MARKERS.sub("", _HIDDEN_TESTS.sub("", cell.source)).rstrip()
        cell.answer = is_answer(cell)
    stem, up = Path(name).name, "../" * name.count("/")
    filled = {"name": stem, "lite": _lite(stem), "is_run": is_run, "up": up}
    page = _filled("lesson.jinja", cells=notebook.cells, **filled)
    return _INLINE_PNG.sub(lambda png: save(b64decode(png[1])), page)


def _lite(lesson: str) -> str:
    """Where a lesson runs in the browser, if it was built for that."""
    built = Path(os.environ.get("FEDLEARN_EDU_LITE", "")) / "files"
    found = [file.relative_to(built) for file in built.rglob(f"{lesson}.ipynb")]
    return f"lite/lab/index.html?path={found[0].as_posix()}" if found else ""


def _filled(template: str, **parts: Any) -> str:
    templates = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=False)
    templates.filters["plain"] = lambda text: escape(_ANSI.sub("", text))
    return templates.get_template(template).render(parts)
