# SPDX-License-Identifier: Apache-2.0
"""Run the lessons and store the few outputs that tests compare.

Lessons are stored without outputs, with one exception: cells with the tag
`nbval-check-output` keep what they print, for the embedded digits. `python -m
tools.outputs 04` does it for one lesson; read the diff before you commit it.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

from nbconvert.preprocessors import CoalesceStreamsPreprocessor

from tools.cells import code_cells, is_compared, read, write
from tools.kernels import closed_environment, execute
from tools.release import SOURCE, lesson_names


def keep_compared_outputs(notebook: Any, done: Any) -> None:
    """Takes from the notebook that is `done` the text of cells that are compared."""
    join: Any = CoalesceStreamsPreprocessor
    for cell, ran in zip(code_cells(notebook), code_cells(done), strict=True):
        outputs, count = [], None
        if is_compared(cell):
            joined, _ = join().preprocess_cell(ran, {}, 0)
            outputs = [_plain(output, cell.id) for output in joined.outputs]
            count = 1  # nbval skips cells that have none
        cell.outputs, cell.execution_count = outputs, count


def _plain(output: Any, name: str) -> Any:
    shown = sorted(output.get("data", {}))
    if output.get("name") != "stdout" and shown != ["text/plain"]:
        raise ValueError(
            f"cell {name!r} is to be compared, so it may print or show plain text "
            f"only; it also has {output.get('name') or shown}"
        )
    if "execution_count" in output:
        output.execution_count = 1
    return output


def refresh(path: Path) -> None:
    """Runs a lesson on the embedded digits, and stores it with what is compared."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with closed_environment(folder, folder):
            done = execute(read(path), folder)
    notebook = read(path)
    keep_compared_outputs(notebook, done.notebook)
    write(notebook, path)


if __name__ == "__main__":
    for lesson in lesson_names():
        if lesson.startswith(tuple(sys.argv[1:]) or ("",)):
            refresh(SOURCE / lesson / f"{lesson}.ipynb")
            print(lesson)
