# SPDX-License-Identifier: Apache-2.0
"""Run the lessons and store the few outputs that `make notebooks` compares.

Lessons are stored without outputs, with one exception: cells with the tag
`nbval-check-output` keep what they print, for the embedded digits. `make outputs` runs
this, `python -m tools.outputs 04` one lesson; read the diff before you commit it.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.cells import code_cells, is_compared, read, write
from tools.kernels import closed_environment, execute
from tools.release import SOURCE, lesson_names


def keep_compared_outputs(notebook: Any, done: Any) -> None:
    """Takes from the notebook that is `done` the text of cells that are compared."""
    for cell, ran in zip(code_cells(notebook), code_cells(done), strict=True):
        if is_compared(cell):
            plain = [_plain(output, cell.id) for output in ran.outputs]
            cell.outputs = _joined(plain)
            cell.execution_count = 1  # nbval skips cells that have none
        else:
            cell.outputs, cell.execution_count = [], None


def _joined(outputs: list[Any]) -> list[Any]:
    """A kernel may send what one cell prints in several parts, or in one."""
    joined: list[Any] = []
    for output in outputs:
        if joined and "name" in output and "name" in joined[-1]:
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def _plain(output: Any, name: str) -> Any:
    is_text = output.get("name") == "stdout" or set(output.get("data", {})) == {
        "text/plain"
    }
    if not is_text:
        raise ValueError(
            f"cell {name!r} is to be compared, so it may print or show plain text "
            f"only; it also has {output.get('name') or sorted(output.get('data', {}))}"
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


def main(names: list[str]) -> None:
    for lesson in lesson_names():
        path = SOURCE / lesson / f"{lesson}.ipynb"
        compared = sum(map(is_compared, code_cells(read(path))))
        if compared and (not names or lesson.startswith(tuple(names))):
            refresh(path)
            print(f"{lesson}: {compared} outputs stored")


if __name__ == "__main__":
    main(sys.argv[1:])
