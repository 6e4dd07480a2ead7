# SPDX-License-Identifier: Apache-2.0
"""What a text names in a picture, in italics, can be read in that picture."""

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.text import Text

import fedlearn_edu as fl
from fedlearn_edu import framework, viz
from tools.cells import read

SOURCE = Path(__file__).parents[2] / "notebooks" / "source"


def cells_of(lesson: str) -> dict[str, str]:
    notebook = read(SOURCE / lesson / f"{lesson}.ipynb")
    return {cell.id: cell.source for cell in notebook.cells}


def shown_by(sources: list[str]) -> Any:
    """What the last line of these cells shows."""
    names: dict[str, Any] = {"np": np, "fl": fl, "framework": framework, "viz": viz}
    names["reveal"] = lambda *_: None
    tree = ast.parse("\n".join(sources))
    last = ast.unparse(tree.body.pop())
    exec(compile(tree, "<cells>", "exec"), names)
    return eval(last, names)


@pytest.mark.parametrize(
    ("lesson", "code", "text"),
    [("05_executor_stack", ["surprise", "tape-picture"], "tape-words")],
)
def test_italics_are_in_the_picture(lesson: str, code: list[str], text: str) -> None:
    cells = cells_of(lesson)
    named = re.findall(r"(?<!\*)\*([\w ]+)\*(?!\*)", cells[text])
    figure = shown_by([cells[name] for name in code])
    written = {each.get_text() for each in figure.findobj(Text)}
    assert named
    assert set(named) <= written
