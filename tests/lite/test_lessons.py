# SPDX-License-Identifier: Apache-2.0
"""Every lesson of the site, with its solutions, in real Pyodide without a browser."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE_S
from tools.cells import code_cells, is_compared, is_to_fail, runs_in_browser
from tools.edition import browser_source, needs_tensorflow
from tools.release import lesson_names

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

HERE = Path(__file__).parent
LESSONS = [name for name in lesson_names() if runs_in_browser(browser_source(name))]
LONG = 3  # the last ones train, and take as long as all others together
PROBE = """
import time
import numpy as np
import fedlearn_edu as fl
from fedlearn_edu.course.judging import TookTooLongError, time_limit

@fl.np_computation(np.float32, result=np.float32)  # (or it would be tried at once)
def sleepy(x):
    time.sleep(0.2)
    while x > 1:
        pass
    return x

begin = time.monotonic()
sleepy(1.0)
assert 0.15 < time.monotonic() - begin
try:
    with time_limit(0.3):
        sleepy(2.0)
    assert False, "it never ended"
except TookTooLongError:
    assert time.monotonic() - begin < 5
sleepy(1.0)  # the kernel goes on
"""


def in_pyodide(kernel: Path, work: Path, notebooks: Mapping[str, list[str]]) -> Any:
    """What the cells of notebooks show in a new Pyodide, under Playwright's Node."""
    import playwright

    work.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "run.py", work)
    (work / "cells.json").write_text(json.dumps(notebooks), encoding="utf-8")
    node = next((Path(playwright.__file__).parent / "driver").glob("node*"))
    command = [node, HERE / "pyodide.mjs", kernel, work]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return json.loads((work / "ran.json").read_text(encoding="utf-8"))


def cells_of(lesson: str) -> list[Any]:
    cells = code_cells(browser_source(lesson))
    return [cell for cell in cells if not needs_tensorflow(cell)]


@pytest.fixture(scope="module")
def ran(loaded: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """All lessons, in two Pyodides at once."""
    sources = {name: [c.source for c in cells_of(name)] for name in LESSONS}
    work = tmp_path_factory.mktemp("pyodide")

    def run(names: list[str]) -> Any:
        return in_pyodide(
            loaded, work / names[0], {name: sources[name] for name in names}
        )

    with ThreadPoolExecutor() as pool:
        short, long = pool.map(run, (LESSONS[:-LONG], LESSONS[-LONG:]))
    return short | long


@pytest.mark.parametrize("lesson", LESSONS)
def test_lesson_runs_as_it_does_elsewhere(ran: Any, lesson: str) -> None:
    for cell, showed in zip(cells_of(lesson), ran[lesson], strict=True):
        assert bool(showed["error"]) == is_to_fail(cell), (cell.id, showed["error"])
        assert showed["stderr"] == "", cell.id
        if is_compared(cell):  # with what is stored, where TensorFlow is installed
            printed = "".join(out.text for out in cell.outputs if "name" in out)
            texts = [o.data["text/plain"] for o in cell.outputs if "data" in o]
            assert (showed["stdout"], showed["text"]) == (printed, texts), cell.id


def test_a_leaf_sleeps_and_the_clock_stops_what_never_ends(
    loaded: Path, tmp_path: Path
) -> None:
    [[probed]] = in_pyodide(loaded, tmp_path, {"probe": [PROBE]}).values()
    assert probed["error"] is None
