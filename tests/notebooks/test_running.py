# SPDX-License-Identifier: Apache-2.0
"""Notebooks run from top to bottom, without a word on stderr or a connection.

With MNIST where they use data: nbval runs all of them with what is embedded. They run
in the environment of a learner, so whatever reaches stderr is a failure. The summary at
the end says what each of them took.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.notebooks.notebooks import LESSONS, NOTEBOOKS
from tools.cells import code_cells, errors, is_to_fail, on_stderr, read, what_it_says
from tools.kernels import closed_environment, execute

pytestmark = [pytest.mark.notebook, pytest.mark.slow, pytest.mark.thorough]

MAX_SECONDS = 180


def _uses_data(path: Path) -> bool:
    return any(
        'datasets.load("auto")' in cell.source for cell in code_cells(read(path))
    )


@pytest.mark.tensorflow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_from_top_to_bottom(
    path: Path,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    record_property: Callable[[str, object], None],
) -> None:
    import matplotlib.font_manager  # noqa: F401, on a new machine it talks for once

    data = "mnist" if _uses_data(path) else "digits28"
    folder = tmp_path if data == "digits28" else request.getfixturevalue("mnist_folder")
    with closed_environment(folder, tmp_path):
        done = execute(read(path), tmp_path, allow_errors=True)
    took = f"{done.seconds:6.1f} s  {path.stem} on {data}"
    record_property("took", took)
    for cell in code_cells(done.notebook):
        assert not on_stderr(cell), f"cell {cell.id} prints on stderr"
        assert bool(errors(cell)) == is_to_fail(cell), what_it_says(cell)
        if "viz.draw" in cell.source:
            assert "image/png" in cell.outputs[-1].data
    assert done.attempts == [], "it tried to connect"
    assert done.seconds < MAX_SECONDS, took
    if path in LESSONS and _uses_data(path):
        said = " ".join(what_it_says(cell) for cell in code_cells(done.notebook))
        assert data in said, "a lesson says which data it has found"


def _notebook(*sources: str) -> Any:
    new: Any = nbformat.v4
    cells = [new.new_code_cell(source) for source in sources]
    return new.new_notebook(cells=cells)


def test_network_is_closed_for_notebooks(tmp_path: Path) -> None:
    notebook = _notebook(
        "import socket, urllib.request\nsocket.create_connection(('192.0.2.1', 80))",
        "urllib.request.urlopen('http://example.org/mnist.npz')",
        "socket.socket(socket.AF_INET6).connect_ex(('2001:db8::1', 80))",
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(server.getsockname()).close()",
    )
    with closed_environment(tmp_path, tmp_path):
        done = execute(notebook, tmp_path, allow_errors=True)
    *refused, allowed = code_cells(done.notebook)
    assert all("the network is closed in tests" in what_it_says(c) for c in refused)
    assert not errors(allowed), what_it_says(allowed)
    assert done.attempts == ["192.0.2.1", "example.org", "('2001:db8::1', 80)"]
