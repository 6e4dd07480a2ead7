# SPDX-License-Identifier: Apache-2.0
"""The browser edition of the lessons: what is different where there is no TensorFlow.

A cell of `notebooks/browser/<lesson>.ipynb` stands there for the one with its name. A
code cell with the tag `tensorflow` has nothing in its place. And a lesson whose
metadata say `{"fedlearn_edu": {"browser": false}}` has no such edition at all.
"""

import tempfile
from pathlib import Path
from typing import Any

from fedlearn_edu.errors import counted
from tools.cells import read, runs_in_browser, write
from tools.release import ROOT, SOURCE, generate, lesson_names

BROWSER = ROOT / "notebooks" / "browser"


def needs_tensorflow(cell: Any) -> bool:
    """Whether a cell is left out where there is no TensorFlow."""
    return "tensorflow" in cell.metadata.get("tags", [])


def other_cells(lesson: str) -> list[Any]:
    """The cells that a browser has instead of the lesson's."""
    page = BROWSER / f"{lesson}.ipynb"
    return list(read(page).cells) if page.is_file() else []


def browser_source(lesson: str) -> Any:
    """A lesson with its solutions, and with the cells that a browser has instead.

    Raises:
        ValueError: if one of these cells stands for none.
    """
    notebook = read(SOURCE / lesson / f"{lesson}.ipynb")
    cells = {cell.id: cell for cell in other_cells(lesson)}
    notebook.cells = [cells.pop(cell.id, cell) for cell in notebook.cells]
    if cells:
        raise ValueError(f"{lesson}: the lesson has no cells {', '.join(cells)}")
    return notebook


def how_much_runs(lesson: str) -> str:
    """Of a lesson, in a browser; for a table."""
    notebook = browser_source(lesson)
    left_out, other = sum(map(needs_tensorflow, notebook.cells)), other_cells(lesson)
    if not runs_in_browser(notebook):
        return "no"
    with_others = f"with {len(other)} other cells" if other else "yes"
    return f"without {counted(left_out, 'cell')}" if left_out else with_others


def browser_release(into: Path) -> None:
    """Writes the release to `into`, with the cells that a browser has instead.

    What has no browser edition, cells or lessons, is still there, with its mark.
    """
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        for lesson in lesson_names(SOURCE):
            write(browser_source(lesson), source / lesson / f"{lesson}.ipynb")
        generate(source, into)
