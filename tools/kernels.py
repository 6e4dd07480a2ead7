# SPDX-License-Identifier: Apache-2.0
"""Running notebooks from a clean kernel: offline, on chosen data, measured."""

import asyncio
import atexit
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import nbformat

OFFLINE = Path(__file__).parent / "offline"
# A learner has none of these set; the tests themselves do.
_ONLY_IN_TESTS = ("TF_CPP_MIN_LOG_LEVEL", "CUDA_VISIBLE_DEVICES", "MPLBACKEND")

_MEASURE = """
import sitecustomize
import time
print(time.process_time(), *sitecustomize.attempts, sep="\\n", end="")
"""


@dataclass(frozen=True)
class Execution:
    """A notebook that has run, its processor time, and whom it asked."""

    notebook: Any
    seconds: float
    attempts: list[str]


@contextmanager
def closed_environment(data: Path, home: Path) -> Iterator[None]:
    """Kernels started inside see only `data`, reach nobody and keep no progress."""
    paths = [str(OFFLINE), *filter(None, [os.environ.get("PYTHONPATH")])]
    changed = {
        "PYTHONPATH": os.pathsep.join(paths),
        "FEDLEARN_EDU_DATA": str(data),
        "FEDLEARN_EDU_PROGRESS": "off",
        "KERAS_HOME": str(home),
        "no_proxy": "*",  # a proxy on this machine would be a way out
    }
    with mock.patch.dict(os.environ, changed):
        for name in _ONLY_IN_TESTS:
            os.environ.pop(name, None)
        yield


@cache
def own_sockets() -> dict[str, str]:
    """How a kernel listens: kernels that start at once may draw the same TCP ports."""
    if os.name == "nt":
        return {}
    folder = tempfile.TemporaryDirectory(prefix="kernels")  # a socket's path is short
    atexit.register(folder.cleanup)
    return {"transport": "ipc", "ip": os.path.join(folder.name, "kernel")}


def execute(notebook: Any, folder: Path, *, allow_errors: bool = False) -> Execution:
    """Runs all cells in `folder`; CellExecutionError if one fails without its tag."""
    from nbclient import NotebookClient
    from traitlets.config import Config

    new_cell: Any = nbformat.v4.new_code_cell
    notebook.cells.append(new_cell(_MEASURE, id="measure"))
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        allow_errors=allow_errors,
        config=Config(KernelManager=own_sockets()),
        resources={"metadata": {"path": str(folder)}},
    )
    asyncio.run(client.async_execute())  # `execute` would leave its event loop open
    printed = "".join(part.text for part in notebook.cells.pop().outputs)  # a line may
    took, *attempts = printed.splitlines()  # come in two messages
    return Execution(notebook, float(took), attempts)
