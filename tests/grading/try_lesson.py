# SPDX-License-Identifier: Apache-2.0
"""Try the answers of one lesson without pytest: points, and what a learner is told.

python -m tests.grading.try_lesson 04 --quick              all answers in one kernel
python -m tests.grading.try_lesson 04 --quick --only NAME  those to one exercise
python -m tests.grading.try_lesson 04                      by nbgrader, as in tests
python -m tests.grading.try_lesson 04 --solved             only run it, and measure
"""

import argparse
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path

from tests.grading import proofs
from tests.grading.answers import Answer, answers_of
from tests.grading.one_kernel import faults_of, try_all
from tests.grading.proofs import prove
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
    parser.add_argument("--quick", action="store_true", help="one kernel, no nbgrader")
    parser.add_argument("--solved", action="store_true", help="only run and measure it")
    options = parser.parse_args()
    [lesson] = [name for name in lesson_names() if name.startswith(options.lesson)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.solved:
            run_solved(lesson, folder)
            return
        answers = [a for a in answers_of(lesson) if options.only in (None, a.exercise)]
        faults = (quick if options.quick else graded)(lesson, answers, folder)
        print("", *(faults or ["no faults"]), sep="\n* ")


def graded(lesson: str, answers: Sequence[Answer], folder: Path) -> list[str]:
    """Hands in all answers; prints points and messages, and gives what is wrong."""
    proof = prove(SOURCE / lesson, answers, folder / "course")
    for exercise in dict.fromkeys(answer.exercise for answer in answers):
        most = proof.points[exercise]
        for name in ("solved", "untouched"):
            tried = proof.submissions[name]
            said = what_it_says(tried.check(exercise))
            _show(f"{exercise}, {name}", tried.points[exercise], most, said)
        for answer, tried in proof.answered:
            if answer.exercise == exercise:
                said = proofs.message(answer, tried)
                _show(str(answer), tried.points[exercise], most, said)
    return [fault for find in proofs.ALL for fault in find(proof)]


def quick(lesson: str, answers: Sequence[Answer], folder: Path) -> list[str]:
    """Tries all answers in one kernel; prints and gives the same."""
    tried = try_all(lesson, answers, folder)
    for each in tried:
        _show(str(each.answer), each.points, each.most, each.said)
    return list(faults_of(tried))


def run_solved(lesson: str, folder: Path) -> None:
    """Prints what the lesson takes, and every cell that fails or is loud."""
    notebook = read(SOURCE / lesson / f"{lesson}.ipynb")
    cells, words = len(notebook.cells), count_words(notebook)
    checks = check_cells(notebook)
    points = {name: cell.metadata.nbgrader.points for name, cell in checks.items()}
    with closed_environment(folder, folder):
        done = execute(notebook, folder, allow_errors=True)
    for cell in code_cells(done.notebook):
        if on_stderr(cell) or bool(errors(cell)) != is_to_fail(cell):
            print(f"cell {cell.id} is not as it should be")
            print(textwrap.indent(f"{what_it_says(cell)}{on_stderr(cell)}", "    "))
    print(
        f"{lesson}: {done.seconds:.1f} s, {done.peak_mib:.0f} MiB at most, "
        f"{cells} cells, {words} words, points {points or 'none'}, "
        f"asked for {done.attempts or 'nobody'} on the network"
    )


def _show(title: str, points: float, most: float, said: str) -> None:
    print(f"--- {points:g} of {most:g} points: {title}")
    if points < most:
        print(textwrap.indent(said.strip(), "    "))


if __name__ == "__main__":
    main()
