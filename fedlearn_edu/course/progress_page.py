# SPDX-License-Identifier: Apache-2.0
"""The map of the course, and how far a learner has come.

    lessons and what `records` kept → a row for each lesson → text or HTML

Points are those of the exercises that passed. Hints cost nothing; they are shown so
that you know what to come back to.
"""

import re
import textwrap
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from fedlearn_edu.course import records
from fedlearn_edu.course.exercise import Exercise, Lesson, by_path
from fedlearn_edu.course.lessons import load_all
from fedlearn_edu.course.records import Progress
from fedlearn_edu.errors import counted, short_traceback
from fedlearn_edu.viz.notebook import publish
from fedlearn_edu.viz.progress import LessonRow, draw_progress

_WIDTH = 80
_NUMBER = re.compile(r"(\d+)([a-z]?)")  # of a lesson, in words: 9a


@short_traceback
def progress() -> None:
    """Shows all lessons, and your progress in them; run it again to see it move on.

    Lessons on this machine are links.
    """
    lessons, now = load_all(), records.read()
    html = draw_progress(rows(lessons, now, Path()), _told(lessons, now))
    publish(html, as_text(lessons, now))


def rows(
    lessons: Sequence[Lesson], progress: Progress, folder: Path | None = None
) -> list[LessonRow]:
    """A row for each lesson, path by path, with links from a notebook in `folder`."""
    step = _next_lesson(lessons, progress)
    return [
        _row(lesson, progress, is_next=lesson is step, address=_address(lesson, folder))
        for path in by_path(lessons).values()
        for lesson in path
    ]


def sentence(lessons: Sequence[Lesson], progress: Progress) -> str:
    """In two sentences: how much is done, and what comes next."""
    drawn = rows(lessons, progress)
    done, points = sum(r.done for r in drawn), sum(r.points for r in drawn)
    exercises = sum(r.exercises for r in drawn)
    most = sum(r.most_points for r in drawn)
    told = f"{done} of {exercises} exercises done, {points} of {most} points."
    return f"{told} {_next_step(lessons, progress)}"


def as_text(lessons: Sequence[Lesson], progress: Progress) -> str:
    """For a terminal: what is done, points, hints, and the lesson."""
    lines = [" done    points"]
    for path, group in groupby(rows(lessons, progress), key=lambda row: row.path):
        lines.append(path)
        for row in group:
            done, of_all = f"{row.done}/{row.exercises}", f"/{row.most_points}"
            hints = f" ({counted(row.hints, 'hint')})" if row.hints else ""
            facts = f"{done:>5} {row.points:>5}{of_all:<5}  {row.number} {row.title}"
            lines.append(facts + hints)
    return "\n".join([*lines, "", textwrap.fill(_told(lessons, progress), _WIDTH)])


def _row(
    lesson: Lesson, progress: Progress, *, is_next: bool, address: str
) -> LessonRow:
    open_ = _open(lesson, progress)
    done = [each for each in lesson.exercises if each not in open_]
    return LessonRow(
        path=lesson.path,
        number=lesson.number,
        title=lesson.title,
        minutes=lesson.minutes,
        done=len(done),
        exercises=len(lesson.exercises),
        points=sum(each.points for each in done),
        most_points=lesson.points,
        hints=sum(progress.of(each.name).hints for each in lesson.exercises),
        after=tuple(f"{n:0>2}{part}" for n, part in _NUMBER.findall(lesson.needs)),
        next=open_[0].title if is_next else "",
        address=address,
    )


def _address(lesson: Lesson, folder: Path | None) -> str:
    """From the folder of all lessons, or from that of one of them."""
    if folder is None:
        return ""
    ways = (lesson.file, f"../{lesson.file}")
    return next((way for way in ways if (folder / way).is_file()), "")


def _open(lesson: Lesson, progress: Progress) -> list[Exercise]:
    return [each for each in lesson.exercises if not progress.of(each.name).passed]


def _next_lesson(lessons: Sequence[Lesson], progress: Progress) -> Lesson | None:
    """What was begun; then, on the path of what was done last, what follows there."""
    passed = [
        (day, place)
        for place, lesson in enumerate(lessons)
        for each in lesson.exercises
        if (day := progress.of(each.name).passed)
    ]
    _, last = max(passed, default=("", 0))
    reached = {lessons[place].path: place for _, place in passed}

    def rank(place: int) -> tuple[bool, bool, bool]:
        path = lessons[place].path
        is_begun = any(each.name in progress for each in lessons[place].exercises)
        return not is_begun, path != lessons[last].path, place < reached.get(path, 0)

    waiting = [n for n, lesson in enumerate(lessons) if _open(lesson, progress)]
    return lessons[min(waiting, key=rank)] if waiting else None


def _next_step(lessons: Sequence[Lesson], progress: Progress) -> str:
    lesson = _next_lesson(lessons, progress)
    if lesson is None:
        return "You have done every exercise."
    exercise = _open(lesson, progress)[0]
    return (
        f"Next: lesson {lesson.number}, “{exercise.title}” ({exercise.points} points), "
        f"in {lesson.name}.ipynb."
    )


def _told(lessons: Sequence[Lesson], progress: Progress) -> str:
    told = sentence(lessons, progress)
    if records.file() is not None:
        return told
    return f"{told} Nothing is kept: {records.VARIABLE} is off, or a grader runs this."
