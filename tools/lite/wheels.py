# SPDX-License-Identifier: Apache-2.0
"""Wheels, and the lock file that tells Pyodide about them."""

import re
import zipfile
from collections.abc import Iterable
from email import message_from_string
from email.message import Message
from hashlib import sha256
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.lite.pyodide import LiteError, Release

_TOP_MODULE = re.compile(r"(\w+)(?:\.py|/__init__\.py)")


def lock(release: Release, wheels: Iterable[Path]) -> dict[str, Any]:
    """Pyodide's lock file with these wheels of pure Python added to it.

    Raises:
        LiteError: if a wheel needs another one that is not there.
    """
    theirs = release.lock["packages"].items()
    entries = {str(canonicalize_name(name)): entry for name, entry in theirs}
    ours = [_entry(wheel, release.python) for wheel in wheels]
    entries |= {entry["name"]: entry for entry in ours}
    for entry in ours:
        if lost := sorted(set(entry["depends"]) - set(entries)):
            raise LiteError(
                "the site lacks a package",
                expected=f"every package that {entry['name']} needs",
                found=f"no {', '.join(lost)}",
                where=entry["file_name"],
                do="add its wheel and hash to tools/lite/wheels.txt",
            )
    return {**release.lock, "packages": entries}


def metadata(archive: zipfile.ZipFile) -> Message:
    """Name, version, licence and requirements of an open wheel."""
    names = archive.namelist()
    file = next(each for each in names if each.endswith(".dist-info/METADATA"))
    return message_from_string(archive.read(file).decode("utf-8"))


def _entry(file: Path, python: str) -> dict[str, Any]:
    """What the lock file says about a wheel, for a browser with that Python."""
    with zipfile.ZipFile(file) as archive:
        meta, names = metadata(archive), archive.namelist()
    return {
        "name": str(canonicalize_name(meta["Name"])),
        "version": meta["Version"],
        "file_name": file.name,
        "install_dir": "site",
        "sha256": sha256(file.read_bytes()).hexdigest(),
        "package_type": "package",
        "imports": sorted(
            {m[1] for name in names if (m := _TOP_MODULE.fullmatch(name))}
        ),
        "depends": _needs(meta.get_all("Requires-Dist", []), python),
        "unvendored_tests": False,
    }


def _needs(requirements: Iterable[str], python: str) -> list[str]:
    there = {
        **{"sys_platform": "emscripten", "platform_system": "Emscripten"},
        **{"os_name": "posix", "python_version": python, "extra": ""},
    }
    found = map(Requirement, requirements)
    there_too = [r for r in found if not r.marker or r.marker.evaluate(there)]
    return [str(canonicalize_name(requirement.name)) for requirement in there_too]
