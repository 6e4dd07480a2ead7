# SPDX-License-Identifier: Apache-2.0
"""The files that a learner finds in the site: where to start, lessons, explorers."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

import nbformat

from fedlearn_edu.course.badges import runs_in_browser
from fedlearn_edu.course.exercise import PATHS
from fedlearn_edu.course.lessons import LESSONS
from tools.cells import read
from tools.cells import write as write_notebook
from tools.edition import browser_release, browser_source, needs_tensorflow
from tools.release import ROOT, lesson_names, write_index

NOTE = (
    "> **This part needs an installation.** It runs TensorFlow, and there is none in a "
    "browser. Read on: nothing below depends on it."
)
_START = Path(__file__).with_name("start.md")
_LESSONS = {lesson.name: lesson for lesson in LESSONS}
_MORE = "To play with"
_EXPLORERS = ROOT / "notebooks" / "explorers" / "explorers.ipynb"


def write(kept: Path) -> Path:
    """Makes the folder `kept/contents`: every notebook that runs in a browser."""
    released, contents = kept / "release", kept / "contents"
    for folder in (released, contents):
        shutil.rmtree(folder, ignore_errors=True)
    browser_release(released)
    for path in [*released.glob("*/*.ipynb"), _EXPLORERS]:
        if runs_in_browser(notebook := read(path)):
            file = contents / path.parent.name / path.name
            write_notebook(with_notes(notebook), file)
    write_index(contents)
    lessons = {name: browser_source(name) for name in lesson_names()}
    text = start_page({**lessons, "explorers": read(_EXPLORERS)})
    (contents / "README.md").write_text(text, encoding="utf-8")
    return contents


def with_notes(notebook: Any) -> Any:
    """The notebook, with a note in place of each cell that needs TensorFlow."""
    note: Any = nbformat.v4.new_markdown_cell
    notebook.cells = [
        note(NOTE, id=cell.id) if needs_tensorflow(cell) else cell
        for cell in notebook.cells
    ]
    return notebook


def start_page(notebooks: Mapping[str, Any]) -> str:
    """What is here, what is not, and what is different here; notebooks by name."""
    here: dict[str, list[str]] = {path: [] for path in (*PATHS, _MORE)}
    not_here = []
    for name, notebook in notebooks.items():
        if runs_in_browser(notebook):
            path = _LESSONS[name].path if name in _LESSONS else _MORE
            here[path].append(_here(name, notebook))
        else:
            not_here.append(_not_here(name, notebook))
    parts = ["\n".join([f"## {path}\n", *each]) for path, each in here.items() if each]
    text = Template(_START.read_text(encoding="utf-8"))
    return text.substitute(here="\n\n".join(parts), not_here="\n".join(not_here))


def _here(name: str, notebook: Any) -> str:
    left_out = sum(map(needs_tensorflow, notebook.cells))
    cells = "1 cell, which needs" if left_out == 1 else f"{left_out} cells, which need"
    note = f" (but for {cells} an installation)" if left_out else ""
    takes = f", {_LESSONS[name].minutes} minutes" if name in _LESSONS else ""
    return f"- [{_title(name, notebook)}]({name}/{name}.ipynb){takes}{note}"


def _not_here(name: str, notebook: Any) -> str:
    return f"- {_title(name, notebook)} ({notebook.metadata['fedlearn_edu']['why']})"


def _title(name: str, notebook: Any) -> str:
    """Its first heading, after its number if it has one."""
    number, _, rest = name.partition("_")
    heading = str(notebook.cells[0].source).splitlines()[0].removeprefix("# ")
    return f"{number} {heading}" if rest else heading
