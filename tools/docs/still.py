# SPDX-License-Identifier: Apache-2.0
"""What moves, as a page can show it. The kernel of a lesson runs this before its cells.

A cell that ends in an explorer or a player shows the same parts in the same places, but
for the controls: those are named, with their values. What a button begins is done to
its end first, and an error of it is an error of the cell.
"""

import ast
from html import escape
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.display import HTML

_LIMIT_S = 120.0
_NAME = "__still__"
_BOXES = {
    "VBoxModel": "display:flex;flex-direction:column",
    "HBoxModel": "display:flex",
    "BoxModel": "display:flex",
    "GridBoxModel": "display:grid",
}


def still(shown: Any) -> Any:
    """What moves as HTML; anything else as it is."""
    if not (hasattr(shown, "controls") and hasattr(shown, "sentence")):
        return shown
    pressed = ""
    if job := getattr(shown, "job", None):
        job.start()
        job.wait(_LIMIT_S)
        if job.error:
            raise job.error
        pressed = f" “{job.begin.description}” was pressed."
        job.box.layout.display = "none"
    parts = (_words(control) for control in shown.controls.values())
    moves = " · ".join(filter(None, parts))
    note = escape(f"A still picture.{pressed} In JupyterLab you can move: {moves}")
    make: Any = HTML
    return make(f'<div class="still">{_html(shown)}<p>{note}</p></div>')


def _words(control: Any) -> str:
    """A control and what it says; nothing for one that is hidden."""
    named = getattr(control.box, "children", [control.box])[0]
    value = getattr(named, "label", named.value)
    if isinstance(value, bool):
        value = "yes" if value else "no"
    elif isinstance(value, float):
        value = f"{value:g}"
    is_hidden = control.box.layout.display == "none"
    return "" if is_hidden else f"{named.description}: {value}"


def _html(widget: Any) -> str:
    """The texts and pictures of a widget, laid out as they are."""
    kind, layout = widget._model_name, widget.layout
    if kind == "HTMLModel":
        inside = widget.value
    else:
        inside = "".join(map(_html, getattr(widget, "children", ())))
    if not inside or layout.display == "none":
        return ""
    rules = [
        f"{name.replace('_', '-')}:{value}"
        for name in layout.keys
        if name[0] != "_" and (value := getattr(layout, name)) is not None
    ]
    style = escape(";".join([*filter(None, [_BOXES.get(kind)]), *rules]))
    return f'<div style="{style}">{inside}</div>'


class _EndsStill(ast.NodeTransformer):
    """Shows what the last line of a cell makes, but still."""

    def visit_Module(self, cell: ast.Module) -> ast.Module:
        if cell.body and isinstance(last := cell.body[-1], ast.Expr):
            name = ast.Name(_NAME, ast.Load())
            call = ast.Call(ast.copy_location(name, last), [last.value], [])
            last.value = ast.copy_location(call, last.value)
        return cell


if shell := get_ipython():
    shell.user_ns[_NAME] = still
    shell.ast_transformers.append(_EndsStill())
