# SPDX-License-Identifier: Apache-2.0
"""What the kernel in the page loads: Pyodide, wheels, the lock file that lists them."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from tools.lite.downloads import pip_download
from tools.lite.errors import LiteError
from tools.lite.pyodide import HERE, Release, collect
from tools.lite.wheels import Wheel, lock, opened

LABEXTENSIONS = Path(sys.prefix) / "share" / "jupyter" / "labextensions"
KERNEL_EXTENSION = LABEXTENSIONS / "@jupyterlite" / "pyodide-kernel-extension"
# Of JupyterLite's own wheels: for ipywidgets 7, which nobody has here.
_UNUSED = "widgetsnbextension-3"


def kernel(root: Path, release: Release, place: str, kept: Path) -> Path:
    """Makes the folder `kept/kernel` with all that Pyodide loads, and nothing else.

    Raises:
        LiteError: if a file cannot be had, or is another one than it should be.
    """
    pyodide = collect(release, place, kept)
    files = [*_pure(release, kept), *_jupyterlites(), own_wheel(root, kept / "own")]
    wheels = [opened(file, release.python) for file in files]
    folder = kept / "kernel"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in [*(pyodide / name for name in release.hashes), *files]:
        shutil.copy(file, folder)
    _write_lock(release, wheels, folder)
    return folder


def _write_lock(release: Release, wheels: list[Wheel], folder: Path) -> None:
    written = json.dumps(lock(release.lock, wheels), indent=1)
    (folder / "pyodide-lock.json").write_text(written, encoding="utf-8")


def _pure(release: Release, kept: Path) -> list[Path]:
    return pip_download(HERE / "wheels.txt", kept / "wheels", release.python)


def _jupyterlites() -> list[Path]:
    found = sorted((KERNEL_EXTENSION / "static" / "pypi").glob("*.whl"))
    return [wheel for wheel in found if not wheel.name.startswith(_UNUSED)]


def own_wheel(root: Path, folder: Path) -> Path:
    """Builds the wheel of the package at `root`."""
    shutil.rmtree(folder, ignore_errors=True)
    chosen = ["--quiet", "--no-deps", "--no-build-isolation"]
    command = [sys.executable, "-m", "pip", "wheel", *chosen, "-w", str(folder)]
    done = subprocess.run([*command, str(root)], capture_output=True, check=False)
    if done.returncode:
        raise LiteError(
            "the package's own wheel cannot be built",
            expected="hatchling, which the extra `lite` installs",
            found=done.stderr.decode(errors="replace"),
            where=str(root / "pyproject.toml"),
            do="run make lite, which installs it",
        )
    (wheel,) = folder.glob("*.whl")
    return wheel
