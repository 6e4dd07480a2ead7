# SPDX-License-Identifier: Apache-2.0
"""A program that ends with an error of the package prints nothing of its inside."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import fedlearn_edu

HEAD = """
import numpy as np
import fedlearn_edu as fl
"""
DEFINITION = """
@fl.federated_computation(fl.type_at_clients(np.int32))
def mean(x):
    return fl.federated_mean(x)
"""
RUN = """
mean = fl.federated_computation(fl.federated_mean, fl.type_at_clients(np.float32))
mean([])
"""
OWN = """
@fl.np_computation(np.int32)
def ratio(x):
    return np.int32(6 // int(x))

@fl.federated_computation(fl.type_at_clients(np.int32))
def ratios(x):
    return fl.federated_map(ratio, x)

ratios([1, 2, 0])
"""


def printed(program: str, folder: Path, **environment: str) -> str:
    script = folder / "script.py"
    script.write_text(HEAD + program, encoding="utf-8")
    root = str(Path(fedlearn_edu.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, str(script)],
        env={"PYTHONPATH": root, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert not done.stdout
    return done.stderr


@pytest.mark.parametrize(
    ("program", "line", "message"),
    [
        (DEFINITION, "return fl.federated_mean(x)", "only floating-point values"),
        (RUN, "mean([])", "the mean over no clients does not exist"),
    ],
    ids=["definition", "run"],
)
def test_script_ends_with_its_own_line_and_the_message(
    program: str, line: str, message: str, tmp_path: Path
) -> None:
    shown = printed(program, tmp_path)
    files = set(re.findall(r'File "(.*?)"', shown))
    assert files == {str(tmp_path / "script.py")}
    assert shown.rindex(line) < shown.index(message)


def test_error_in_the_learners_function_keeps_its_line_and_gains_notes(
    tmp_path: Path,
) -> None:
    shown = printed(OWN, tmp_path)
    assert set(re.findall(r'File "(.*?)"', shown)) == {str(tmp_path / "script.py")}
    assert "return np.int32(6 // int(x))" in shown
    assert shown.endswith(
        "ZeroDivisionError: integer division or modulo by zero\n"
        "  in the computation ratio\n  at client 2\n"
    )


def test_full_traceback_is_there_for_those_who_ask(tmp_path: Path) -> None:
    shown = printed(RUN, tmp_path, FEDLEARN_EDU_FULL_TRACEBACK="1")
    assert len(re.findall(r'File ".*fedlearn_edu.*"', shown)) > 5
    assert "the mean over no clients does not exist" in shown
