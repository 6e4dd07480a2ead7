# SPDX-License-Identifier: Apache-2.0
"""Runs notebooks, two at a time, each from a clean kernel of this Python."""

import asyncio
import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nbformat

from fedlearn_edu.errors import FedLearnError

_KERNELS = 2
_CELL_LIMIT_S = 300


class BookError(FedLearnError, RuntimeError):
    """A lesson does not run, or a page leads nowhere; `where` says which."""


def run_all(paths: Sequence[Path]) -> dict[Path, Any]:
    """The notebooks with what their cells show.

    Raises:
        BookError: if a cell fails that is not tagged `raises-exception`.
    """
    # A learner's progress is nobody else's.
    os.environ["FEDLEARN_EDU_PROGRESS"] = "off"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with ThreadPoolExecutor(_KERNELS) as kernels:
        return dict(zip(paths, kernels.map(run, paths), strict=True))


def run(path: Path) -> Any:
    """The notebook with what its cells show."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    read: Any = nbformat.read
    notebook = read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=_CELL_LIMIT_S,
        kernel_name="python3",
        store_widget_state=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        # What a kernel says of itself is not for readers.
        asyncio.run(client.async_execute(stderr=subprocess.DEVNULL))
    except (CellExecutionError, CellTimeoutError) as error:
        told = str(error)
        if isinstance(error, CellExecutionError):
            told = f"{error.ename}: {error.evalue}"
        raise BookError(
            "a lesson does not run",
            expected="every cell runs, but those tagged raises-exception",
            found=told,
            where=f"{path.name}, {_failed(notebook)}",
            do="open it in JupyterLab, restart the kernel and run all cells",
        ) from error
    return notebook


def _failed(notebook: Any) -> str:
    """The last cell that was begun."""
    begun = [c.id for c in notebook.cells if c.get("execution_count")]
    return f"cell {begun[-1]}" if begun else "first cell"
