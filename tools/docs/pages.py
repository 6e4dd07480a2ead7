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
from pathlib import Path
from typing import Any

import nbformat
from jinja2 import Environment, FileSystemLoader

from fedlearn_edu.course.lessons import LESSONS
from tools.cells import is_answer
from tools.lesson_table import short_table

TEMPLATES = Path(__file__).with_name("templates")
Save = Callable[[bytes], str]
"""Keeps a picture, and returns its address."""

_LESSONS = "notebooks/release"
_LINK = re.compile(r"^ *```.*?^ *```|`[^`\n]+`|\]\(\s*([^)\s]+)\s*\)", re.M | re.S)
_NAMED = re.compile(r"\]\(([\w/]+)\.md")
_HIDDEN_TESTS = re.compile(
    r"^ *### BEGIN HIDDEN TESTS.*?^ *### END HIDDEN TESTS\n?", re.M | re.S
)
_MARKERS = re.compile(r"^ *### (?:BEGIN|END) SOLUTION *\n?", re.M)
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_INLINE_PNG = re.compile(r"data:image/png;base64,([A-Za-z0-9+/=\s]+)")


def markdown(sources: Path, name: str, text: str, save: Save) -> str:
    """The Markdown of a page; `text` is what its file has."""
    if name == f"{_LESSONS}/index":
        text = _map_of_the_course()
    elif (sources / f"{name}.ipynb").is_file():
        notebook = nbformat.reads(text, 4)  # type: ignore[no-untyped-call]
        text = from_notebook(notebook, Path(name).name, save)
    elif name == "README":
        text = _front(text, sources / "docs" / "README.md")
    elif name == "docs/decisions/README":
        text += "\n\n```{toctree}\n:hidden:\n:glob:\n\n0*\n```\n"
    return _LINK.sub(lambda link: _linked(link, sources / name), text)


def _linked(match: re.Match[str], page: Path) -> str:
    """A link, to the page of a lesson or of a folder, with the anchor as Sphinx has it."""
    href = match[1] or ""
    path, _, anchor = href.partition("#")
    if not href or ":" in path:
        return match[0]
    path = path.replace("notebooks/source/", f"{_LESSONS}/")
    if path and (folder := page.parent / path).is_dir():
        inside = ("README.md", "__init__.py")
        path += next((f"/{each}" for each in inside if (folder / each).is_file()), "")
    if path.endswith(".ipynb") or not path:  # in a notebook an anchor is its heading
        anchor = re.sub(r"[^\w -]", "", anchor.lower())
    return f"]({path}{anchor and '#'}{anchor})"


def _front(readme: str, index: Path) -> str:
    """The README; guides in the order of the index of pages, if there is one."""
    title, claim, story = readme.split("\n\n", 2)
    first = LESSONS[0].name
    lite = _lite(first)
    return _filled(
        "front.md",
        title=title,
        claim=claim,
        story=story,
        start=lite or f"{_LESSONS}/{first}/{first}.html",
        says="Start lesson 00 in this tab" if lite else "Read lesson 00",
        guides=_NAMED.findall(index.read_text("utf-8")) if index.is_file() else [],
    )


def _map_of_the_course() -> str:
    table = short_table(lambda lesson: f"{lesson.name}/{lesson.name}.ipynb")
    return _filled("map.md", table=table, lessons=LESSONS)


def from_notebook(notebook: Any, name: str, save: Save) -> str:
    """The Markdown of a notebook's page."""
    is_run = any(cell.get("execution_count") for cell in notebook.cells)
    title, _, notebook.cells[0].source = notebook.cells[0].source.partition("\n")
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.source = _MARKERS.sub("", _HIDDEN_TESTS.sub("", cell.source)).rstrip()
            cell.answer = is_answer(cell)
    page = _filled(
        "lesson.md",
        title=title,
        name=name,
        lite=_lite(name),
        is_run=is_run,
        cells=notebook.cells,
    )
    return _INLINE_PNG.sub(lambda png: save(b64decode(png[1])), page)


def _lite(lesson: str) -> str:
    """Where a lesson runs in the browser, if it was built for that."""
    built = Path(os.environ.get("FEDLEARN_EDU_LITE", "")) / "files"
    if not (built / lesson / f"{lesson}.ipynb").is_file():
        return ""
    return f"lite/lab/index.html?path={lesson}/{lesson}.ipynb"


def _filled(template: str, **parts: Any) -> str:
    templates = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=False)
    templates.filters["plain"] = lambda text: escape(_ANSI.sub("", text))
    return templates.get_template(template).render(parts)
