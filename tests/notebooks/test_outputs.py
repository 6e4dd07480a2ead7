# SPDX-License-Identifier: Apache-2.0
"""What is stored in notebooks: nothing but the outputs that nbval compares."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.architecture.repository import ROOT
from tests.notebooks.notebooks import each_notebook
from tools.cells import code_cells, is_compared, read, write
from tools.kernels import OFFLINE, closed_environment
from tools.outputs import refresh


@each_notebook
def test_stored_without_results_but_those_that_are_compared(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    for cell in code_cells(notebook):
        stored = (bool(cell.outputs), cell.execution_count)
        assert stored == ((True, 1) if is_compared(cell) else (False, None)), (
            f"{cell.id}: run `python -m tools.outputs`"
        )
        for output in cell.outputs:  # pictures would not be the same elsewhere
            text_only = output.get("name") or list(output.data)
            assert text_only in ("stdout", ["text/plain"]), cell.id
    assert notebook.metadata.kernelspec.name == "python3"
    assert set(notebook.metadata) - {"fedlearn_edu"} == {"kernelspec", "language_info"}
    assert dict(notebook.metadata.language_info) == {"name": "python"}


def _lesson(folder: Path, source: str) -> Path:
    new: Any = nbformat.v4
    cells = [
        new.new_code_cell("import ipywidgets\nipywidgets.IntSlider()", id="imports"),
        new.new_code_cell(
            source, id="number", metadata={"tags": ["nbval-check-output"]}
        ),
        new.new_code_cell("2", id="other"),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = new.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    write(notebook, folder / "lesson.ipynb")
    return folder / "lesson.ipynb"


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.thorough
def test_stored_outputs_are_compared(tmp_path: Path) -> None:
    path = _lesson(
        tmp_path, "print(1, flush=True)\nprint(round(2 / 3, 3))\nlen('five')"
    )
    metadata = read(path).metadata
    refresh(path)
    assert read(path).metadata == metadata
    [_, number, other] = read(path).cells
    assert [out.get("text") for out in number.outputs] == ["1\n0.667\n", None]
    assert number.outputs[1].data == {"text/plain": "4"}
    assert (other.outputs, other.execution_count) == ([], None)
    first = path.read_bytes()
    metadata = read(path).metadata
    refresh(path)
    assert path.read_bytes() == first
    assert _nbval(path) == 0
    path.write_text(path.read_text().replace("0.667", "0.668"))
    assert _nbval(path) == 1


def _nbval(path: Path) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "--nbval-lax", str(path)]
    with closed_environment(path.parent, path.parent):
        done = subprocess.run(
            [*command, "--nbval-current-env", f"--rootdir={path.parent}"],
            capture_output=True,
            check=False,
            cwd=path.parent,
        )
    return done.returncode


def test_network_is_closed_to_the_lessons() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [command] = re.findall(r"^LESSONS := (.*)", makefile, re.MULTILINE)
    assert f'PYTHONPATH="$(CURDIR)/{OFFLINE.relative_to(ROOT).as_posix()}"' in command
