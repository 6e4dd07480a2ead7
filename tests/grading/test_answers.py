# SPDX-License-Identifier: Apache-2.0
"""The pages of answers: their format, and that each mistake has one or a formula."""

from collections import Counter

import pytest

from fedlearn_edu.course.exercise import Exercise
from fedlearn_edu.course.lessons import load_all
from tests.grading.answers import Answer, answers_of
from tests.grading.proofs import unsaid
from tools.cells import answer_cells, read
from tools.release import SOURCE, lesson_names

each_lesson = pytest.mark.parametrize("lesson", lesson_names())


@each_lesson
def test_exercises_have_right_and_wrong_answers(lesson: str) -> None:
    cells = answer_cells(read(SOURCE / lesson / f"{lesson}.ipynb"))
    answers = answers_of(lesson)
    assert list(dict.fromkeys(answer.exercise for answer in answers)) == list(cells)
    tried = {(answer.exercise, answer.is_right) for answer in answers}
    assert tried == {(name, is_right) for name in cells for is_right in (True, False)}
    different = Counter((answer.exercise, answer.source.strip()) for answer in answers)
    different.update((name, _unmarked(cell.source)) for name, cell in cells.items())
    assert [key for key, times in different.items() if times > 1] == []
    for answer in answers:
        if "SyntaxError" not in answer.title:
            compile(answer.source, str(answer), "exec")  # a slip of ours is no answer


def _unmarked(source: str) -> str:
    return "\n".join(ln for ln in source.splitlines() if " SOLUTION" not in ln).strip()


@each_lesson
def test_each_mistake_has_a_formula_or_an_answer(lesson: str) -> None:
    """Those with a formula are held by `tests/course/test_law_of_mistakes.py`."""
    exercises = next(each.exercises for each in load_all() if each.name == lesson)
    wrong = [answer for answer in answers_of(lesson) if not answer.is_right]
    for exercise in exercises:
        told = [
            _told(each, exercise) for each in wrong if each.exercise == exercise.name
        ]
        formed = [m for m in exercise.mistakes if any(s.formula for s in m.signs)]
        assert {m.says for m in exercise.mistakes if m not in formed} <= {*told}


def _told(answer: Answer, exercise: Exercise) -> str:
    """The one mistake of which the words of an answer speak."""
    fitting = {m.says for m in exercise.mistakes if not unsaid(answer, m.says)}
    return fitting.pop() if len(fitting) == 1 else ""
