# SPDX-License-Identifier: Apache-2.0
"""Runs notebooks for the book, two at a time, on the data of this machine."""

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import nbformat

from fedlearn_edu.errors import FedLearnError
from tools.cells import read
from tools.kernels import closed_environment, execute

_KERNELS = 2
_STILL = Path(__file__).with_name("still.py")


class BookError(FedLearnError, RuntimeError):
    """A lesson does not run, or a page leads nowhere; `where` says which."""


def run_all(paths: Sequence[Path]) -> dict[Path, Any]:
    """The notebooks with what their cells show; nobody is reached on the way.

    Raises:
        BookError: if a cell fails that is not tagged `raises-exception`.
    """
    data = Path(os.environ.get("FEDLEARN_EDU_DATA", ""))
    home = Path(os.environ.get("KERAS_HOME", Path.home() / ".keras"))
    # Not threads: kernels of one process that start at once may share a socket.
    spawning = get_context("spawn")
    with closed_environment(data, home), ProcessPoolExecutor(_KERNELS, spawning) as two:
        return dict(zip(paths, two.map(_run, paths), strict=True))


def _run(path: Path) -> Any:
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    new_cell: Any = nbformat.v4.new_code_cell
    notebook = read(path)
    # In names of its own: those of the lesson stay as they are.
    still = f"exec({_STILL.read_text(encoding='utf-8')!r}, {{}})"
    notebook.cells.insert(0, new_cell(still))
    try:
        execute(notebook, path.parent)
    except (CellExecutionError, CellTimeoutError) as error:
        told = str(error)
        if isinstance(error, CellExecutionError):
            told = f"{error.ename}: {error.evalue}"
        raise BookError(
            "a lesson does not run",
            expected="every cell runs, but those tagged raises-exception",
            found=told,
            where=f"{path.name}, {_last_begun(notebook)}",
            do="open it in JupyterLab, restart the kernel and run all cells",
        ) from error
    del notebook.cells[0]
    # Widgets cannot run in a page; their pictures are there.
    notebook.metadata.pop("widgets", None)
    return notebook


def _last_begun(notebook: Any) -> str:
    begun = [c.id for c in notebook.cells if c.get("execution_count")]
    return f"cell {begun[-1]}" if begun else "first cell"
