# SPDX-License-Identifier: Apache-2.0
"""Notebooks in real Pyodide, without a browser: under the Node of Playwright."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE_S

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Ran:
    """What the cells of a notebook showed, what they took, and the memory then."""

    cells: list[dict[str, Any]]
    seconds: float
    mib: float


def run_notebooks(
    kernel: Path, work: Path, notebooks: Mapping[str, list[str]]
) -> dict[str, Ran]:
    """Runs the cells of notebooks in a new Pyodide that loads the files of `kernel`."""
    import playwright

    work.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "run.py", work)
    (work / "cells.json").write_text(json.dumps(notebooks), encoding="utf-8")
    node = next((Path(playwright.__file__).parent / "driver").glob("node*"))
    command = [node, HERE / "pyodide.mjs", kernel, work]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    ran = json.loads((work / "ran.json").read_text(encoding="utf-8"))
    return {name: Ran(**showed) for name, showed in ran.items()}
