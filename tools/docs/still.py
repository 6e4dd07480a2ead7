# SPDX-License-Identifier: Apache-2.0
"""What moves, as a page can show it. The kernel of a lesson runs this before its cells.

A cell that ends in an explorer or a player shows the same parts in the same places, but
for the controls. What a button begins is done to its end first, and an error of it is
an error of the cell. A mean and an aggregation move on the page, too (explorers.js).
"""

import ast
import json
from html import escape
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.display import HTML

_LIMIT_S = 120.0
_NAME = "__still__"
_MOVING = {"MeanPicture": "mean", "AggregationPicture": "aggregation"}
_BOXES = {"HBoxModel": "flex", "BoxModel": "flex", "GridBoxModel": "grid"}


def still(shown: Any) -> Any:
    """What moves as HTML; anything else as it is."""
    if not (hasattr(shown, "controls") and hasattr(shown, "sentence")):
        return shown
    if job := getattr(shown, "job", None):
        job.start()
        job.wait(_LIMIT_S)
        if job.error:
            raise job.error
        job.box.layout.display = "none"
    kind = _MOVING.get(type(getattr(shown, "picture", None)).__name__, "")
    values = {name: each.source.value for name, each in shown.controls.items()}
    values["values"] = getattr(getattr(shown, "picture", None), "values", None)
    start = f' data-explorer="{kind}" data-start="{escape(json.dumps(values))}"'
    note = "A still picture: in JupyterLab it has controls, and moves."
    make: Any = HTML
    attributes = start if kind else ""
    return make(
        f'<figure class="still"{attributes}>{_html(shown)}<p>{note}</p></figure>'
    )


def _html(widget: Any) -> str:
    """The texts and pictures of a widget, laid out as they are."""
    kind, layout = widget._model_name, widget.layout
    children = getattr(widget, "children", ())
    inside = widget.value if kind == "HTMLModel" else "".join(map(_html, children))
    if not inside or layout.display == "none":
        return ""
    rules = {n: getattr(layout, n) for n in layout.keys if n[0] != "_"}
    rules["display"] = _BOXES.get(kind, rules.get("display"))
    style = ";".join(f"{n.replace('_', '-')}:{v}" for n, v in rules.items() if v)
    return f'<div style="{escape(style)}">{inside}</div>'


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
