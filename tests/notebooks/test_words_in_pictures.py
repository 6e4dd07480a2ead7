# SPDX-License-Identifier: Apache-2.0
"""A word in italics beside a picture is in the picture, or is listed as a term.

A lesson says "under *mean*", and the learner looks for *mean*: as a heading, a label, a
control, or in the sentence that comes with the picture. The cells run here as they
stand, without a kernel and without their checks; the rest of a lesson is not run.
"""

import ast
import asyncio
import inspect
import re
from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from IPython.core.formatters import DisplayFormatter
from matplotlib.figure import Figure
from matplotlib.text import Text

from fedlearn_edu.course.checks import exercise_named
from fedlearn_edu.viz import notebook
from fedlearn_edu.viz.style import said
from tests.notebooks.notebooks import LESSONS
from tests.viz.html_reader import Reader
from tools.cells import is_check, is_to_fail, read

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

# For each lesson, the words beside its pictures that name nothing in them: what is
# stressed, and what is introduced.
TERMS: dict[str, set[str]] = {
    "01": {"checkpoint", "not"},
    "02": {"same", "all-equal"},
    "03": {"compiler"},
    "04": {"expansion", "primitive", "derived"},
    "05": set(),
    "06": {"executor", "stack"},
    "07": {"room", "native", "primitives", "expands"},
    "08": {
        "Dirichlet distribution",
        "Dirichlet partition",
        "quantity skew",
        "effective number of labels",
    },
    "12a": {"against", "gradient inversion"},
    "12b": {"IID"},
    "12c": {"mask", "secure sum"},
    "12d": set(),
}
QUICK = {"03", "04", "06"}
_ITALIC = re.compile(r"(?<![*\w])\*([^*\n]+)\*(?!\*)")
_SHOWN = "__shown__"
_DRAWS = re.compile(r"viz\.(?:draw|explore)_")
_HEADING = re.compile(r"^##.*$", re.M)


def beside(cells: list[Any], place: int) -> set[str]:
    """The words in italics around a picture: of its section, above and below it."""
    texts = []
    if place and cells[place - 1].cell_type == "markdown":
        texts.append(_HEADING.split(cells[place - 1].source)[-1])
    if place + 1 < len(cells) and cells[place + 1].cell_type == "markdown":
        texts.append(_HEADING.split(cells[place + 1].source)[0])
    return set(_ITALIC.findall("\n\n".join(texts)))


def is_picture(shown: object) -> bool:
    """Figures, what moves, and executors; a type or a value is a line of text."""
    names = {f"{kind.__module__}.{kind.__name__}" for kind in type(shown).__mro__}
    drawn = {name for name in notebook.DISPLAYS if "execut" in name or "factor" in name}
    return (
        hasattr(shown, "sentence") or isinstance(shown, Figure) or bool(names & drawn)
    )


def words_of(shown: Any) -> str:
    """Everything that a picture says."""
    if isinstance(shown, Figure):
        return "\n".join([said(shown), *(t.get_text() for t in shown.findobj(Text))])
    if not hasattr(shown, "sentence"):
        shell = SimpleNamespace(display_formatter=DisplayFormatter())
        notebook.show_objects(shell)
        html = shell.display_formatter.format(shown)[0]["text/html"]
        return "\n".join(Reader(html).texts)
    words = [shown.sentence, *_texts(shown)]
    if not isinstance(getattr(shown, "_view", None), str):  # a table is in its texts
        words.append(words_of(shown.figure))
    return "\n".join(words)


def _texts(widget: Any) -> Iterator[str]:
    yield str(getattr(widget, "description", ""))
    yield re.sub("<[^>]+>", " ", str(getattr(widget, "value", "")))
    for child in getattr(widget, "children", ()):
        yield from _texts(child)


def run(cells: list[Any]) -> Iterator[tuple[int, Any]]:
    """The place of each cell that shows something, and what it shows."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for place, cell in enumerate(cells):
        if cell.cell_type == "code" and not is_check(cell):
            with suppress(*[Exception] * is_to_fail(cell)):
                yield place, asyncio.run(_run(cell.source, names))


async def _run(source: str, names: dict[str, Any]) -> Any:
    """What the last line of a cell is, if it is an expression."""
    module = ast.parse(source)
    if isinstance(last := module.body[-1], ast.Expr):
        module.body[-1] = ast.Assign([ast.Name(_SHOWN, ast.Store())], last.value)
    tree = ast.fix_missing_locations(module)
    code = compile(tree, "cell", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if inspect.iscoroutine(waits := eval(code, names)):
        await waits
    return names.pop(_SHOWN, None)


def up_to_the_last_picture(number: str) -> list[Any]:
    """The cells of a lesson; behind its last picture nothing has to run."""
    (path,) = (path for path in LESSONS if path.stem.split("_")[0] == number)
    cells = read(path).cells
    drawn = [i for i, cell in enumerate(cells) if _DRAWS.search(cell.source)]
    return list(cells[: drawn[-1] + 2])


LESSONS_RUN = [
    pytest.param(each, marks=[] if each in QUICK else pytest.mark.thorough)
    for each in TERMS
]


@pytest.mark.parametrize("number", LESSONS_RUN)
def test_words_in_italics_are_in_the_picture_beside_them(number: str) -> None:
    # Its intrinsic is forgotten after a test, and has to be defined anew.
    vars(exercise_named("distance_to_mean")).pop("solution", None)
    cells = up_to_the_last_picture(number)
    pictures = [(i, shown) for i, shown in run(cells) if is_picture(shown)]
    assert pictures
    for place, shown in pictures:
        text = words_of(shown)
        for word in beside(cells, place) - TERMS[number]:
            is_there = re.search(rf"\b{re.escape(word)}\b", text, re.I)
            assert is_there, f"cell {cells[place].id}: *{word}* is not in the picture"
