# SPDX-License-Identifier: Apache-2.0
"""How far a learner has come: as text, as a page, and under a cell of a notebook.

    lessons and what `records` kept → a row for each lesson → text, HTML or a widget

Points are those of the exercises that passed. Hints cost nothing; they are shown so
that you know what to come back to.
"""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fedlearn_edu.course import records
from fedlearn_edu.course.exercise import Exercise, Lesson
from fedlearn_edu.course.records import Progress
from fedlearn_edu.errors import short_traceback
from fedlearn_edu.viz.progress import LessonRow, draw_progress, progress_page

if TYPE_CHECKING:
    from fedlearn_edu.viz.progress_view import ProgressView

_WIDTH = 80


@short_traceback
def progress() -> "ProgressView":
    """Your progress in all lessons: end a cell with it.

    It changes when a check in this notebook passes; run the cell again for what you did
    in other notebooks.
    """
    from fedlearn_edu.course.lessons import LESSONS

    return view(LESSONS)


def rows(lessons: Sequence[Lesson], progress: Progress) -> list[LessonRow]:
    """A row for each lesson."""
    return [_row(lesson, progress) for lesson in lessons]


def sentence(lessons: Sequence[Lesson], progress: Progress) -> str:
    """In two sentences: how much is done, and what comes next."""
    drawn = rows(lessons, progress)
    done, points = sum(r.done for r in drawn), sum(r.points for r in drawn)
    exercises = sum(r.exercises for r in drawn)
    most = sum(r.most_points for r in drawn)
    told = f"{done} of {exercises} exercises done, {points} of {most} points."
    return f"{told} {_next_step(lessons, progress)} {_what_is_kept()}".rstrip()


def as_text(lessons: Sequence[Lesson], progress: Progress) -> str:
    """The page for a terminal: what is done, points, hints, and the lesson."""
    lines = [
        f"{f'{row.done}/{row.exercises}':>5} {row.points:>5}/{row.most_points:<4}"
        f"{row.hints:>4}  {row.title}"
        for row in rows(lessons, progress)
    ]
    told = textwrap.fill(sentence(lessons, progress), _WIDTH)
    return "\n".join([" done    points hints", *lines, "", told])


def as_page(lessons: Sequence[Lesson], progress: Progress) -> str:
    """The page as one HTML file that needs nothing else."""
    return progress_page(rows(lessons, progress), sentence(lessons, progress))


def view(lessons: Sequence[Lesson]) -> "ProgressView":
    """The page under a cell; it changes when a check in this notebook passes."""
    from fedlearn_edu.viz.progress_view import ProgressView

    def draw() -> tuple[str, str]:
        now = records.read()
        html = draw_progress(rows(lessons, now), sentence(lessons, now))
        return html, as_text(lessons, now)

    shown = ProgressView(draw)
    records.subscribe(lambda _: shown.refresh())
    return shown


def _row(lesson: Lesson, progress: Progress) -> LessonRow:
    open_ = _open(lesson, progress)
    done = [each for each in lesson.exercises if each not in open_]
    return LessonRow(
        title=f"{lesson.number:02} {lesson.title}",
        done=len(done),
        exercises=len(lesson.exercises),
        points=sum(each.points for each in done),
        most_points=lesson.points,
        hints=sum(progress.of(each.name).hints for each in lesson.exercises),
        next=open_[0].title if open_ else "done" * bool(done),
    )


def _open(lesson: Lesson, progress: Progress) -> list[Exercise]:
    return [each for each in lesson.exercises if not progress.of(each.name).passed]


def _next_step(lessons: Sequence[Lesson], progress: Progress) -> str:
    """What was begun comes before what was not."""
    waiting = [lesson for lesson in lessons if _open(lesson, progress)]
    if not waiting:
        return "You have done everything there is."
    begun = [
        lesson
        for lesson in waiting
        if any(each.name in progress for each in lesson.exercises)
    ]
    lesson = [*begun, *waiting][0]
    exercise = _open(lesson, progress)[0]
    return (
        f"Next: lesson {lesson.number}, “{exercise.title}” ({exercise.points} points), "
        f"in {lesson.name}.ipynb."
    )


def _what_is_kept() -> str:
    if records.file() is not None:
        return ""
    return (
        f"Nothing is kept: {records.VARIABLE} is off, or this notebook is being graded."
    )
