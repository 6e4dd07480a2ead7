# SPDX-License-Identifier: Apache-2.0
"""The licences of what the site carries: they travel with it."""

import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import distribution
from pathlib import Path

from tools.lite.wheels import metadata

_HEADER = """What this site carries besides fedlearn_edu, and under which licences.

pyodide.* and python_stdlib.zip are Pyodide: CPython, compiled to WebAssembly. Pyodide
is under the Mozilla Public License 2.0, https://mozilla.org/MPL/2.0/, and its source is
at https://pyodide.org; CPython is under the PSF License. All files are
as they were published.
"""
SITE = ("jupyterlite-core", "jupyterlite-pyodide-kernel", "jupyterlab", "notebook")
_WORDS = ("LICEN", "COPYING", "NOTICE")


def write(kernel: Path, file: Path, site: Iterable[str] = SITE) -> None:
    """Gathers the licences of the wheels in `kernel`, and of the site around them."""
    parts = [_HEADER]
    for wheel in sorted(kernel.glob("*.whl")):
        parts += _of_wheel(wheel)
    for name in site:
        found = distribution(name)
        parts.append(_heading(name, found.version))
        licences = (each for each in found.files or [] if _is_licence(each.as_posix()))
        parts += [f"{path.name}\n\n{path.read_text()}" for path in licences]
    file.write_text("\n".join(parts), encoding="utf-8")


def _of_wheel(wheel: Path) -> Iterator[str]:
    with zipfile.ZipFile(wheel) as archive:
        meta = metadata(archive)
        yield _heading(meta["Name"], meta["Version"])
        for name in filter(_is_licence, archive.namelist()):
            yield f"{name}\n\n{archive.read(name).decode('utf-8', 'replace')}"


def _is_licence(path: str) -> bool:
    *folders, name = path.split("/")
    inside = any(folder.endswith(".dist-info") for folder in folders)
    return inside and any(word in name.upper() for word in _WORDS)


def _heading(name: str, version: str) -> str:
    return f"{'=' * 72}\n{name} {version}\n{'=' * 72}"
