# SPDX-License-Identifier: Apache-2.0
"""Looks at this machine before the first lesson does, and says what to do.

Nothing is changed, nothing is fetched, and TensorFlow is loaded only if asked for.
"""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal, final

from fedlearn_edu.course import records
from fedlearn_edu.course.kernels import kernel_trouble
from fedlearn_edu.course.start import LessonsNotFoundError, command, find_release
from fedlearn_edu.course.versions import Requirement, requirements
from fedlearn_edu.errors import FedLearnError
from fedlearn_edu.simulation import datasets

LAB_PORT = 8888
_OLDEST, _TOO_NEW = (3, 11), (3, 14)
_DEEP_LIMIT_S = 300
_DEEP = "from fedlearn_edu import tf; print(tf.__version__, float(tf.add(1.0, 1.0)))"

Verdict = Literal["ok", "note", "problem"]


@final
@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        verdict: a `problem` stops you, a `note` does not.
        found: in a few words.
        do: what to do about it; empty if there is nothing to do.

    >>> print(Finding("note", "port 8888 is taken", "nothing: another one is taken"))
    note     port 8888 is taken
             do: nothing: another one is taken
    """

    verdict: Verdict
    found: str
    do: str = ""

    def __str__(self) -> str:
        line = f"{self.verdict:<8} {self.found}"
        return f"{line}\n         do: {self.do}" if self.do else line


def examine(folder: Path, *, deep: bool = False) -> Iterator[Finding]:
    """Looks at one thing after the other.

    Args:
        folder: Where lessons are to be.
        deep: Load TensorFlow too, which takes some seconds, and add two numbers.
    """
    yield _python()
    yield from _packages()
    yield _kernel()
    if deep:
        yield _tensorflow()
    yield _data()
    yield _lessons()
    yield _folder(folder)
    yield _progress()
    yield _port(LAB_PORT)
    yield from _root()


def verdict(findings: list[Finding]) -> str:
    """The last line: whether something stops you."""
    problems = sum(f.verdict == "problem" for f in findings)
    notes = sum(f.verdict == "note" for f in findings)
    if problems:
        return f"{_counted(problems, 'problem')} to solve first"
    told = f" ({_counted(notes, 'note')})" if notes else ""
    return f"nothing stops you{told}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


# ------------------------------------------------------------------ what is installed


def _python() -> Finding:
    found = f"Python {'.'.join(map(str, sys.version_info[:3]))}, {sys.executable}"
    if _OLDEST <= tuple(sys.version_info)[:2] < _TOO_NEW:
        return Finding("ok", found)
    return Finding("problem", found, "take Python 3.11, 3.12 or 3.13")


def _packages() -> Iterator[Finding]:
    try:
        wanted = requirements("fedlearn-edu", extra="lab")
        version = metadata.version("fedlearn-edu")
    except metadata.PackageNotFoundError:
        yield Finding(
            "problem",
            "fedlearn_edu is not installed: it runs from its folder only",
            'python -m pip install -e ".[lab]" in a clone of the repository',
        )
        return
    yield Finding("ok", f"fedlearn-edu {version}")
    yield from map(_package, wanted)


def _package(wanted: Requirement) -> Finding:
    install = f'{_python_command()} -m pip install "{wanted}"'
    try:
        version = metadata.version(wanted.name)
    except metadata.PackageNotFoundError:
        return Finding("problem", f"{wanted.name} is not installed", install)
    if wanted.is_met_by(version):
        return Finding("ok", f"{wanted.name} {version}")
    return Finding("problem", f"{wanted.name} {version} is too old", install)


def _kernel() -> Finding:
    trouble = kernel_trouble()
    if trouble is None:
        return Finding("ok", "notebooks start this Python")
    return Finding("problem", *trouble)


def _tensorflow() -> Finding:
    try:
        run = subprocess.run(
            [sys.executable, "-c", _DEEP],
            capture_output=True,
            text=True,
            check=False,
            timeout=_DEEP_LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        found = f"TensorFlow does not answer within {_DEEP_LIMIT_S} s"
        return Finding("problem", found, "restart the machine, then ask again")
    if run.returncode == 0 and run.stdout.split()[-1:] == ["2.0"]:
        return Finding("ok", f"TensorFlow {run.stdout.split()[0]} adds 1 and 1")
    last = (run.stderr.strip() or f"exit status {run.returncode}").splitlines()[-1]
    again = f"{_python_command()} -m pip install --force-reinstall tensorflow"
    return Finding("problem", f"TensorFlow does not load: {last}", again)


def _python_command() -> str:
    """How to call this very Python."""
    return f'"{sys.executable}"' if " " in sys.executable else sys.executable


# ------------------------------------------------------------------ what is there


def _data() -> Finding:
    """What `load("auto")` takes; it never asks the network."""
    try:
        data = datasets.load("auto")
    except FedLearnError as error:
        return Finding("problem", f"{error.summary}: {error.where}", error.do or "")
    examples = sum(len(labels) for _, labels in data)
    name = {"mnist": "MNIST", "digits28": "the embedded digits"}[data.name]
    return Finding("ok", f"data: {name}, {examples:,} images")


def _lessons() -> Finding:
    try:
        release = find_release()
    except LessonsNotFoundError as error:
        return Finding("problem", error.summary, error.do or "")
    return Finding("ok", f"{_counted(len(list(release.glob('*/*.ipynb'))), 'lesson')}")


def _folder(folder: Path) -> Finding:
    if trouble := _not_writable(folder):
        other = "name another folder: fedlearn-edu start FOLDER"
        return Finding("problem", f"{folder} cannot be written into: {trouble}", other)
    return Finding("ok", f"{folder} can be written into")


def _progress() -> Finding:
    file = records.file()
    if file is None:
        found = "your progress is not kept"
        return Finding("note", found, f"to keep it, unset {records.VARIABLE}")
    if trouble := _not_writable(file.parent):
        do = f"name another file in {records.VARIABLE}; lessons go on without one"
        return Finding("note", f"{file} cannot be written: {trouble}", do)
    return Finding("ok", f"your progress is kept in {file}")


def _not_writable(folder: Path) -> str:
    """Why nothing can be written there, or where it would be made; empty if it can."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        # Asked by doing it: permissions alone do not tell. Nothing is left behind.
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return error.strerror or os.strerror(error.errno or 0)


def _port(port: int) -> Finding:
    try:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
    except OSError:
        found = f"port {port} is taken"
        return Finding("note", found, "nothing: JupyterLab takes the next one")
    return Finding("ok", f"port {port} is free for JupyterLab")


def _root() -> Iterator[Finding]:
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        found = "you are root, for whom JupyterLab does not start"
        do = f"be somebody else, or {command()} start FOLDER --allow-root"
        yield Finding("note", found, do)
