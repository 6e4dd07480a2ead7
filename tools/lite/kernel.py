# SPDX-License-Identifier: Apache-2.0
"""What the kernel in the page loads: Pyodide, wheels, the lock file that lists them."""

import json
import shutil
import sys
from pathlib import Path

from tools.lite.pyodide import HERE, Release, collect, pip_download, run
from tools.lite.wheels import lock

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
    theirs = (KERNEL_EXTENSION / "static" / "pypi").glob("*.whl")
    wheels = [
        *pip_download(HERE / "wheels.txt", kept / "wheels", release.python),
        *sorted(wheel for wheel in theirs if not wheel.name.startswith(_UNUSED)),
        own_wheel(root, kept / "own"),
    ]
    folder = kept / "kernel"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in [*(pyodide / name for name in release.hashes), *wheels]:
        shutil.copy(file, folder)
    written = json.dumps(lock(release, wheels), indent=1)
    (folder / "pyodide-lock.json").write_text(written, encoding="utf-8")
    return folder


def own_wheel(root: Path, folder: Path) -> Path:
    """Builds the wheel of the package at `root`."""
    shutil.rmtree(folder, ignore_errors=True)
    chosen = ["--quiet", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    run(
        "pip", "wheel", *chosen, str(root), do="run make lite, which installs hatchling"
    )
    (wheel,) = folder.glob("*.whl")
    return wheel
