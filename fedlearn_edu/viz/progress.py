# SPDX-License-Identifier: Apache-2.0
"""Draws the map of the course, and how far a learner has come, in HTML.

Plain data in, a piece of a page out; nothing is loaded from anywhere.
Each bar stands beside its numbers, so nothing is said by length or color alone, and
text has the color of the page it is on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import final

from fedlearn_edu.viz.colors import QUIET, TEST
from fedlearn_edu.viz.html import head, strong, table, tag

_CELL = "border:0;padding:5px 10px 5px 0;vertical-align:baseline;text-align:left"
_NUMBER = f"{_CELL};white-space:nowrap;font-variant-numeric:tabular-nums"
_LINE = f";border-top:1px solid {QUIET}66"
# In JupyterLab columns without a width are equally wide. What is last is the first
# that a narrow window hides.
_WIDTHS = {"lesson": 34, "minutes": 11, "exercises": 13}
_WIDTHS |= {"next": 22, "points": 12, "hints": 8}


@final
@dataclass(frozen=True)
class LessonRow:
    """How far one lesson is.

    Attributes:
        path: the way through the course that it is on.
        title: number and title.
        minutes: what it takes.
        done: exercises that passed.
        exercises: how many there are.
        points: of the exercises that passed.
        most_points: of all of them.
        hints: rungs of the ladders of hints that were taken.
        next: what to do next in this lesson, in a few words.
        is_next: whether this is what to do next in the course.
        address: of the lesson, from the notebook that shows the row; none if empty.
    """

    path: str
    title: str
    minutes: int
    done: int
    exercises: int
    points: int
    most_points: int
    hints: int
    next: str
    is_next: bool = False
    address: str = ""


def draw_progress(rows: Sequence[LessonRow], sentence: str) -> str:
    """A sentence for all of it, and a row for each lesson, below its path.

    >>> row = LessonRow("Learning", "01 Hello", 25, 1, 3, 5, 20, 2, "Say hello")
    >>> html = draw_progress([row], "1 of 3 exercises done.")
    >>> "1 of 3" in html, html.count("<tr")
    (True, 3)
    """
    look = f"{_CELL};font-weight:bold;width:"
    shares = list(_WIDTHS.items())[: 5 + any(row.hints for row in rows)]
    heads = [head(name, f"{look}{share}%", "col") for name, share in shares]
    body = []
    for path, lessons in groupby(rows, key=lambda row: row.path):
        body += [_path(path, len(heads)), *(_row(each, len(heads)) for each in lessons)]
    shown = table(heads, body, style=";width:100%;min-width:45em")
    said = tag("p", escape(sentence), role="status", style="margin:0 0 .5em")
    scrolls = tag("div", shown, tabindex="0", style="overflow-x:auto")
    look = "margin:.5em 0;line-height:1.4;max-width:62em;color:inherit"
    return tag(
        *("div", said, scrolls), role="group", aria_label="your progress", style=look
    )


def _path(name: str, columns: int) -> str:
    look = f"{_CELL};padding-top:14px;font-weight:bold"
    return tag("th", escape(name), scope="rowgroup", colspan=str(columns), style=look)


def _row(row: LessonRow, columns: int) -> str:
    share = row.done / row.exercises if row.exercises else 0.0
    look = "height:6px;width:{};max-width:5em;border-radius:3px;background:{}"
    done = tag("div", style=look.format(f"{share:.0%}", TEST))
    bar = tag("div", done, aria_hidden="true", style=look.format("100%", f"{QUIET}55"))
    title, then = escape(row.title), escape(row.next)
    if row.address:
        title = tag("a", title, href=escape(row.address))
    if row.is_next:
        then = f"\N{RIGHTWARDS ARROW} {strong(row.next)}"
    cells = (
        (_NUMBER, str(row.minutes)),
        (_NUMBER, f"{row.done} of {row.exercises}{bar}"),
        (_CELL, then),
        (_NUMBER, f"{row.points} of {row.most_points}"),
        (_NUMBER, str(row.hints)),  # last: it is there once a hint was taken
    )[: columns - 1]
    title = head(title, f"{_CELL};font-weight:normal{_LINE}")
    return title + "".join(tag("td", each, style=look + _LINE) for look, each in cells)
