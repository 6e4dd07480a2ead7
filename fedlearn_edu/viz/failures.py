# SPDX-License-Identifier: Apache-2.0
"""Draws an error object: its four parts set apart, in HTML.

An error that is raised shows itself as text (`FedLearnError._render_traceback_`); this
is for one that is looked at.
"""

from html import escape

from fedlearn_edu.errors import FedLearnError
from fedlearn_edu.viz.colors import ALARM

_PARTS = {
    "expected": "expected",
    "found": "found",
    "where": "where",
    "do": "what to do",
}
_NAME = "font-weight:bold;text-align:left;vertical-align:baseline;white-space:nowrap"
_CELL = "padding:1px 12px 1px 0;margin:0"
_TEXT = "text-align:left;overflow-wrap:anywhere;white-space:pre-wrap"


def draw_error(error: FedLearnError) -> str:
    """What was expected, found, where, and what to do, below each other.

    >>> html = draw_error(FedLearnError("wrong fruit", expected="apple", found="pear"))
    >>> "wrong fruit" in html, html.count('<th scope="row"')
    (True, 2)
    """
    values = [(word, getattr(error, name)) for name, word in _PARTS.items()]
    rows = "".join(_row(word, str(v)) for word, v in values if v is not None)
    notes = "".join(
        f'<div style="overflow-wrap:anywhere">{escape(note)}</div>'
        for note in getattr(error, "__notes__", [])
    )
    table = (
        f'<table style="border-collapse:collapse;margin:4px 0 0"><tbody>{rows}</tbody>'
        "</table>"
    )
    return (
        f'<div role="group" aria-label="an error" style="border-left:6px solid {ALARM};'
        'padding-left:8px;margin:.5em 0;line-height:1.4;max-width:60em">'
        f"<div>{type(error).__name__}: <strong>{escape(error.summary)}</strong></div>"
        f"{table if rows else ''}{notes}</div>"
    )


def _row(word: str, text: str) -> str:
    """`where` draws carets, so it keeps its spaces."""
    look = ";font-family:monospace" if "\n" in text else ""
    return (
        f'<tr><th scope="row" style="{_CELL};{_NAME}">{word}</th>'
        f'<td style="{_CELL};{_TEXT}{look}">{escape(text)}</td></tr>'
    )
