# SPDX-License-Identifier: Apache-2.0
"""The files that a learner finds in the site: where to start, lessons, explorers."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

import nbformat

from fedlearn_edu.course.badges import runs_in_browser
from fedlearn_edu.course.exercise import PATHS
from fedlearn_edu.course.lessons import LESSONS
from fedlearn_edu.errors import counted
from tools.cells import read
from tools.cells import write as write_notebook
from tools.edition import browser_release, browser_source, needs_tensorflow
from tools.release import EXPLORERS, lesson_names, write_index

NOTE = (
    "> **This part needs an installation.** It runs TensorFlow, and there is none in a "
    "browser. Read on: nothing below depends on it."
)
_START = Path(__file__).with_name("start.md")
_LESSONS = {lesson.name: lesson for lesson in LESSONS}
_MORE = "To play with"
_INSTALL = re.compile(r"\n+No `fedlearn_edu`\? See \*Install\*[^\n]*")


def write(kept: Path) -> Path:
    """Makes the folder `kept/contents`: every notebook that runs in a browser."""
    released, contents = kept / "release", kept / "contents"
    for folder in (released, contents):
        shutil.rmtree(folder, ignore_errors=True)
    browser_release(released)
    write_index(released)
    for path in released.rglob("*.ipynb"):
        if runs_in_browser(notebook := read(path)):
            write_notebook(
                for_a_browser(notebook), contents / path.relative_to(released)
            )
    lessons = {name: browser_source(name) for name in lesson_names()}
    text = start_page({**lessons, EXPLORERS.stem: read(EXPLORERS)})
    (contents / "README.md").write_text(text, encoding="utf-8")
    return contents


def for_a_browser(notebook: Any) -> Any:
    """The notebook, with a note in place of each cell that needs TensorFlow.

    Without the line that says how to install what is here.
    """
    note: Any = nbformat.v4.new_markdown_cell
    notebook.cells = [
        note(NOTE, id=cell.id) if needs_tensorflow(cell) else cell
        for cell in notebook.cells
    ]
    notebook.cells[0].source = _INSTALL.sub("", notebook.cells[0].source)
    return notebook


def start_page(notebooks: Mapping[str, Any]) -> str:
    """What is here, what is not, and what is different here; notebooks by name."""
    here: dict[str, list[str]] = {path: [] for path in (*PATHS, _MORE)}
    not_here = []
    for name, notebook in notebooks.items():
        title = _title(name, notebook)
        if not runs_in_browser(notebook):
            not_here.append(f"- {title} ({notebook.metadata['fedlearn_edu']['why']})")
            continue
        lesson, count = _LESSONS.get(name), sum(map(needs_tensorflow, notebook.cells))
        file = lesson.file if lesson else f"{name}.ipynb"
        takes = f", {lesson.minutes} minutes" if lesson else ""
        but = f", without {counted(count, 'cell')}" * bool(count)
        here[lesson.path if lesson else _MORE].append(
            f"- [{title}]({file}){takes}{but}"
        )
    parts = ["\n".join([f"## {path}\n", *each]) for path, each in here.items() if each]
    text = Template(_START.read_text(encoding="utf-8"))
    return text.substitute(here="\n\n".join(parts), not_here="\n".join(not_here))


def _title(name: str, notebook: Any) -> str:
    """Its first heading, after its number if it has one."""
    number, _, rest = name.partition("_")
    heading = str(notebook.cells[0].source).splitlines()[0].removeprefix("# ")
    return f"{number} {heading}" if rest else heading
