# SPDX-License-Identifier: Apache-2.0
"""Every lesson of the site, with its solutions, in Pyodide as it is in the page."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from fedlearn_edu.course.badges import runs_in_browser
from tests.lite.node import Ran, run_notebooks
from tools.cells import code_cells, is_compared, is_to_fail
from tools.edition import browser_source, needs_tensorflow
from tools.release import lesson_names

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

LESSONS = [name for name in lesson_names() if runs_in_browser(browser_source(name))]
LONG = 3  # the last ones train, and take as long as all others together

PROBES = {
    "a leaf that sleeps": """
import time
import numpy as np
import fedlearn_edu as fl

@fl.np_computation(np.float32)
def slow(x):
    time.sleep(0.2)
    return x

before = time.monotonic()
assert slow(1.0) == 1.0
assert time.monotonic() - before > 0.15
""",
    "an answer that never ends": """
from fedlearn_edu.course.judging import TookTooLongError, time_limit

@fl.np_computation(np.float32, result=np.float32)  # (or it would be tried at once)
def endless(x):
    while True:
        pass

begin = time.monotonic()
try:
    with time_limit(0.3):
        endless(1.0)
    ended = ""
except TookTooLongError as error:
    ended = str(error)
assert ended and time.monotonic() - begin < 5, ended
""",
    "the kernel goes on": "assert slow(2.0) == 2.0",
}


def cells_of(lesson: str) -> list[Any]:
    cells = code_cells(browser_source(lesson))
    return [cell for cell in cells if not needs_tensorflow(cell)]


@pytest.fixture(scope="module")
def ran(loaded: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    """All lessons, in two Pyodides at once."""
    sources = {name: [c.source for c in cells_of(name)] for name in LESSONS}
    work = tmp_path_factory.mktemp("pyodide")

    def run(names: list[str]) -> dict[str, Ran]:
        notebooks = {name: sources[name] for name in names}
        return run_notebooks(loaded, work / names[0], notebooks)

    with ThreadPoolExecutor() as pool:
        short, long = pool.map(run, (LESSONS[:-LONG], LESSONS[-LONG:]))
    return short | long


@pytest.mark.parametrize("lesson", LESSONS)
def test_lesson_runs_as_it_does_elsewhere(
    ran: dict[str, Ran], lesson: str, record_property: Any
) -> None:
    done = ran[lesson]
    took = f"lite, {lesson:<34} {done.seconds:5.1f} s, {done.mib:4.0f} MiB"
    record_property("took", took)
    for cell, showed in zip(cells_of(lesson), done.cells, strict=True):
        assert bool(showed["error"]) == is_to_fail(cell), (cell.id, showed["error"])
        assert showed["stderr"] == "", cell.id
        if is_compared(cell):
            assert (showed["stdout"], showed["text"]) == stored(cell), cell.id


def stored(cell: Any) -> tuple[str, list[str]]:
    """What the cell prints, and the texts it shows, where TensorFlow is installed."""
    printed = "".join(out.text for out in cell.outputs if "name" in out)
    return printed, [out.data["text/plain"] for out in cell.outputs if "data" in out]


def test_a_leaf_sleeps_and_the_clock_stops_what_never_ends(
    loaded: Path, tmp_path: Path
) -> None:
    probes = {"probes": list(PROBES.values())}
    cells = run_notebooks(loaded, tmp_path, probes)["probes"].cells
    assert [cell["error"] for cell in cells] == [None] * len(PROBES)
