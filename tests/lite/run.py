# SPDX-License-Identifier: Apache-2.0
"""Runs notebooks inside Pyodide, cell by cell, as the kernel of the page does.

`/notebooks/cells.json` has the sources of their cells; what each showed goes to
`/notebooks/ran.json`. Between two notebooks the package and all names are forgotten.
"""

import json
import sys
from pathlib import Path
from typing import Any

from IPython.core.displayhook import CapturingDisplayHook
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

_WORK = Path("/notebooks")


async def main() -> None:
    ran = {}
    notebooks = json.loads((_WORK / "cells.json").read_text(encoding="utf-8"))
    for name, sources in notebooks.items():
        for module in [m for m in sys.modules if m.startswith("fedlearn_edu")]:
            del sys.modules[module]
        InteractiveShell.clear_instance()
        shell = InteractiveShell.instance()
        ran[name] = [await _run(shell, source) for source in sources]
    (_WORK / "ran.json").write_text(json.dumps(ran), encoding="utf-8")


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
