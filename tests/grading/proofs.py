# SPDX-License-Identifier: Apache-2.0
"""What has to be true of the exercises of a lesson; each function lists what is not.

A `Proof` holds everything that was tried on one lesson, graded by nbgrader: its own
solutions, its untouched release, and every answer of its page in `answers/`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.grading.answers import Answer, rounds
from tests.grading.course import Course, Graded
from tools.cells import (
    answer_cells,
    check_cells,
    code_cells,
    errors,
    is_answer,
    is_check,
    is_to_fail,
    on_stderr,
    read,
    traceback_lines,
    what_it_says,
)

NOT_ANSWERED = "not answered yet"
MAX_TRACEBACK_LINES = 25


@dataclass(frozen=True)
class Round:
    """One submission with one of the answers to every exercise."""

    answers: Sequence[Answer]
    graded: Graded


@dataclass(frozen=True)
class Proof:
    """A lesson, and what nbgrader made of all that was handed in."""

    course: Course
    points: dict[str, float]
    solved: Graded
    untouched: Graded
    rounds: Sequence[Round]

    @property
    def submissions(self) -> dict[str, Graded]:
        tried = {
            f"round {number}": tried.graded for number, tried in enumerate(self.rounds)
        }
        return {"solved": self.solved, "untouched": self.untouched, **tried}

    @property
    def answered(self) -> Iterator[tuple[Answer, Graded]]:
        for tried in self.rounds:
            for answer in tried.answers:
                yield answer, tried.graded


def prove(source: Path, answers: Sequence[Answer], root: Path) -> Proof:
    """Hands in and grades everything; the first round tampers with the checks.

    The lesson runs to its end without answers and with other right ones. With its own
    it does in `tests/notebooks`; here they and wrong ones run what exercises need.
    """
    course = Course.release(source, root)
    notebook = read(course.source)
    solutions = {name: cell.source for name, cell in answer_cells(notebook).items()}
    checks = check_cells(notebook)
    points = {name: float(c.metadata.nbgrader.points) for name, c in checks.items()}
    course.hand_in_what_counts("solved", solutions)
    course.hand_in("untouched", {})
    tried = rounds(answers)
    for number, answered in enumerate(tried):
        sources: dict[str, str | None] = {**solutions}
        sources |= {answer.exercise: answer.source for answer in answered}
        if number == 0:
            sources |= {f"check-{name}": "pass" for name in checks}
        is_right = all(answer.is_right for answer in answered)
        hand_in = course.hand_in if is_right else course.hand_in_what_counts
        hand_in(f"round{number}", sources)
    return Proof(
        course,
        points,
        solved=course.grade("solved"),
        untouched=course.grade("untouched"),
        rounds=[
            Round(answered, course.grade(f"round{number}"))
            for number, answered in enumerate(tried)
        ],
    )


# ------------------------------------------------------------------ points


def missing_points(proof: Proof) -> Iterator[str]:
    """Exercises whose own solution does not get all points."""
    for name, points in proof.points.items():
        if proof.solved.points[name] != points:
            said = what_it_says(proof.solved.check(name))
            yield f"{name}: its solution gets {proof.solved.points[name]}: {said}"


def points_for_nothing(proof: Proof) -> Iterator[str]:
    """Exercises that give points, or the wrong words, to who has done nothing."""
    for name in proof.points:
        said = what_it_says(proof.untouched.check(name))
        if proof.untouched.points[name] != 0:
            yield f"{name}: untouched, it gets {proof.untouched.points[name]} points"
        if NOT_ANSWERED not in said:
            yield f"{name}: untouched, it does not say {NOT_ANSWERED!r} but: {said}"


def misjudged(proof: Proof) -> Iterator[str]:
    """Right answers that do not get all points, and wrong ones that do."""
    for answer, graded in proof.answered:
        points, most = graded.points[answer.exercise], proof.points[answer.exercise]
        if (points == most) != answer.is_right:
            said = what_it_says(graded.check(answer.exercise))
            yield f"{answer}: {points} of {most} points: {said}"


# ------------------------------------------------------------------ messages


def unnamed_misconceptions(proof: Proof) -> Iterator[str]:
    """Wrong answers whose message lacks the words that their page quotes."""
    for answer, graded in proof.answered:
        said = message(answer, graded)
        for words in unsaid(answer, said):
            yield f"{answer}: {words!r} is not in: {said}"


def foreign_tracebacks(proof: Proof) -> Iterator[str]:
    """Checks that show a learner the inside of the library, or a page of frames."""
    for name, graded in proof.submissions.items():
        for exercise, cell in check_cells(graded.notebook).items():
            found = traceback_lines(cell)
            inside = [line for line in found if "fedlearn_edu/" in line]
            if inside or len(found) > MAX_TRACEBACK_LINES:
                shown = "\n".join(found)
                yield f"{name}, {exercise}: {len(found)} lines of traceback:\n{shown}"


def message(answer: Answer, graded: Graded) -> str:
    """What the learner reads: the check, or the answer cell if that failed itself."""
    cells = [graded.check(answer.exercise), graded.cell(answer.exercise)]
    check, own = (what_it_says(cell) for cell in cells)
    return f"{own}\n{check}" if errors(cells[1]) else check


def unsaid(answer: Answer, said: str) -> list[str]:
    """The words that its page quotes and that are not in the message."""
    return [words for words in answer.words if _plain(words) not in _plain(said)]


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


# ------------------------------------------------------------------ the lesson around


def stumbles(proof: Proof) -> Iterator[str]:
    """Cells that fail and should not, or the reverse, or that print on stderr."""
    for name, graded in proof.submissions.items():
        for cell in code_cells(graded.notebook):
            where = f"{name}, cell {cell.get('id', '?')}"
            if said := on_stderr(cell):
                yield f"{where} prints on stderr: {said}"
            if errors(cell) and not is_to_fail(cell):  # "Run All" ends there
                yield f"{where} fails: {what_it_says(cell)}"
            if is_to_fail(cell) and not errors(cell) and not _may_fail(cell):
                yield f"{where} should fail: {what_it_says(cell)}"


def unrestored_checks(proof: Proof) -> Iterator[str]:
    """Check cells that a student replaced by `pass`, and that stayed so."""
    expected = check_cells(read(proof.course.source))
    for name, cell in check_cells(proof.rounds[0].graded.notebook).items():
        if cell.source != expected[name].source:
            yield f"{name}: its check is still {cell.source!r}"


def _may_fail(cell: Any) -> bool:
    return is_answer(cell) or is_check(cell)


ALL = (
    missing_points,
    points_for_nothing,
    misjudged,
    unnamed_misconceptions,
    foreign_tracebacks,
    stumbles,
    unrestored_checks,
)
