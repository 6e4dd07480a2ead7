# SPDX-License-Identifier: Apache-2.0
"""Wheels, and the lock file that tells Pyodide about them."""

import re
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email import message_from_string
from email.message import Message
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.lite.downloads import sha256
from tools.lite.errors import LiteError


@dataclass(frozen=True)
class Wheel:
    """A wheel of pure Python: what a lock file says about it."""

    file: Path
    name: str
    version: str
    needs: tuple[str, ...]
    imports: tuple[str, ...]


def opened(file: Path, python: str) -> Wheel:
    """Reads a wheel, for a browser with that version of Python."""
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        meta = metadata(archive)
    return Wheel(
        file,
        canonicalize_name(meta["Name"]),
        meta["Version"],
        tuple(_needs(meta.get_all("Requires-Dist", []), python)),
        tuple(sorted({top for name in names for top in _top_module(name)})),
    )


def metadata(archive: zipfile.ZipFile) -> Message:
    """Name, version, licence and requirements of an open wheel."""
    names = archive.namelist()
    file = next(each for each in names if each.endswith(".dist-info/METADATA"))
    return message_from_string(archive.read(file).decode("utf-8"))


def _needs(requirements: Iterable[str], python: str) -> Iterable[str]:
    there = {
        **{"sys_platform": "emscripten", "platform_system": "Emscripten"},
        **{"os_name": "posix", "python_version": python, "extra": ""},
    }
    for requirement in map(Requirement, requirements):
        if requirement.marker is None or requirement.marker.evaluate(there):
            yield canonicalize_name(requirement.name)


def _top_module(name: str) -> Iterable[str]:
    found = re.fullmatch(r"(\w+)(?:\.py|/__init__\.py)", name)
    return found.groups() if found else ()


def lock(theirs: Mapping[str, Any], wheels: Iterable[Wheel]) -> dict[str, Any]:
    """Pyodide's lock file with these wheels added to it.

    Raises:
        LiteError: if a wheel needs another one that is not there.
    """
    entries = {
        str(canonicalize_name(name)): e for name, e in theirs["packages"].items()
    }
    wheels = list(wheels)
    known = {*entries, *(wheel.name for wheel in wheels)}
    for wheel in wheels:
        if lost := sorted(set(wheel.needs) - known):
            raise LiteError(
                "the site lacks a package",
                expected=f"every package that {wheel.name} needs",
                found=f"no {', '.join(lost)}",
                where=wheel.file.name,
                do="add its wheel and hash to tools/lite/wheels.txt",
            )
        entries[wheel.name] = _entry(wheel)
    return {**theirs, "packages": entries}


def _entry(wheel: Wheel) -> dict[str, Any]:
    return {
        "name": wheel.name,
        "version": wheel.version,
        "file_name": wheel.file.name,
        "install_dir": "site",
        "sha256": sha256(wheel.file.read_bytes()),
        "package_type": "package",
        "imports": list(wheel.imports),
        "depends": list(wheel.needs),
        "unvendored_tests": False,
    }
