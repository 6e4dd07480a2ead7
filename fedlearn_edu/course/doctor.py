# SPDX-License-Identifier: Apache-2.0
"""Whether this machine is ready for the lessons, and what to do if not.

Nothing is changed or fetched, and TensorFlow is not loaded. What `start`, a check or
JupyterLab say themselves when it comes to it, is not looked at here.
"""

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from typing import Literal, final

from fedlearn_edu.capabilities import is_browser
from fedlearn_edu.course.start import LessonsNotFoundError, find_release
from fedlearn_edu.errors import FedLearnError, counted
from fedlearn_edu.simulation import datasets

KERNEL = "python3"
"""What the lessons ask for; every Jupyter has a kernel of this name."""
_NEEDED = re.compile(
    r"(?P<name>[\w.-]+)\s*>=\s*(?P<least>[\d.]+)\s*"
    r"(?:;\s*extra\s*==\s*[\"'](?P<extra>\w+)[\"']|;\s*sys_platform\s*!=.*)?$"
)
_OLDEST, _TOO_NEW = (3, 11), (3, 14)

Verdict = Literal["ok", "problem"]


@final
@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        verdict: a `problem` stops you.
        found: in a few words.
        do: what to do about it; empty if there is nothing to do.

    >>> print(Finding("problem", "numpy is not installed", "pip install numpy"))
    problem  numpy is not installed
             do: pip install numpy
    """

    verdict: Verdict
    found: str
    do: str = ""

    def __str__(self) -> str:
        line = f"{self.verdict:<8} {self.found}"
        return f"{line}\n         do: {self.do}" if self.do else line


def examine() -> Iterator[Finding]:
    """Looks at one thing after the other."""
    if is_browser():  # it has no other programs, and all it needs is loaded
        yield Finding("ok", "Python in a browser: there is nothing to look at")
        return
    yield _python()
    yield from _packages()
    yield _kernel()
    yield _data()
    yield _lessons()


def verdict(findings: list[Finding]) -> str:
    """The last line: whether something stops you."""
    problems = sum(f.verdict == "problem" for f in findings)
    if problems:
        return f"{counted(problems, 'problem')} to solve first"
    return "nothing stops you"


# ------------------------------------------------------------------ what is installed


def _python() -> Finding:
    found = f"Python {'.'.join(map(str, sys.version_info[:3]))}, {sys.executable}"
    if _OLDEST <= tuple(sys.version_info)[:2] < _TOO_NEW:
        return Finding("ok", found)
    return Finding("problem", found, "take Python 3.11, 3.12 or 3.13")


def _packages() -> Iterator[Finding]:
    try:
        version = metadata.version("fedlearn-edu")
        needed = map(_NEEDED.match, metadata.requires("fedlearn-edu") or [])
    except metadata.PackageNotFoundError:
        yield Finding(
            "problem",
            "fedlearn_edu is not installed: it runs from its folder only",
            'python -m pip install -e ".[lab]" in a clone of the repository',
        )
        return
    yield Finding("ok", f"fedlearn-edu {version}")
    for match in needed:
        if match and match["extra"] in (None, "lab"):
            yield _package(match["name"], match["least"])


def _package(name: str, least: str) -> Finding:
    python = f'"{sys.executable}"' if " " in sys.executable else sys.executable
    install = f'{python} -m pip install "{name}>={least}"'
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Finding("problem", f"{name} is not installed", install)
    if _numbers(version) >= _numbers(least):
        return Finding("ok", f"{name} {version}")
    return Finding("problem", f"{name} {version} is too old", install)


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers: `2.5.0rc1` counts as `2.5.0`."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, found[0].split("."))) if found else ()


def _kernel() -> Finding:
    """Which Python the kernel of the lessons starts; it should be this one."""
    if not all(map(find_spec, ("ipykernel", "jupyter_client"))):
        found = "notebooks cannot start this Python: no ipykernel"
        return Finding("problem", found, f"{sys.executable} -m pip install ipykernel")
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        spec = KernelSpecManager().get_kernel_spec(KERNEL)
    except NoSuchKernel:
        do = f"{sys.executable} -m ipykernel install --sys-prefix"
        return Finding("problem", f"there is no kernel called {KERNEL}", do)
    command = str(spec.argv[0]) if spec.argv else ""
    if _starts_this_python(command):
        return Finding("ok", "notebooks start this Python")
    do = f"jupyter kernelspec remove {KERNEL} (it is in {spec.resource_dir})"
    found = f"notebooks start another Python: {command or 'none'}"
    return Finding("problem", found, do)


def _starts_this_python(command: str) -> bool:
    """Folders are compared as written: environments link to the same Python."""
    if command in ("python", "python3", f"python3.{sys.version_info.minor}"):
        return True  # Jupyter puts its own Python in its place
    ours, theirs = map(os.path.abspath, (sys.executable, command))
    is_same = os.path.realpath(ours) == os.path.realpath(theirs)
    return is_same and os.path.dirname(ours) == os.path.dirname(theirs)


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
    return Finding("ok", f"{counted(len(list(release.glob('*/*.ipynb'))), 'lesson')}")
