# SPDX-License-Identifier: Apache-2.0
"""A lesson of two exercises that needs nothing but Python, to try the harness on."""

from pathlib import Path
from typing import Any

import nbformat

from tools.cells import write

LESSON = "00_toy"
CHECK = """
EXPECTED = {"double": 6, "square": 9}

def not_answered(number):
    raise NotImplementedError

def refuse(words):
    told = AssertionError(words)
    told._render_traceback_ = lambda: [f"AssertionError: {words}"]
    raise told

class Check:
    def __getattr__(self, name):
        def check(answer):
            try:
                found = answer(3)
            except NotImplementedError:
                refuse(f"{name} is not answered yet")
            if found == 4:
                refuse("you added one")
            if found != EXPECTED[name]:
                refuse("expected another number")
        return check

check = Check()
double = square = not_answered
"""
DOUBLE = """def double(number):
    # twice
    ### BEGIN SOLUTION
    return 2 * number
    ### END SOLUTION"""
SQUARE = """### BEGIN SOLUTION
def square(number):
    return number * number
### END SOLUTION"""
HIDDEN = """check.{0}({0})
### BEGIN HIDDEN TESTS
assert {0}(7) == {1}
### END HIDDEN TESTS"""


def write_lesson(
    folder: Path, *, double: str = DOUBLE, ungraded: str = "1 + 1"
) -> Path:
    """Writes the lesson into `folder / LESSON`, and gives that folder."""
    notebook: Any = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    notebook.metadata.kernelspec = {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    }
    notebook.metadata.language_info = {"name": "python"}
    notebook.cells = [
        _cell("check", CHECK, locked=True),
        _cell("double", double, solution=True),
        _cell("check-double", HIDDEN.format("double", 14), points=5),
        _cell("square", SQUARE, solution=True),
        _cell("check-square", HIDDEN.format("square", 49), points=10),
        _cell("ungraded", ungraded),
        _cell("fails-on-purpose", "1 / 0", tags=["raises-exception"]),
    ]
    write(notebook, folder / LESSON / f"{LESSON}.ipynb")
    return folder / LESSON


def _cell(
    name: str,
    source: str,
    *,
    solution: bool = False,
    locked: bool = False,
    points: int = 0,
    tags: list[str] | None = None,
) -> Any:
    new_cell: Any = nbformat.v4.new_code_cell
    cell = new_cell(source.strip(), id=name)
    if tags:
        cell.metadata.tags = tags
    if solution or locked or points:
        cell.metadata.nbgrader = {
            "grade": bool(points),
            "grade_id": name,
            "locked": locked or bool(points),
            "schema_version": 3,
            "solution": solution,
            "task": False,
        }
        if points:
            cell.metadata.nbgrader["points"] = points
    return cell
