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


def refresh(path: Path) -> None:
    """Runs a lesson on the embedded digits, and stores what cells print to compare."""
    join: Any = CoalesceStreamsPreprocessor
    notebook = read(path)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with closed_environment(folder, folder):
            ran = execute(read(path), folder).notebook
    for cell, done in zip(code_cells(notebook), code_cells(ran), strict=True):
        cell.outputs, cell.execution_count = [], None
        if is_compared(cell):
            cell.outputs = join().preprocess_cell(done, {}, 0)[0].outputs
            cell.execution_count = 1  # nbval skips cells that have none
            for output in cell.outputs:
                if "execution_count" in output:
                    output.execution_count = 1
    write(notebook, path)


if __name__ == "__main__":
    for lesson in lesson_names():
        if lesson.startswith(tuple(sys.argv[1:]) or ("",)):
            refresh(SOURCE / lesson / f"{lesson}.ipynb")
            print(lesson)
