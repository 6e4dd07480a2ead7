# SPDX-License-Identifier: Apache-2.0
"""Lessons are stored clean, keep their rhythm, and run from a clean kernel.

`make notebooks` runs them too, with nbval. Here they run with the network closed, in
the environment of a learner, and whatever reaches stderr is a failure.
"""

import asyncio
import re
import statistics
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import pytest

pytestmark = pytest.mark.notebook

SOURCE = Path(__file__).resolve().parents[2] / "notebooks" / "source"
LESSONS = sorted(SOURCE.glob("*/*.ipynb"))
NOTEBOOKS = sorted(SOURCE.parent.glob("*/*.ipynb")) + LESSONS
BLOCK_NETWORK = """
import socket as _socket
_attempts = []
def _refuse(_self, address):
    _attempts.append(address)
    raise ConnectionRefusedError(f"a lesson must not connect to {address}")
_socket.socket.connect = _socket.socket.connect_ex = _refuse
"""
LOUD_UNLESS_TOLD = ("TF_CPP_MIN_LOG_LEVEL", "CUDA_VISIBLE_DEVICES", "MPLBACKEND")

each_notebook = pytest.mark.parametrize(
    "path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS]
)

each_lesson = pytest.mark.parametrize(
    "path", LESSONS, ids=[path.stem for path in LESSONS]
)


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def lines(cell: Any) -> list[str]:
    return [line for line in cell.source.splitlines() if line.strip()]


def is_to_fail(cell: Any) -> bool:
    return "raises-exception" in cell.metadata.get("tags", [])


def test_there_are_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS if path.stem != path.parent.name] == []
    assert {"explorers", "10_federated_averaging"} <= {p.stem for p in NOTEBOOKS}


@each_notebook
def test_stored_without_results(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    for cell in code_cells(notebook):
        assert (cell.outputs, cell.execution_count) == ([], None), cell.id
    assert notebook.metadata.kernelspec.name == "python3"
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert dict(notebook.metadata.language_info) == {"name": "python"}


@each_notebook
def test_cells_have_names_that_stay(path: Path) -> None:
    """Words, not the eight random characters that editors hand out."""
    ids = [cell.id for cell in read(path).cells]
    assert len(set(ids)) == len(ids)
    named = re.compile(r"[a-z]+(-[a-z0-9]+)*")
    assert [id_ for id_ in ids if not named.fullmatch(id_)] == []


@each_lesson
def test_cells_are_small(path: Path) -> None:
    notebook = read(path)
    sizes = [len(lines(cell)) for cell in code_cells(notebook)]
    assert statistics.median(sizes) <= 5
    assert max(sizes) <= 20
    assert len(notebook.cells) <= 60
    drawing = [cell for cell in code_cells(notebook) if "viz.draw" in cell.source]
    assert len(drawing) >= 2
    assert max(len(lines(cell)) for cell in drawing) <= 5


@each_notebook
def test_imports_stand_once_at_the_top(path: Path) -> None:
    importing = [
        index
        for index, cell in enumerate(code_cells(read(path)))
        if any(re.match(r"\s*(import|from) ", line) for line in lines(cell))
    ]
    assert importing == [0]


@each_lesson
def test_every_cell_is_explained(path: Path) -> None:
    """Prose comes first, pictures are told in words, a failure is read aloud."""
    cells = read(path).cells
    assert cells[0].source.startswith("# ")
    kinds = "".join(cell.cell_type[0] for cell in cells)
    assert "ccc" not in kinds, "three code cells in a row"
    for cell, after in pairwise(cells):
        if "viz.draw" in cell.source:
            assert "In words:" in after.source, cell.id
        if is_to_fail(cell):
            assert "Read it aloud" in after.source, cell.id
    assert "## Where this lives" in cells[-1].source
    assert sum(is_to_fail(cell) for cell in code_cells(read(path))) >= 1


@each_lesson
def test_files_it_names_exist(path: Path) -> None:
    package = SOURCE.parents[1] / "fedlearn_edu"
    named = re.findall(r"`([\w/]+\.py)`", read(path).cells[-1].source)
    assert len(named) >= 5
    assert [name for name in named if not (package / name).is_file()] == []


@each_notebook
@pytest.mark.parametrize("command", [["check"], ["format", "--check"]])
def test_code_passes_the_linter(path: Path, command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *command, str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.tensorflow
@pytest.mark.slow
@pytest.mark.parametrize("data", ["digits28", "mnist"])
@each_notebook
def test_runs_from_top_to_bottom(
    path: Path,
    data: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    import matplotlib.font_manager  # noqa: F401, on a new machine it talks for once

    for name in LOUD_UNLESS_TOLD:
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path if data == "digits28" else request.getfixturevalue("mnist_folder")
    monkeypatch.setenv("FEDLEARN_EDU_DATA", str(folder))
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    notebook = run(read(path))
    for cell in code_cells(notebook):
        said = [output.text for output in cell.outputs if "text" in output]
        assert "stderr" not in [output.get("name") for output in cell.outputs], said
        failed = [output for output in cell.outputs if output.output_type == "error"]
        assert bool(failed) == is_to_fail(cell), cell.id
        if "viz.draw" in cell.source:
            assert "image/png" in cell.outputs[-1].data
    assert shown(notebook.cells[-1]) == ["[]"], "it tried to connect"
    everything = [text for cell in code_cells(notebook) for text in shown(cell)]
    is_told = any(text.startswith(f"Dataset('{data}'") for text in everything)
    assert is_told == (path in LESSONS)


def shown(cell: Any) -> list[str]:
    return [
        o.data["text/plain"] for o in cell.outputs if "text/plain" in o.get("data", {})
    ]


def run(notebook: Any) -> Any:
    """Runs it from a clean kernel that refuses connections and lists who asked."""
    from nbclient import NotebookClient

    new_cell: Any = nbformat.v4.new_code_cell
    notebook.cells.insert(0, new_cell(BLOCK_NETWORK, id="network"))
    notebook.cells.append(new_cell("_attempts", id="attempts"))
    client = NotebookClient(notebook, timeout=120, kernel_name="python3")
    asyncio.run(client.async_execute())  # `execute` would leave its event loop open
    return notebook
