# SPDX-License-Identifier: Apache-2.0
"""Any number of answers to the exercises of a lesson, all tried in one kernel.

Not what a grader does, but a hundred times as fast: what the exercises need runs once,
and where the lesson asks for an answer, each one is put in, checked, and taken out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from tests.grading import proofs
from tests.grading.answers import Answer
from tests.grading.needed import cut_down
from tools.cells import check_cells, errors, grade_id, is_answer, read, what_it_says
from tools.kernels import closed_environment, execute
from tools.release import SOURCE


@dataclass(frozen=True)
class Tried:
    """An answer, what it would get, and what its author is told."""

    answer: Answer
    points: float
    most: float
    said: str


def try_all(lesson: str, answers: Sequence[Answer], folder: Path) -> list[Tried]:
    """Runs all answers to an exercise one after the other where the lesson has it."""
    notebook = read(SOURCE / lesson / f"{lesson}.ipynb")
    checks = check_cells(notebook)
    tried = {each: [a.source for a in answers if a.exercise == each] for each in checks}
    cut_down(notebook, tried)
    cells: list[tuple[Answer, Any, Any]] = []
    notebook.cells = list(_with_answers(lesson, notebook, answers, cells))
    with closed_environment(folder, folder):
        execute(notebook, folder, allow_errors=True)
    return [_judged(answer, own, check, checks) for answer, own, check in cells]


def faults_of(tried: Sequence[Tried]) -> Iterator[str]:
    """Right answers that are refused, wrong ones that pass, words that are missing."""
    for each in tried:
        if each.answer.is_right != (each.points == each.most):
            yield f"{each.answer}: {each.points:g} points"
        for words in proofs.unsaid(each.answer, each.said):
            yield f"{each.answer}: {words!r} is not said"


def _judged(answer: Answer, own: Any, check: Any, checks: dict[str, Any]) -> Tried:
    most = float(checks[answer.exercise].metadata.nbgrader.points)
    said = "\n".join(what_it_says(cell) for cell in (own, check) if errors(cell))
    return Tried(answer, 0 if errors(check) else most, most, said)


def _with_answers(
    lesson: str, notebook: Any, answers: Sequence[Answer], tried: list[Any]
) -> Iterator[Any]:
    new_cell: Any = nbformat.v4.new_code_cell
    checks = check_cells(notebook)
    for cell in notebook.cells:
        for answer in answers if is_answer(cell) else ():
            if answer.exercise == grade_id(cell):
                anew = f"del {answer.exercise}\nbegin({lesson!r}, globals())"
                sources = [anew, answer.source, checks[answer.exercise].source]
                cells = [new_cell(source) for source in sources]
                tried.append((answer, *cells[1:]))
                yield from cells
        yield cell
