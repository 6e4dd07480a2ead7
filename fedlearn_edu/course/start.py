# SPDX-License-Identifier: Apache-2.0
"""Copies the lessons into a folder of your own, and never writes over your work.

One small file in that folder remembers checksums of what was delivered. So a lesson
that you did not touch is renewed, and a newer release of one you changed lands beside
it.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal, final

from fedlearn_edu.atomic import numbered, write_atomically
from fedlearn_edu.errors import FedLearnError, counted

FOLDER = Path("fedlearn-lessons")
MEMORY = ".fedlearn_edu.json"
INDEX = "index.ipynb"
NO_LAB = (
    f"JupyterLab is not installed: run {sys.executable} -m pip install jupyterlab, "
    "or open the folder in an editor for notebooks"
)
_PYTHON = re.compile(rb'"version": "3[.\d\w+]*"')
_PACKAGED = Path(__file__).parent / "release"
_REPOSITORY = Path(__file__).parents[2] / "notebooks" / "release"

What = Literal["new", "updated", "unchanged", "yours", "beside"]


class LessonsNotFoundError(FedLearnError, FileNotFoundError):
    """The lessons did not come with this installation, or cannot go where they should.

    `found`, `where` and `do` say which.
    """


@final
@dataclass(frozen=True)
class Delivery:
    """What became of one file.

    Attributes:
        name: where it is, below the folder.
        what: `new`; `updated`, as it was unchanged; `unchanged`; `yours`, the
            release you got with your work in it; `beside` yours, as it is newer.
    """

    name: str
    what: What


def find_release() -> Path:
    """The folder of the lessons: of the installed package, or of the repository.

    Raises:
        LessonsNotFoundError: if there is neither.
    """
    for folder in (_PACKAGED, _REPOSITORY):
        if any(folder.glob("*/*.ipynb")):
            return folder
    raise LessonsNotFoundError(
        "the lessons are not here",
        expected="notebooks beside the package, or in notebooks/release of a clone",
        found=f"neither {_PACKAGED} nor {_REPOSITORY}",
        where="fedlearn-edu start",
        do="install the package once more; in a clone, make release writes them",
    )


def deliver(release: Path, folder: Path) -> list[Delivery]:
    """Copies the files of `release` into `folder`; your work stays as it is.

    A file that you deleted comes back. A file that you changed stays, and a newer
    release of it lands beside it as `NAME.new.ipynb`, once: delete it, and it is gone.

    Raises:
        LessonsNotFoundError: if the folder cannot be made, or written into.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        memory = _remembered(folder)
        try:
            return [
                _deliver(file.relative_to(release), _content(file), folder, memory)
                for file in _files(release)
            ]
        finally:
            text = json.dumps({"version": 1, "delivered": memory}, indent=1)
            write_atomically(folder / MEMORY, text.encode())
    except OSError as error:
        raise LessonsNotFoundError(
            "the lessons cannot be put there",
            expected="a folder that can be written into",
            found=error.strerror,
            where=error.filename or folder,
            do="name another one: fedlearn-edu start FOLDER",
        ) from error


def here() -> Path:
    """The folder to take if none is named: this one, if it has lessons already."""
    return Path() if Path(MEMORY).is_file() else FOLDER


def report(deliveries: list[Delivery], folder: Path) -> str:
    """What became of the lessons: a line each where there is something to know."""
    told = {
        "new": "new",
        "updated": "updated; you had not changed it",
        "beside": "newer than yours, and beside it; copy what you want, or delete it",
    }
    lines = [f"{d.name}: {told[d.what]}" for d in deliveries if d.what in told]
    yours = sum(d.what == "yours" for d in deliveries)
    kept = f", {yours} with your work inside" * bool(yours)
    return "\n".join([*lines, f"{counted(len(deliveries), 'file')} in {folder}{kept}"])


def open_lab(folder: Path, options: Sequence[str] = ()) -> int:
    """Opens JupyterLab on the map of the course in a folder, and waits for its end.

    Returns its exit status. The address that it prints leads to the map, too.
    """
    map_ = f"--LabApp.default_url=/lab/tree/{INDEX}"
    lab = [sys.executable, "-m", "jupyterlab", str(folder), map_, *options]
    # Ctrl-C is pressed for JupyterLab, which asks whether to stop.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        return subprocess.call(lab)
    finally:
        signal.signal(signal.SIGINT, before)


def explain(status: int, options: Sequence[str]) -> str:
    """A line about JupyterLab's exit status, with what to do if that is known."""
    line = f"JupyterLab ended with status {status}."
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if not is_root or "--allow-root" in options:
        return line
    return (
        f"{line} Root has to ask for it: put --allow-root after FOLDER "
        "(make lab LAB_ARGS=--allow-root), or use another account"
    )


def command() -> str:
    """What to type for `fedlearn-edu` here, also where it is not on the path."""
    name = "fedlearn-edu"
    script = shutil.which(name, path=str(Path(sys.executable).parent))
    found = shutil.which(name)
    if script is None or (found and Path(found).samefile(script)):
        return name if script else f"{sys.executable} -m fedlearn_edu"
    return script if os.name == "nt" else os.path.relpath(script)


# ------------------------------------------------------------------ one file


def _files(release: Path) -> list[Path]:
    files = filter(Path.is_file, release.rglob("*"))
    return sorted(file for file in files if ".ipynb_checkpoints" not in file.parts)


def _content(file: Path) -> bytes:
    """Its bytes; a notebook names this Python: Lab would, and call it unsaved then."""
    this = f'"version": "{sys.version.split()[0]}"'
    return _PYTHON.sub(this.encode(), file.read_bytes())


def _digest(content: bytes) -> str:
    """The same under each version of Python: a newer one makes no newer lesson."""
    return sha256(_PYTHON.sub(b"", content)).hexdigest()


def _deliver(
    name: Path, content: bytes, folder: Path, memory: dict[str, str]
) -> Delivery:
    """Tries one place after the other until it finds one without the learner's work."""
    new = _digest(content)
    for place in _places(name):
        key, file = place.as_posix(), folder / place
        got, is_first = memory.get(key), place == name
        if not file.exists():
            if got == new and not is_first:  # it was beside, and was put away
                return Delivery(name.as_posix(), "yours")
            write_atomically(file, content)
            memory[key] = new
            return Delivery(key, "new" if is_first else "beside")
        found = _digest(file.read_bytes())
        if found == new:
            memory[key] = new
            return Delivery(key, "unchanged" if is_first else "beside")
        if got == new:
            return Delivery(key, "yours")
        if found == got:
            write_atomically(file, content)
            memory[key] = new
            return Delivery(key, "updated" if is_first else "beside")
    raise AssertionError("there is always one more place")


def _places(name: Path) -> Iterator[Path]:
    """`a.ipynb`, `a.new.ipynb`, `a.new2.ipynb`, and so on."""
    yield name
    for mark in numbered(".new"):
        yield name.with_name(f"{name.stem}{mark}{name.suffix}")


def _remembered(folder: Path) -> dict[str, str]:
    """Without memory every file counts as changed, so nothing can be lost."""
    try:
        content = json.loads((folder / MEMORY).read_bytes())
        return {str(k): str(v) for k, v in content["delivered"].items()}
    except (FileNotFoundError, ValueError, TypeError, KeyError, AttributeError):
        return {}
