# SPDX-License-Identifier: Apache-2.0
"""Reading notebooks: their cells, what nbgrader makes of them, and what they showed."""

import re
from pathlib import Path
from typing import Any

import nbformat

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_TAG = re.compile(r"<(style|script).*?</\1>|<[^>]+>", re.DOTALL)


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def write(notebook: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)  # type: ignore[no-untyped-call]


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def is_to_fail(cell: Any) -> bool:
    return "raises-exception" in cell.metadata.get("tags", [])


def is_compared(cell: Any) -> bool:
    """Whether nbval compares what it prints with what is stored."""
    return "nbval-check-output" in cell.metadata.get("tags", [])


def runs_in_browser(notebook: Any) -> bool:
    """Whether the site has it; its metadata say so if it needs an installation."""
    return bool(notebook.metadata.get("fedlearn_edu", {}).get("browser", True))


def grade_id(cell: Any) -> str:
    """Its name for nbgrader; cells that nbgrader does not know have none."""
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def is_answer(cell: Any) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get("solution", False))


def is_check(cell: Any) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get("grade", False))


def answer_cells(notebook: Any) -> dict[str, Any]:
    """The answer cell of each exercise, in order."""
    return {grade_id(cell): cell for cell in notebook.cells if is_answer(cell)}


def check_cells(notebook: Any) -> dict[str, Any]:
    """The check cell of each exercise, in order."""
    checks = [cell for cell in notebook.cells if is_check(cell)]
    return {grade_id(cell).removeprefix("check-"): cell for cell in checks}


def errors(cell: Any) -> list[Any]:
    return [out for out in cell.get("outputs", []) if out.output_type == "error"]


def on_stderr(cell: Any) -> str:
    outputs = cell.get("outputs", [])
    return "".join(out.text for out in outputs if out.get("name") == "stderr")


def traceback_lines(cell: Any) -> list[str]:
    """What of an error a learner sees, line by line, without colours."""
    text = "\n".join(line for error in errors(cell) for line in error.traceback)
    return _ANSI.sub("", text).splitlines()


def what_it_says(cell: Any) -> str:
    """All words a cell shows: prints, displays, and the message of its error."""
    said = []
    for out in cell.get("outputs", []):
        data = out.get("data", {})
        html = _TAG.sub(" ", str(data.get("text/html", "")))
        said += [out.get("text", ""), str(data.get("text/plain", html))]
        if out.output_type == "error":
            said.append(f"{out.ename}: {out.evalue}")
    return _ANSI.sub("", "\n".join(part for part in said if part))
