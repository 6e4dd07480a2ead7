# SPDX-License-Identifier: Apache-2.0
"""What a text names in a picture, in italics, can be read in that picture."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest
from matplotlib.text import Text

from fedlearn_edu.contexts.factories import LocalExecutorFactory
from fedlearn_edu.framework import SyncExecutionContext
from fedlearn_edu.viz.executors import draw_context, draw_factory
from tools.cells import read

SOURCE = Path(__file__).parents[2] / "notebooks" / "source"
FOLDS = ["average", "median", "answer-maps-in-turn", "answer-folds-in-order"]


def shown_by(sources: list[str]) -> Any:
    """What the last line of these cells shows."""
    names: dict[str, Any] = {}
    tree = ast.parse("\n".join(sources))
    tree.body = [each for each in tree.body if "begin(" not in ast.unparse(each)]
    last = ast.unparse(tree.body.pop())
    exec(compile(tree, "<cells>", "exec"), names)
    return eval(last, names)


def written_in(shown: Any) -> set[str]:
    match shown:
        case SyncExecutionContext():
            return set(re.split("<.*?>", draw_context(shown)))
        case LocalExecutorFactory():
            return set(re.split("<.*?>", draw_factory(shown)))
        case _:
            return {each.get_text() for each in shown.findobj(Text)}


@pytest.mark.parametrize(
    ("lesson", "code", "text"),
    [
        ("05_executor_stack", ["surprise", "tape-picture"], "tape-words"),
        ("06b_sequence_executors", ["contexts", "plain"], "unread-words"),
        (
            "06b_sequence_executors",
            ["answer-step-by-step", "step_by_step"],
            "step-by-step-words",
        ),
        ("07_strategies", ["tables"], "tables-words"),
        ("07_strategies", ["average", "expanded"], "enough-text"),
        ("07_strategies", [*FOLDS, "tape"], "tape-words"),
    ],
)
def test_italics_are_in_the_picture(lesson: str, code: list[str], text: str) -> None:
    notebook = read(SOURCE / lesson / f"{lesson}.ipynb")
    cells = {cell.id: cell.source for cell in notebook.cells}
    in_words = cells[text].split("\n\n")[0]
    named = re.findall(r"(?<!\*)\*([\w ]+)\*(?!\*)", in_words)
    shown = shown_by([cells.get(name, name) for name in ["setup", *code]])
    assert named
    assert set(named) <= written_in(shown)
