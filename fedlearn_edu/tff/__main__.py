# SPDX-License-Identifier: Apache-2.0
"""Runs notebooks of TensorFlow Federated with the one changed line, cell by cell.

    python -m fedlearn_edu.tff FOLDER

Each row of the table that it prints is a notebook: its code cells, how many ran, and
the first that did not. Nothing is written; lines that call `pip` are left out.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

_IMPORT = re.compile(r"\bimport tensorflow_federated( as (\w+))?")
_INSTALL = re.compile(r"^(\s*)[!%]\s*pip\b.*", re.MULTILINE)
_HEAD = """\
| notebook | code cells | ran | the first that did not |
| --- | ---: | ---: | --- |"""


def changed(source: str) -> str:
    """The cell with the one changed line.

    >>> changed("import tensorflow_federated as tff")
    'import fedlearn_edu.tff as tff'
    """
    source = _INSTALL.sub(r"\1pass", source)
    return _IMPORT.sub(
        lambda found: (
            f"import fedlearn_edu.tff as {found[2] or 'tensorflow_federated'}"
        ),
        source,
    )


def run(path: Path, timeout: int) -> str:
    """A row of the table."""
    notebook: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in cells:
        cell.source, cell.outputs = changed(cell.source), []
    client: Any = NotebookClient(
        notebook,
        timeout=timeout,
        allow_errors=True,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute(stderr=subprocess.DEVNULL)  # what TensorFlow and the kernel log
    failed = [(i, error) for i, cell in enumerate(cells) for error in _errors(cell)]
    left = f"cell {failed[0][0]}: {failed[0][1]}" if failed else ""
    ran = len(cells) - len({number for number, _ in failed})
    return f"| {path.stem} | {len(cells)} | {ran} | {left.replace('|', ' ')} |"


def _errors(cell: Any) -> Iterator[str]:
    for output in cell.outputs:
        if output.output_type == "error":
            yield f"{output.ename}: {output.evalue}".splitlines()[0][:100]


def main(arguments: list[str] | None = None) -> int:
    """Prints the table; 0 if all cells ran."""
    parser = argparse.ArgumentParser(prog="python -m fedlearn_edu.tff")
    parser.description = "Run notebooks of TensorFlow Federated, cell by cell."
    parser.add_argument("paths", nargs="+", type=Path, help="notebooks, or folders")
    parser.add_argument("--timeout", type=int, default=600, help="seconds for a cell")
    given = parser.parse_args(arguments)
    missing = [str(path) for path in given.paths if not path.exists()]
    if missing:
        parser.error(f"no such file: {', '.join(missing)}")
    found = [path for each in given.paths for path in _notebooks(each)]
    if not found:
        parser.error("no notebook (.ipynb) there")
    sys.stdout.write(f"{_HEAD}\n")
    rows = []
    for path in found:
        rows.append(run(path, given.timeout))
        sys.stdout.write(f"{rows[-1]}\n")
        sys.stdout.flush()
    return int(not all(row.endswith("|  |") for row in rows))


def _notebooks(path: Path) -> list[Path]:
    return sorted(path.glob("*.ipynb")) if path.is_dir() else [path]


if __name__ == "__main__":
    sys.exit(main())
