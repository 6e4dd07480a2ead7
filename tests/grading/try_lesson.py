# SPDX-License-Identifier: Apache-2.0
"""Try the answers of one lesson without pytest: points, and what a learner is told.

python -m tests.grading.try_lesson 04                     all that the tests do
python -m tests.grading.try_lesson 04 --only mean_of_two  one exercise
python -m tests.grading.try_lesson 04 --solved            only run it, and measure
"""

import argparse
import tempfile
import textwrap
from pathlib import Path

from tests.grading import proofs
from tests.grading.answers import answers_of
from tests.grading.proofs import Proof, prove
from tools.cells import (
    check_cells,
    code_cells,
    count_words,
    errors,
    is_to_fail,
    on_stderr,
    read,
    what_it_says,
)
from tools.kernels import closed_environment, execute
from tools.release import SOURCE, lesson_names


def main() -> None:
    parser = argparse.ArgumentParser(description="Try the answers of one lesson.")
    parser.add_argument("lesson", help="its number, or how its name begins")
    parser.add_argument("--only", metavar="EXERCISE", help="answers to this exercise")
    parser.add_argument("--solved", action="store_true", help="only run and measure it")
    options = parser.parse_args()
    [lesson] = [name for name in lesson_names() if name.startswith(options.lesson)]
    with tempfile.TemporaryDirectory() as folder:
        if options.solved:
            run_solved(lesson, Path(folder))
        else:
            show(try_answers(lesson, options.only, Path(folder)))


def try_answers(lesson: str, only: str | None, folder: Path) -> Proof:
    """Grades the lesson with all its answers, or with those to one exercise."""
    answers = [a for a in answers_of(lesson) if only in (None, a.exercise)]
    return prove(SOURCE / lesson, answers, folder / "course")


def show(proof: Proof) -> None:
    """Prints points and messages, answer by answer, then everything that is wrong."""
    for exercise, most in proof.points.items():
        print(f"\n=== {exercise}: {most:g} points")
        for name in ("solved", "untouched"):
            graded = proof.submissions[name]
            said = what_it_says(graded.check(exercise))
            _show(name, graded.points[exercise], said)
        for answer, graded in proof.answered:
            if answer.exercise == exercise:
                points = graded.points[exercise]
                _show(str(answer), points, proofs.message(answer, graded))
    faults = [fault for find in proofs.ALL for fault in find(proof)]
    print(f"\n{len(faults)} faults", *faults, sep="\n* ")


def run_solved(lesson: str, folder: Path) -> None:
    """Prints what the lesson takes, and every cell that fails or is loud."""
    notebook = read(SOURCE / lesson / f"{lesson}.ipynb")
    cells, words = len(notebook.cells), count_words(notebook)
    points = {
        name: c.metadata.nbgrader.points for name, c in check_cells(notebook).items()
    }
    with closed_environment(folder, folder):
        done = execute(notebook, folder, allow_errors=True)
    for cell in code_cells(done.notebook):
        if on_stderr(cell) or bool(errors(cell)) != is_to_fail(cell):
            _show(f"cell {cell.id}", 0, f"{what_it_says(cell)}{on_stderr(cell)}")
    print(
        f"{lesson}: {done.seconds:.1f} s, {done.peak_mib:.0f} MiB at most, "
        f"{cells} cells, {words} words, points {points or 'none'}, "
        f"asked for {done.attempts or 'nobody'} on the network"
    )


def _show(title: str, points: float, said: str) -> None:
    print(f"\n--- {points:g} points: {title}")
    print(textwrap.indent(said.strip(), "    "))


if __name__ == "__main__":
    main()
