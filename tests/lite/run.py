# SPDX-License-Identifier: Apache-2.0
"""Runs notebooks inside Pyodide, cell by cell, as the kernel of the page does.

`/notebooks/cells.json` has the sources of their cells; what each showed goes to
`/notebooks/ran.json`. Between two notebooks the package and all names are forgotten.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from IPython.core.displayhook import CapturingDisplayHook
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

_WORK = Path("/notebooks")


async def main(memory: Callable[[], int]) -> None:
    ran = {}
    notebooks = json.loads((_WORK / "cells.json").read_text(encoding="utf-8"))
    for name, sources in notebooks.items():
        shell = _fresh_shell()
        begin = time.monotonic()
        cells = [await _run(shell, source) for source in sources]
        took = time.monotonic() - begin
        ran[name] = {"cells": cells, "seconds": took, "mib": memory() / 2**20}
    (_WORK / "ran.json").write_text(json.dumps(ran), encoding="utf-8")


def _fresh_shell() -> Any:
    for name in list(sys.modules):
        if name.partition(".")[0] == "fedlearn_edu":
            del sys.modules[name]
    InteractiveShell.clear_instance()
    return InteractiveShell.instance()


async def _run(shell: Any, source: str) -> dict[str, Any]:
    shown: list[Any] = []
    hook: Any = CapturingDisplayHook
    shell.display_trap.hook = hook(shell=shell, outputs=shown)
    with capture_output() as captured:
        cell = shell.transform_cell(source)
        result = await shell.run_cell_async(
            source, store_history=True, transformed_cell=cell
        )
    error = result.error_before_exec or result.error_in_exec
    return {
        "stdout": captured.stdout,
        "stderr": captured.stderr,
        "text": [each["data"].get("text/plain", "") for each in shown],
        "error": f"{type(error).__name__}: {error}" if error else None,
    }
