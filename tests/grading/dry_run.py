# SPDX-License-Identifier: Apache-2.0
"""`make class`: a class of 30 hands in a lesson, and everything is done with it.

release → class list → downloads → collect → autograde → feedback → export

It happens in a temporary folder, and shows what a teacher would see. Everybody's marks
are known beforehand; the exit status is 1 if somebody gets others.

python -m tests.grading.dry_run 01 --students 30
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat

from fedlearn_edu.course import collect
from fedlearn_edu.course.grading import DID_NOT_RUN, MOST_DEATHS
from tests.grading.answers import answers_of
from tests.grading.course import ENDLESS, Course
from tools.cells import check_cells, read, write
from tools.release import SOURCE, lesson_names

NAMES = (
    *("ada", "alan", "barbara", "blaise", "carl", "cynthia"),
    *("dorothy", "edsger", "emmy", "euclid", "fei", "florence"),
    *("grace", "hedy", "hypatia", "ida", "joan", "john"),
    *("katherine", "leslie", "lynn", "mary", "maryam", "niklaus"),
    *("pierre", "radia", "sofia", "srinivasa", "tim", "yann"),
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
    right: Mapping[str, Sequence[str]]
    wrong: Mapping[str, Sequence[str]]

    @classmethod
    def named(cls, name: str) -> "Lesson":
        checks = check_cells(read(SOURCE / name / f"{name}.ipynb"))
        answers = answers_of(name)

        def answered(is_right: bool) -> dict[str, list[str]]:
            chosen = [a for a in answers if a.is_right == is_right]
            return {e: [a.source for a in chosen if a.exercise == e] for e in checks}

        points = {e: float(c.metadata.nbgrader.points) for e, c in checks.items()}
        return cls(name, points, answered(True), answered(False))

    def answers(self, number: int, is_right: Callable[[int], bool]) -> dict[str, str]:
        """An answer to each exercise; another `number` chooses other ones."""
        chosen = {}
        for place, exercise in enumerate(self.points):
            some = (self.right if is_right(place) else self.wrong)[exercise]
            chosen[exercise] = some[number // len(some) ** place % len(some)]
        return chosen

    def worth(self, is_right: Callable[[int], bool]) -> dict[str, float]:
        return {e: p * is_right(n) for n, (e, p) in enumerate(self.points.items())}


@dataclass(frozen=True)
class Student:
    """What somebody hands in, and the points it deserves.

    Attributes:
        kind: in a few words.
        files: name of a file to the cells in it, oldest first.
        deserved: for each exercise; nothing if there is nothing to grade.
        status: what the exported table has to say.
        deaths: how many further cells end the kernel.
    """

    name: str
    kind: str
    files: Mapping[str, Cells]
    deserved: Points = field(default_factory=dict)
    status: str = "graded"
    deaths: int = 0


def _always(_: int) -> bool:
    return True


def _never(_: int) -> bool:
    return False


def _odd(place: int) -> bool:
    return place % 2 == 1


def class_of(lesson: Lesson, size: int) -> list[Student]:
    """The first of `NAMES`. Every kind comes once before a kind comes again."""
    kinds = [
        *("right", "half right", "untouched", "does not parse", "ends the kernel"),
        *("two files", "renamed", "copied", "edited the checks", "loops forever"),
        *("handed in nothing", "file without a name", "ends it again and again"),
        *("wrong", "right", "half right", "renamed", "right", "half right", "wrong"),
        *("right", "untouched", "two files", "half right", "right", "renamed"),
        *("half right", "right", "ends the kernel", "right"),
    ]
    assert len(kinds) == len(NAMES)
    return [
        _student(lesson, number, NAMES[number], kind)
        for number, kind in enumerate(kinds[:size])
    ]


def _in_own_words(answers: Mapping[str, str]) -> dict[str, str]:
    """Answers as nobody else in the class has them."""
    return {e: f"{source}\n\nmy_{e} = {e}" for e, source in answers.items()}


def _student(lesson: Lesson, number: int, name: str, kind: str) -> Student:
    first, *_, last = lesson.points
    own = f"{name}/{lesson.name}.ipynb"
    right = lesson.answers(number, _always)
    if name == NAMES[0]:
        right = _in_own_words(right)
    all_points, none = lesson.worth(_always), lesson.worth(_never)
    half = lesson.answers(number, _odd)
    broken = {
        "does not parse": (first, "def answer(:"),
        "ends the kernel": (last, DIES),
        "loops forever": (first, ENDLESS),
    }
    if kind in broken:
        exercise, source = broken[kind]
        cells = {**right, exercise: source}
        return Student(name, kind, {own: cells}, {**all_points, exercise: 0})
    match kind:
        case "half right":
            return Student(name, kind, {own: half}, lesson.worth(_odd))
        case "wrong":
            return Student(name, kind, {own: lesson.answers(number, _never)}, none)
        case "untouched":
            return Student(name, kind, {own: {}}, none)
        case "two files":
            newer = f"{name}/{lesson.name} (1).ipynb"
            files = {own: right, newer: half}
            return Student(name, kind, files, lesson.worth(_odd))
        case "renamed":
            renamed = (f"{name}_{lesson.name}-Copy1.ipynb", f"{name}/mine.ipynb.txt")
            return Student(name, kind, {renamed[number % 2]: right}, all_points)
        case "copied":
            first_ones = _in_own_words(lesson.answers(0, _always))
            copied = {e: f"# all mine\n\n{each}" for e, each in first_ones.items()}
            return Student(name, kind, {own: copied}, all_points)
        case "edited the checks":
            edited: dict[str, str | None] = {f"check-{e}": "pass" for e in none}
            edited[f"check-{last}"] = None
            return Student(name, kind, {own: edited}, none)
        case "handed in nothing":
            return Student(name, kind, {}, status=NOT_HANDED_IN)
        case "file without a name":
            nameless = {f"{lesson.name} (7).ipynb": right}
            return Student(name, kind, nameless, status=NOT_HANDED_IN)
        case "ends it again and again":
            deaths = MOST_DEATHS + 1
            return Student(name, kind, {own: right}, {}, DID_NOT_RUN, deaths)
    return Student(name, kind, {own: right}, all_points)


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
        deserved = self.student
        return (self.status, self.points, self.has_feedback) == (
            deserved.status,
            deserved.deserved,
            deserved.status == "graded",
        )


@dataclass(frozen=True)
class Outcome:
    """What a teacher has in the end."""

    rows: Sequence[Row]
    collected: str
    seconds: Mapping[str, float]


def run(lesson: Lesson, students: Sequence[Student], root: Path) -> Outcome:
    """Everything from the release to the table of points, in the folder `root`."""
    clock = {"release": time.monotonic()}
    course = Course.release(SOURCE / lesson.name, root / "course")
    course.enrol(student.name for student in students)
    for student in students:
        _download(course, student, root / "downloads")

    clock["collect"] = time.monotonic()
    steps = collect.plan(root / "downloads", course.root / collect.SUBMITTED)
    collect.apply(steps)
    clock["autograde and feedback"] = time.monotonic()
    course.grade_all()
    clock["export"] = time.monotonic()
    exported = {row["student_id"]: row for row in course.export()}
    clock["end"] = time.monotonic()
    rows = [_row(course, student, exported[student.name]) for student in students]
    return Outcome(
        rows,
        collect.report(steps, root / "downloads"),
        {name: end - at for (name, at), (_, end) in pairwise(clock.items())},
    )


def _download(course: Course, student: Student, folder: Path) -> None:
    """Writes what a browser or a platform has left of a submission."""
    new_cell: Any = nbformat.v4.new_code_cell
    for day, (name, cells) in enumerate(student.files.items()):
        course.hand_in(student.name, cells)
        notebook = read(course.submitted(student.name))
        ends = [new_cell(DIES, id=f"end-{n}") for n in range(student.deaths)]
        notebook.cells += ends
        write(notebook, folder / name)
        os.utime(folder / name, (86_400 * day, 86_400 * day))
        course.submitted(student.name).unlink()


def _row(course: Course, student: Student, exported: Mapping[str, str]) -> Row:
    page = course.root / "build/feedback" / student.name / course.lesson
    status = exported["status"]
    points = course.points(student.name) if status == "graded" else {}
    assert sum(points.values()) == float(exported["score"] or 0)
    return Row(student, status, points, (page / f"{course.lesson}.html").is_file())


# ------------------------------------------------------------------ what is printed


def table(outcome: Outcome) -> Iterator[str]:
    """A line for each student: what was handed in, and what came of it."""
    yield f"{'student':11}{'handed in':25}{'status':19}{'points':>6}{'deserved':>10}"
    for row in outcome.rows:
        student = row.student
        points, deserved = (
            f"{sum(each.values()):g}" if row_status == "graded" else "–"
            for each, row_status in (
                (row.points, row.status),
                (student.deserved, student.status),
            )
        )
        wrong = "" if row.is_as_deserved else f"  <- {dict(row.points)}"
        yield (
            f"{student.name:11}{student.kind:25}{row.status:19}"
            f"{points:>6}{deserved:>10}{wrong}"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints what a teacher would see; 1 if a mark is not the one deserved."""
    parser = argparse.ArgumentParser(description="A class hands in a lesson.")
    parser.add_argument("lesson", nargs="?", default="01", help="how its name begins")
    parser.add_argument("--students", type=int, default=len(NAMES))
    chosen = parser.parse_args(arguments)
    [name] = [name for name in lesson_names() if name.startswith(chosen.lesson)]
    lesson = Lesson.named(name)
    with tempfile.TemporaryDirectory() as folder:
        outcome = run(lesson, class_of(lesson, chosen.students), Path(folder))
    print("fedlearn-edu collect downloads --apply\n")
    print(outcome.collected, "\n\nnbgrader autograde, generate_feedback, export\n")
    print(*table(outcome), sep="\n")
    print()
    print(
        *(f"{what}: {took:.0f} s" for what, took in outcome.seconds.items()), sep=", "
    )
    wrong = sum(not row.is_as_deserved for row in outcome.rows)
    print(f"{wrong} of {len(outcome.rows)} have other marks than they deserve")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
