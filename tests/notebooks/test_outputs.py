# SPDX-License-Identifier: Apache-2.0
"""What is stored in notebooks: nothing but the outputs that nbval compares."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.architecture.repository import ROOT
from tests.notebooks.notebooks import each_notebook
from tools.cells import code_cells, is_compared, read, write
from tools.kernels import OFFLINE
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


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.thorough
def test_what_is_compared_is_stored_and_stored_again_the_same(tmp_path: Path) -> None:
    new: Any = nbformat.v4
    printing = "print(1, flush=True)\nprint(round(2 / 3, 3))\nlen('five')"
    compared = {"tags": ["nbval-check-output"]}
    cells = [
        new.new_code_cell("import ipywidgets\nipywidgets.IntSlider()"),
        new.new_code_cell(printing, metadata=compared),
    ]
    path = tmp_path / "lesson.ipynb"
    write(new.new_notebook(cells=cells), path)
    refresh(path)
    [slider, number] = read(path).cells
    assert (slider.outputs, slider.execution_count) == ([], None)
    assert [out.get("text") for out in number.outputs] == ["1\n0.667\n", None]
    assert number.outputs[1].data == {"text/plain": "4"}
    assert "widgets" not in read(path).metadata
    first = path.read_bytes()
    refresh(path)
    assert path.read_bytes() == first


def test_network_is_closed_to_the_lessons() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [command] = re.findall(r"^LESSONS := (.*)", makefile, re.MULTILINE)
    assert f'PYTHONPATH="$(CURDIR)/{OFFLINE.relative_to(ROOT).as_posix()}"' in command
