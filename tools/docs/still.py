# SPDX-License-Identifier: Apache-2.0
"""What moves, as a page can show it. The kernel of a lesson runs this before its cells.

A cell that ends in an explorer or a player shows its picture, and its sentence. What
takes seconds is done to its end first, and an error of it is an error of the cell. What
has `moves_on_a_page` does so, too (explorers.js).
"""

import ast
from html import escape
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.display import HTML

from fedlearn_edu.viz.explorers.explorer import Explorer
from fedlearn_edu.viz.html import tag
from fedlearn_edu.viz.pictures import html

_LIMIT_S = 120.0
_NAME = "__still__"
_NOTE = "A still picture: in JupyterLab it has controls, and moves."


def still(shown: Any) -> Any:
    """What moves as a picture with its sentence; anything else as it is."""
    if not (hasattr(shown, "controls") and hasattr(shown, "sentence")):
        return shown
    if isinstance(shown, Explorer):
        shown.wait(_LIMIT_S)
    make: Any = HTML
    if moves := getattr(getattr(shown, "picture", None), "moves_on_a_page", None):
        said = tag("figcaption", escape(shown.sentence), aria_live="polite")
        inner = f"{said}{shown.html}{moves(**shown.values)}"
        return make(f'<figure class="still moves">{inner}</figure>')
    words = f"<p>{escape(shown.sentence)}</p><p>{_NOTE}</p>"
    return make(f'<figure class="still">{html(shown.figure)}{words}</figure>')


class _EndsStill(ast.NodeTransformer):
    """Shows what the last line of a cell makes, but still."""

    def visit_Module(self, cell: ast.Module) -> ast.Module:
        if cell.body and isinstance(last := cell.body[-1], ast.Expr):
            call = ast.Call(ast.Name(_NAME, ast.Load()), [last.value], [])
            last.value = ast.fix_missing_locations(ast.copy_location(call, last.value))
        return cell


if shell := get_ipython():
    shell.user_ns[_NAME] = still
    shell.ast_transformers.append(_EndsStill())
