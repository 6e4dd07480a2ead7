# SPDX-License-Identifier: Apache-2.0
"""What `make dist` takes for a success; the whole trial is run by hand."""

import sys
from pathlib import Path

import nbformat
import pytest

from tools import dist
from tools.cells import write

new = nbformat.v4


def _notebook(said: str, folder: Path) -> Path:
    output = new.new_output("error", ename="CheckFailed", evalue=said)  # type: ignore[no-untyped-call]
    cell = new.new_code_cell("check.mean(mean)", outputs=[output])  # type: ignore[no-untyped-call]
    notebook = new.new_notebook(cells=[cell])  # type: ignore[no-untyped-call]
    write(notebook, folder / "lesson.ipynb")
    return folder / "lesson.ipynb"


@pytest.mark.parametrize("answered", [False, True])
def test_lesson_has_to_say_whether_it_is_answered(
    answered: bool, tmp_path: Path
) -> None:
    said = "3 of 3" if answered else "mean is not answered yet"
    notebook = _notebook(said, tmp_path)
    dist.check_outputs(notebook, answered=answered)
    with pytest.raises(dist.TrialError, match="does not show what it should"):
        dist.check_outputs(notebook, answered=not answered)


def test_interpreter_is_of_the_version_or_not_there() -> None:
    here = "{}.{}".format(*sys.version_info)
    assert dist.interpreter(here) is not None
    assert dist.interpreter("2.6") is None


def test_step_that_fails_is_told_with_its_output(tmp_path: Path) -> None:
    assert dist._timed(tmp_path, sys.executable, "-c", "").endswith(" -c ")
    with pytest.raises(dist.TrialError, match="a step of the trial failed") as caught:
        dist._timed(tmp_path, sys.executable, "-c", "import not_installed")
    assert "No module named 'not_installed'" in str(caught.value)
