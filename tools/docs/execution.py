# SPDX-License-Identifier: Apache-2.0
"""Runs notebooks, two at a time, on the data of this machine.

What one showed is kept, until it, the package or the data are newer than that.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import nbformat

import fedlearn_edu
from tools.cells import read, write
from tools.kernels import closed_environment, execute

_KERNELS = 2
_STILL = Path(__file__).with_name("still.py")


def run_all(paths: Sequence[Path], kept: Path) -> dict[Path, Any]:
    """The notebooks with what their cells show; nobody is reached on the way.

    Args:
        paths: The notebooks.
        kept: A folder for those that ran.

    Raises:
        CellExecutionError: if a cell fails that is not tagged `raises-exception`; the
            last notebook that was named on the way is the one.
    """
    data = Path(os.environ.get("FEDLEARN_EDU_DATA", ""))
    home = Path(os.environ.get("KERAS_HOME", Path.home() / ".keras"))
    code = Path(fedlearn_edu.__file__).parent.rglob("*.py")
    common = _newest(_STILL, *code, *data.glob("*.npz"), *home.rglob("*.npz"))
    files = {path: kept / path.name for path in paths}
    missing = [p for p in paths if _newest(files[p]) <= max(common, _newest(p))]
    # Not threads: kernels of one process that start at once may share a socket.
    spawning = get_context("spawn")
    with closed_environment(data, home), ProcessPoolExecutor(_KERNELS, spawning) as two:
        runs = two.map(_run, missing)
        for path in missing:
            print(path.name)
            write(next(runs), files[path])
    return {path: read(file) for path, file in files.items()}


def _newest(*files: Path) -> float:
    return max((file.stat().st_mtime for file in files if file.is_file()), default=0.0)


def _run(path: Path) -> Any:
    new_cell: Any = nbformat.v4.new_code_cell
    notebook = read(path)
    # In names of its own: those of the lesson stay as they are.
    still = f"exec({_STILL.read_text(encoding='utf-8')!r}, {{}})"
    notebook.cells.insert(0, new_cell(still))
    execute(notebook, path.parent)
    del notebook.cells[0]
    # Widgets cannot run in a page; their pictures are there.
    notebook.metadata.pop("widgets", None)
    return notebook
