# SPDX-License-Identifier: Apache-2.0
"""Draws how far a learner has come: lesson after lesson, in HTML.

Plain data in, a piece of a page or a whole one out; nothing is loaded from anywhere.
Each bar stands beside its numbers, so nothing is said by length or color alone, and
text has the color of the page it is on, light or dark.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import final

from fedlearn_edu.viz.colors import QUIET, TEST
from fedlearn_edu.viz.html import head, table, tag

_CELL = "border:0;padding:5px 12px 5px 0;vertical-align:baseline;text-align:left"
_NUMBER = f"{_CELL};white-space:nowrap;font-variant-numeric:tabular-nums"
_HEADS = ("lesson", "exercises", "points", "hints", "next")


@final
@dataclass(frozen=True)
class LessonRow:
    """How far one lesson is.

    Attributes:
        title: number and title.
        done: exercises that passed.
        exercises: how many there are.
        points: of the exercises that passed.
        most_points: of all of them.
        hints: rungs of the ladders of hints that were taken.
        next: what to do next in this lesson, in a few words.
    """

    title: str
    done: int
    exercises: int
    points: int
    most_points: int
    hints: int
    next: str


def draw_progress(rows: Sequence[LessonRow], sentence: str) -> str:
    """A sentence for all of it, and a row for each lesson.

    >>> row = LessonRow("1 · Hello", 1, 3, 5, 20, 2, "Say hello")
    >>> html = draw_progress([row], "1 of 3 exercises done.")
    >>> "1 of 3" in html, html.count("<tr")
    (True, 2)
    """
    heads = [head(name, f"{_CELL};font-weight:bold", "col") for name in _HEADS]
    shown = table(heads, map(_row, rows), style=";width:100%")
    said = tag("p", escape(sentence), role="status", style="margin:0 0 .5em")
    scrolls = tag("div", shown, tabindex="0", style="overflow-x:auto")
    look = "margin:.5em 0;line-height:1.4;max-width:60em;color:inherit"
    return tag(
        *("div", said, scrolls), role="group", aria_label="your progress", style=look
    )


def progress_page(rows: Sequence[LessonRow], sentence: str) -> str:
    """A whole page that opens in any browser, without network."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Your progress in fedlearn_edu</title>
<style>
body {{ font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; padding: 0 1rem;
       max-width: 62rem }}
h1 {{ font-size: 1.4rem }}
</style>
</head>
<body>
<main>
<h1>Your progress</h1>
{draw_progress(rows, sentence)}
</main>
</body>
</html>
"""


def _row(row: LessonRow) -> str:
    share = row.done / row.exercises if row.exercises else 0.0
    look = "height:6px;width:{};border-radius:3px;background:{}"
    done = tag("div", style=look.format(f"{share:.0%}", TEST))
    bar = tag("div", done, aria_hidden="true", style=look.format("5em", f"{QUIET}55"))
    line = f";border-top:1px solid {QUIET}66"
    return "".join(
        [
            head(escape(row.title), f"{_CELL};font-weight:normal;min-width:9em{line}"),
            tag("td", f"{row.done} of {row.exercises}{bar}", style=_NUMBER + line),
            tag("td", f"{row.points} of {row.most_points}", style=_NUMBER + line),
            tag("td", str(row.hints), style=_NUMBER + line),
            tag("td", escape(row.next), style=f"{_CELL};min-width:8em{line}"),
        ]
    )
