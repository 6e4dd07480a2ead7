# SPDX-License-Identifier: Apache-2.0
"""The files that a learner finds in the site: where to start, lessons, explorers."""

import re
import shutil
from pathlib import Path
from string import Template
from typing import Any

import nbformat

from fedlearn_edu.course.lessons import load_all
from tools.cells import read, runs_in_browser
from tools.cells import write as write_notebook
from tools.edition import browser_release, browser_source, needs_tensorflow
from tools.lesson_table import short_table
from tools.release import write_index

NOTE = (
    "> **This part needs an installation.** It runs TensorFlow, and there is none in a "
    "browser. Read on: nothing below depends on it."
)
_START = Path(__file__).with_name("start.md")
_INSTALL = re.compile(r"\n+No `fedlearn_edu`\? See \*Install\*[^\n]*")


def write(kept: Path) -> Path:
    """Makes the folder `kept/contents`: every notebook that runs in a browser."""
    released, contents = kept / "release", kept / "contents"
    for folder in (released, contents):
        shutil.rmtree(folder, ignore_errors=True)
    browser_release(released)
    for path in released.rglob("*.ipynb"):
        if runs_in_browser(notebook := read(path)):
            write_notebook(
                for_a_browser(notebook), contents / path.relative_to(released)
            )
    write_index(contents)  # its links lead to what is here
    (contents / "README.md").write_text(start_page(), encoding="utf-8")
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


def start_page() -> str:
    """The table of lessons, with a link to those that are here."""
    table = short_table().replace("notebooks/release/", "")
    for lesson in load_all():
        notebook = browser_source(lesson.name)
        if not runs_in_browser(notebook):
            why = (
                f"{lesson.title} (not here: {notebook.metadata['fedlearn_edu']['why']})"
            )
            table = table.replace(f"[{lesson.title}]({lesson.file})", why)
    text = Template(_START.read_text(encoding="utf-8"))
    return text.substitute(lessons=table)
