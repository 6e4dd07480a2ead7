# SPDX-License-Identifier: Apache-2.0
"""A time limit that looks at the clock, in a Python that can."""

import os
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

from fedlearn_edu.contexts import clock
from tests.patience import PATIENCE_S

PROGRAM = """
import importlib.util, sys, threading, time
from contextlib import contextmanager
from weakref import WeakSet
spec = importlib.util.spec_from_file_location("clock", sys.argv[1])
clock = importlib.util.module_from_spec(spec)
spec.loader.exec_module(clock)

def endless():
    while True:
        pass

def recursive():
    for _ in iter(int, 1):
        (lambda: None)()

def stubborn():
    while True:
        try:
            endless()
        except BaseException:
            pass

def collecting():
    class Thing:
        pass
    held = WeakSet()
    while True:
        held.add(Thing())

def elsewhere():
    def count():
        for _ in range(1000):
            time.sleep(0.0001)
        done.append(True)
    done = []
    thread = threading.Thread(target=count)
    thread.start()
    thread.join()
    assert done

@contextmanager
def holding():
    held.append("held")
    try:
        yield
    finally:
        held.clear()

def leaving():
    with holding():
        time.sleep(0.1)  # what begins next is the end of the block
    endless()

def within():
    with clock.Limit(60, lambda: ValueError("inner")):
        endless()

def inner():
    try:
        with clock.Limit(0.02, lambda: ValueError("inner")):
            endless()
    except ValueError as error:
        print(error, end=" ")

def late():
    for _ in range(100):  # also code that is called now is not interrupted
        pass
    return KeyError("late")

held = []
for limited in (
    endless, recursive, stubborn, collecting, elsewhere, leaving, within
):
    try:
        with clock.Limit(0.05, late):
            limited()
        print("no limit")
    except KeyError as error:
        print(limited.__name__, *held)
with clock.Limit(60, late):
    inner()
with clock.Limit(None, late):
    pass
print(sys.monitoring.get_tool(4))
"""


def _able() -> str | None:
    """A Python that has `sys.monitoring`; it needs no packages."""
    installed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    others = map(str, installed.glob("versions/3.1[2-9]*/bin/python"))
    for python in [sys.executable, which("python3"), *others]:
        if python is None:
            continue
        found = subprocess.run(
            [python, "-c", "import sys; sys.monitoring"],
            capture_output=True,
            check=False,
        )
        if not found.returncode:
            return python
    return None


def test_every_kind_of_endless_code_ends() -> None:
    python = _able()
    if python is None:
        pytest.skip("no Python from 3.12 on is installed")
    file = str(Path(clock.__file__))
    done = subprocess.run(
        [python, "-c", PROGRAM, file],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"),
    )
    names = "endless recursive stubborn collecting elsewhere leaving within"
    found = done.stderr, done.stdout.split()
    assert found == ("", [*names.split(), "inner", "None"])
