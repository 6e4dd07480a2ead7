# SPDX-License-Identifier: Apache-2.0
"""An error where a sentence would be: never a broken widget."""

from html import escape

from fedlearn_edu.errors import FedLearnError
from fedlearn_edu.viz.colors import ALARM


def as_alarm(error: Exception) -> str:
    """The parts of an error as HTML, one to a line.

    >>> as_alarm(FedLearnError("a <b>", do="c")).count("<br>")
    1
    """
    text = str(error)
    if not isinstance(error, FedLearnError):
        text = f"{type(error).__name__}: {text}"
    lines = "<br>".join(escape(line) for line in text.splitlines())
    border = f"border-left:6px solid {ALARM};padding-left:6px;display:block"
    return f'<span style="{border}">{lines}</span>'
