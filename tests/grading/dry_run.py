# SPDX-License-Identifier: Apache-2.0
"""A class of 26 hands in a lesson, and everything is done with it.

release → class list → downloads → collect → autograde → feedback → export

It happens in a temporary folder, and shows what a teacher would see. Everybody's marks
are known beforehand; the exit status is 1 if somebody gets others.

python -m tests.grading.dry_run 01 --students 14
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat

from fedlearn_edu.course.grading import DID_NOT_RUN, MOST_DEATHS
from tests.grading.answers import Answer, answers_of
from tests.grading.course import ENDLESS, Course
from tools.cells import check_cells, read, write
from tools.release import SOURCE, lesson_names

KINDS = (
    *("right", "half_right", "wrong", "untouched", "does_not_parse", "ends_the_kernel"),
    *("loops_forever", "renamed", "renamed_again", "edited_checks"),
    *("nothing", "no_name", "ends_it_again"),
)
NOT_HANDED_IN = "nothing handed in"
DIES = "import os\nos._exit(1)"

Cells = Mapping[str, str | None]
Points = Mapping[str, float]


@dataclass(frozen=True)
class Lesson:
    """What there is to hand in, and what it is worth."""

    name: str
    points: Points
    answers: Sequence[Answer]

    @classmethod
    def named(cls, name: str) -> "Lesson":
        checks = check_cells(read(SOURCE / name / f"{name}.ipynb"))
        points = {e: float(c.metadata.nbgrader.points) for e, c in checks.items()}
        return cls(name, points, answers_of(name))

    def answered(self, number: int, right: Sequence[bool]) -> tuple[Cells, Points]:
        """A right or a wrong answer to each exercise; other numbers choose others."""
        cells, deserved = {}, {}
        for (exercise, worth), is_right in zip(self.points.items(), right, strict=True):
            kind = (exercise, is_right)
            some = [a for a in self.answers if (a.exercise, a.is_right) == kind]
            cells[exercise] = some[number % len(some)].source
            deserved[exercise] = worth * is_right
        return cells, deserved


@dataclass(frozen=True)
class Student:
    """What somebody hands in, and the points it deserves.

    Attributes:
        name: says what is handed in.
        files: name of a file to the cells in it.
        deserved: for each exercise; nothing if there is nothing to grade.
        status: what the exported table has to say.
        deaths: how many further cells end the kernel.
        halves: for wrong answers: what those have that are right in half of the cases.
    """

    name: str
    files: Mapping[str, Cells]
    deserved: Points = field(default_factory=dict)
    status: str = "graded"
    deaths: int = 0
    halves: Points = field(default_factory=dict)


def class_of(lesson: Lesson, size: int) -> list[Student]:
    """Every kind comes once before a kind comes again."""
    rounds = [divmod(number, len(KINDS)) for number in range(size)]
    return [_student(lesson, KINDS[kind], again) for again, kind in rounds]


def _student(lesson: Lesson, kind: str, number: int) -> Student:
    name = f"{kind}_{number}" if number else kind
    count = len(lesson.points)
    right, all_points = lesson.answered(number, [True] * count)
    half, half_points = lesson.answered(number, [n % 2 == 1 for n in range(count)])
    wrong, none = lesson.answered(number, [False] * count)
    first, *_, last = lesson.points
    own = f"{name}/{lesson.name}.ipynb"
    match kind:
        case "does_not_parse" | "ends_the_kernel" | "loops_forever":
            broken = {
                "does_not_parse": (first, "def answer(:"),
                "ends_the_kernel": (last, DIES),
                "loops_forever": (first, ENDLESS),
            }
            exercise, source = broken[kind]
            cells = {**right, exercise: source}
            return Student(name, {own: cells}, {**all_points, exercise: 0})
        case "half_right":
            halves = _halves(lesson, half_points)
            return Student(name, {own: half}, half_points, halves=halves)
        case "wrong":
            return Student(name, {own: wrong}, none, halves=_halves(lesson, none))
        case "untouched":
            return Student(name, {own: {}}, none)
        case "renamed":
            renamed = f"{name}_{lesson.name}-Copy1.ipynb"
            return Student(name, {renamed: right}, all_points)
        case "renamed_again":
            by_moodle = f"Ada King_{number}_file_"
            renamed = f"all/{by_moodle}/{lesson.name} (1).ipynb"
            return Student(by_moodle, {renamed: right}, all_points)
        case "edited_checks":
            edited: dict[str, str | None] = {f"check-{e}": "pass" for e in none}
            return Student(name, {own: {**edited, f"check-{last}": None}}, none)
        case "nothing":
            return Student(name, {}, status=NOT_HANDED_IN)
        case "no_name":
            nameless = {f"{lesson.name} ({7 + number}).ipynb": right}
            return Student(name, nameless, status=NOT_HANDED_IN)
        case "ends_it_again":
            return Student(name, {own: right}, {}, DID_NOT_RUN, MOST_DEATHS + 1)
    return Student(name, {own: right}, all_points)


def _halves(lesson: Lesson, deserved: Points) -> Points:
    return {e: lesson.points[e] // 2 for e, points in deserved.items() if not points}


# ------------------------------------------------------------------ the whole way


@dataclass(frozen=True)
class Row:
    """A student in the table at the end."""

    student: Student
    status: str
    points: Points
    has_feedback: bool

    @property
    def is_as_deserved(self) -> bool:
        deserved, halves = self.student.deserved, self.student.halves
        points = {e: 0 if p == halves.get(e) else p for e, p in self.points.items()}
        return (self.status, points, self.has_feedback) == (
            self.student.status,
            deserved,
            self.student.status == "graded",
        )


def run(lesson: Lesson, students: Sequence[Student], root: Path) -> list[Row]:
    """Everything from the release to the table of points, in the folder `root`."""
    course = Course.release(SOURCE / lesson.name, root / "course")
    course.enrol(student.name for student in students)
    for student in students:
        _download(course, student)
    course.collect()
    course.grade_all()
    exported = {row["student_id"]: row for row in course.export()}
    return [_row(course, student, exported[student.name]) for student in students]


def _download(course: Course, student: Student) -> None:
    """Writes what a browser or a platform has left of a submission."""
    new_cell: Any = nbformat.v4.new_code_cell
    for name, cells in student.files.items():
        course.hand_in(student.name, cells)
        notebook = read(course.submitted(student.name))
        ends = [new_cell(DIES, id=f"end-{n}") for n in range(student.deaths)]
        notebook.cells += ends
        write(notebook, course.downloads / name)
        shutil.rmtree(course.submitted(student.name).parents[1])


def _row(course: Course, student: Student, exported: Mapping[str, str]) -> Row:
    page = course.root / "build/feedback" / student.name / course.lesson
    status = exported["status"]
    points = course.points(student.name) if status == "graded" else {}
    assert sum(points.values()) == float(exported["score"] or 0)
    return Row(student, status, points, (page / f"{course.lesson}.html").is_file())


# ------------------------------------------------------------------ what is printed


def table(rows: Sequence[Row]) -> Iterator[str]:
    """A line for each student: what was handed in, and what came of it."""
    yield f"{'handed in':20}{'status':19}{'points':>6}{'deserved':>10}"
    for row in rows:
        student = row.student
        points, deserved = (
            f"{sum(each.values()):g}" if status == "graded" else "–"
            for each, status in (
                (row.points, row.status),
                (student.deserved, student.status),
            )
        )
        wrong = "" if row.is_as_deserved else f"  <- {dict(row.points)}"
        yield f"{student.name:20}{row.status:19}{points:>6}{deserved:>10}{wrong}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints what a teacher would see; 1 if a mark is not the one deserved."""
    parser = argparse.ArgumentParser(description="A class hands in a lesson.")
    parser.add_argument("lesson", nargs="?", default="01", help="how its name begins")
    parser.add_argument("--students", type=int, default=2 * len(KINDS))
    chosen = parser.parse_args(arguments)
    [name] = [name for name in lesson_names() if name.startswith(chosen.lesson)]
    lesson = Lesson.named(name)
    with tempfile.TemporaryDirectory() as folder:
        rows = run(lesson, class_of(lesson, chosen.students), Path(folder))
    print("nbgrader zip_collect, autograde, generate_feedback, export\n")
    print(*table(rows), sep="\n")
    wrong = sum(not row.is_as_deserved for row in rows)
    print(f"{wrong} of {len(rows)} have other marks than they deserve")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
