# SPDX-License-Identifier: Apache-2.0
"""Draws the map of the course, and how far a learner has come, in HTML.

Plain data in, a piece of a page out; nothing is loaded from anywhere. Two paths go down
side by side, and between them lines lead from each lesson to those that build on it
(`rails`). Words repeat what marks show, and text has the color of the page it is on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import final

from fedlearn_edu.errors import counted
from fedlearn_edu.viz.html import strong, tag
from fedlearn_edu.viz.rails import Stop, draw_rails, placed

_GRID = (
    "display:grid;grid-template-columns:minmax(0,1fr) auto minmax(0,1fr);"
    "line-height:1.4;max-width:80em"
)
_SIDES = ("right", "left")  # where the lines are, seen from a lesson of either path


@final
@dataclass(frozen=True)
class LessonRow:
    """How far one lesson is.

    Attributes:
        path: the way through the course that it is on.
        number: its place in the course.
        title: what it asks.
        minutes: what it takes.
        done: exercises that passed.
        exercises: how many there are.
        points: of the exercises that passed.
        most_points: of all of them.
        hints: rungs of the ladders of hints that were taken.
        after: the numbers of lessons that it needs.
        next: the exercise to do next in the course, if it is in this lesson.
        address: of the lesson, from the notebook that shows the row; none if empty.
    """

    path: str
    number: str
    title: str
    minutes: int
    done: int
    exercises: int
    points: int
    most_points: int
    hints: int
    after: tuple[str, ...] = ()
    next: str = ""
    address: str = ""


def draw_progress(rows: Sequence[LessonRow], sentence: str) -> str:
    """A sentence for all of it, and below it the lessons of each path, in their order.

    >>> row = LessonRow("Learning", "01", "Hello", 25, 1, 3, 5, 20, 2)
    >>> html = draw_progress([row], "1 of 3 exercises done.")
    >>> "1 of 3" in html, html.count("<img")
    (True, 1)
    """
    paths = list(dict.fromkeys(row.path for row in rows))
    stops = [_stop(row, paths.index(row.path)) for row in rows]
    place = placed(stops)
    cells = []
    for side, path in enumerate(paths):
        lessons = [row for row in rows if row.path == path]
        minutes = sum(row.minutes for row in lessons)
        words = f"{strong(path)}<br>{minutes // 60} h {minutes % 60} min"
        cells.append(_cell(words, 1, side, "padding:4px 0"))
        cells += [_cell(_lesson(r, side), place[r.number] + 2, side) for r in lessons]
    between = enumerate(draw_rails(stops), start=2)
    cells += [tag("div", e, style=f"grid-row:{n};grid-column:2") for n, e in between]
    said = tag("p", escape(sentence), role="status", style="margin:0 0 .5em")
    drawn = tag("div", *cells, style=_GRID)
    label = "the lessons, and your progress"
    return tag(
        "div", said, drawn, role="group", aria_label=label, style="color:inherit"
    )


def _stop(row: LessonRow, side: int) -> Stop:
    return Stop(row.number, side, row.after, row.done / max(row.exercises, 1))


def _cell(inner: str, row: int, side: int, look: str = "min-height:3.6em") -> str:
    place = f"grid-row:{row};grid-column:{1 + 2 * side}"
    return tag("div", inner, style=f"{place};text-align:{_SIDES[side]};{look}")


def _lesson(row: LessonRow, side: int) -> str:
    """Number and title, with the number beside its mark; below it what is known."""
    number = tag("strong", row.number, style="flex:none;min-width:2.2em")
    flow = ("row-reverse", "row")[side]
    look = f"display:flex;flex-direction:{flow};gap:.6em;margin:7px 0 0"
    link = {"href": escape(row.address)} if row.address else {}
    name = "a" if row.address else "div"
    shown = tag(name, number, " ", tag("span", escape(row.title)), style=look, **link)
    facts = [f"{row.minutes} min", counted(row.exercises, "exercise")]
    if row.done:
        facts[1] = f"{row.done} of {row.exercises} done"
        facts.append(f"{row.points} of {row.most_points} points")
    if row.hints:
        facts.append(counted(row.hints, "hint"))
    space = "\N{NO-BREAK SPACE}"
    told = f"{space}· ".join(fact.replace(" ", space) for fact in facts)
    if row.next:
        told += f"<br>{strong(f'Next: {row.next}')}"
    apart = f"font-size:.9em;padding-{_SIDES[side]}:3.11em"
    return shown + tag("div", told, style=apart)
