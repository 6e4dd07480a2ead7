# SPDX-License-Identifier: Apache-2.0
"""What a teacher wants to see of a class: who was told what, and feedback to hand back.

    nbgrader export --exporter fedlearn_edu.course.class_report.ClassReport --to class

Like `grading.py`, this needs nbgrader. It reads what `autograde` and
`generate_feedback` have left.
"""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from html import escape
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Final, final
from zipfile import ZIP_DEFLATED, ZipFile

import nbformat
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import ExportPlugin

from fedlearn_edu.course.feedback import in_code
from fedlearn_edu.course.grading import verdict_in
from fedlearn_edu.viz.html import head, table, tag

_CHECK: Final = "check-"
_NOTHING: Final = "nothing handed in"
_CELL: Final = (
    "padding:4px 12px 4px 0;text-align:left;vertical-align:top;"
    "border-top:1px solid #8888"
)
_PAGE: Final = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Who was told what</title>
<meta name="viewport" content="width=device-width">
<style>:root {{ color-scheme:light dark; font: 15px/1.4 sans-serif }}</style>
</head><body>{body}</body></html>
"""


@final
@dataclass(frozen=True)
class Told:
    """What became of one exercise of one student.

    Attributes:
        lesson: its name.
        student: the name in the gradebook.
        exercise: its name.
        points: `None` where the submission did not run, or there is none.
        most: the points of a right answer.
        cause: the likely cause that the student was told; empty if it was right.
    """

    lesson: str
    student: str
    exercise: str
    points: float | None
    most: float
    cause: str


@final
class ClassReport(ExportPlugin):  # type: ignore[misc]  # it has no types
    """Writes a folder for the teacher.

    - `causes.html`, with a table for each lesson: students, exercises, and the likely
      cause that each was told; on top, the commonest ones
    - `causes.csv`, the same with a line for each
    - `feedback/ada.zip`, the pages of each student, to hand back
    """

    def export(self, gradebook: Gradebook) -> None:
        """Writes it into the folder `--to`, or into `class`."""
        folder, course = Path(self.to or "class"), CourseDirectory(config=self.config)
        (folder / "feedback").mkdir(parents=True, exist_ok=True)
        names = self.student or [student.id for student in gradebook.students]
        found = list(_told(gradebook, course, names, self.assignment))
        with (folder / "causes.csv").open("w", newline="", encoding="utf-8") as file:
            lines = csv.writer(file)
            lines.writerow([field.name for field in fields(Told)])
            lines.writerows(map(astuple, found))
        (folder / "causes.html").write_text(page(found), encoding="utf-8")
        for student in names:
            _zip(folder / "feedback" / f"{student}.zip", course, student)


def _told(
    gradebook: Gradebook,
    course: CourseDirectory,
    students: Sequence[str],
    lessons: Sequence[str],
) -> Iterator[Told]:
    for lesson in lessons or [each.name for each in gradebook.assignments]:
        handed_in = {
            student: _points(gradebook, lesson, student) for student in students
        }
        if not any(handed_in.values()):
            continue
        for student, points in handed_in.items():
            said = _verdicts(course, lesson, student)
            for cell in gradebook.find_notebook(lesson, lesson).grade_cells:
                if cell.name.startswith(_CHECK):
                    name = cell.name.removeprefix(_CHECK)
                    got = points.get(cell.name) if cell.name in said else None
                    cause = said.get(cell.name, "") if points else _NOTHING
                    yield Told(lesson, student, name, got, cell.max_score, cause)


def _points(gradebook: Gradebook, lesson: str, student: str) -> dict[str, float]:
    """Those of each check; none if nothing was handed in."""
    try:
        found = gradebook.find_submission_notebook(lesson, lesson, student)
    except MissingEntry:
        return {}
    return {grade.name: grade.score for grade in found.grades}


def _verdicts(course: CourseDirectory, lesson: str, student: str) -> dict[str, str]:
    """What the check of each exercise said, by the name of its cell."""
    at = course.format_path(course.autograded_directory, student, lesson)
    file = Path(at) / f"{lesson}.ipynb"
    if not file.is_file():
        return {}
    cells = nbformat.read(file, as_version=4).cells  # type: ignore[no-untyped-call]
    about = [
        (cell.metadata.get("nbgrader", {}).get("grade_id"), cell) for cell in cells
    ]
    return {name: verdict_in(cell) for name, cell in about if name}


def _zip(file: Path, course: CourseDirectory, student: str) -> None:
    """All pages of a student, in a folder for each lesson."""
    at = Path(course.format_path(course.feedback_directory, student, "."))
    pages = sorted(at.glob("*/*.html"))
    if pages:
        with ZipFile(file, "w", ZIP_DEFLATED) as archive:
            for each in pages:
                archive.write(each, each.relative_to(at))


def page(found: Iterable[Told]) -> str:
    """The table of each lesson, as an HTML page.

    >>> one = Told("01_hello", "ada", "average_of", 5, 10, "you took the sum")
    >>> "5 of 10" in page([one]), "you took the sum" in page([one])
    (True, True)
    """
    lessons = groupby(found, attrgetter("lesson"))
    parts = [tag("h2", escape(name)) + _table(list(each)) for name, each in lessons]
    return _PAGE.format(body="".join(parts) or tag("p", "Nothing was handed in yet."))


def _table(found: list[Told]) -> str:
    exercises = list(dict.fromkeys(each.exercise for each in found))
    causes = {name: _commonest(found, name) for name in exercises}
    heads = [head(escape(text), _CELL, "col") for text in ("student", *exercises)]
    rows = [head("most often", _CELL) + "".join(causes.values())]
    for student, theirs in groupby(found, attrgetter("student")):
        by_name = {each.exercise: each for each in theirs}
        cells = [_cell(by_name.get(name)) for name in exercises]
        rows.append(head(escape(student), _CELL) + "".join(cells))
    return table(heads, rows)


def _commonest(found: Iterable[Told], exercise: str) -> str:
    causes = Counter(each.cause for each in found if each.exercise == exercise)
    del causes[""], causes[_NOTHING]
    [(cause, count), *_] = [*causes.most_common(1), ("", 0)]
    return tag("td", f"{count}: {in_code(cause)}" if count else "–", style=_CELL)


def _cell(told: Told | None) -> str:
    if told is None:
        return tag("td", "–", style=_CELL)
    if told.points is None:
        return tag("td", f"– {told.cause}", style=_CELL)
    points = tag("strong", f"{told.points:g} of {told.most:g}")
    return tag("td", points, f" {in_code(told.cause)}", style=_CELL)
