# SPDX-License-Identifier: Apache-2.0
"""What the kernel in the page loads: Pyodide, wheels, the lock file that lists them."""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from email import message_from_bytes
from hashlib import sha256
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.lite.pyodide import HERE, Release, collect, pinned, pip_download
from tools.release import ROOT

LABEXTENSIONS = Path(sys.prefix) / "share" / "jupyter" / "labextensions"
KERNEL_EXTENSION = LABEXTENSIONS / "@jupyterlite" / "pyodide-kernel-extension"
# Of JupyterLite's own wheels: for ipywidgets 7, which nobody has here.
_UNUSED = "widgetsnbextension-3"
_TOP_MODULE = re.compile(r"(\w+)(?:\.py|/__init__\.py)")


def kernel(kept: Path) -> Path:
    """Makes the folder `kept/kernel` with all that Pyodide loads, and nothing else.

    Raises:
        LiteError: if a file of Pyodide is missing, or is another one.
        CalledProcessError: if a wheel cannot be had.
    """
    release, folder, own = pinned(), kept / "kernel", kept / "own"
    for each in (folder, own):
        shutil.rmtree(each, ignore_errors=True)
    build = ["--quiet", "--no-deps", "--no-build-isolation", "-w", str(own), str(ROOT)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *build], check=True)
    theirs = (KERNEL_EXTENSION / "static" / "pypi").glob("*.whl")
    wheels = [
        *pip_download(HERE / "wheels.txt", kept, release.python),
        *sorted(wheel for wheel in theirs if not wheel.name.startswith(_UNUSED)),
        *own.glob("*.whl"),
    ]
    folder.mkdir(parents=True)
    for file in [*collect(release, kept), *wheels]:
        shutil.copy(file, folder)
    written = json.dumps(lock(release, wheels), indent=1)
    (folder / "pyodide-lock.json").write_text(written, encoding="utf-8")
    return folder


def lock(release: Release, wheels: Iterable[Path]) -> dict[str, Any]:
    """Pyodide's lock file with these wheels of pure Python added to it."""
    theirs = release.lock["packages"].items()
    entries = {str(canonicalize_name(name)): entry for name, entry in theirs}
    ours = [_entry(wheel, release.python) for wheel in wheels]
    entries |= {entry["name"]: entry for entry in ours}
    return {**release.lock, "packages": entries}


def _entry(file: Path, python: str) -> dict[str, Any]:
    """What the lock file says about a wheel, for a browser with that Python."""
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        [found] = [each for each in names if each.endswith(".dist-info/METADATA")]
        meta = message_from_bytes(archive.read(found))
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
