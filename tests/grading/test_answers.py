# SPDX-License-Identifier: Apache-2.0
"""The pages of answers: their format, and that each mistake has one or a formula."""

from collections import Counter

import pytest

from fedlearn_edu.course.exercise import Exercise
from fedlearn_edu.course.lessons import LESSONS
from tests.grading.answers import Answer, answers_of, parse, rounds
from tests.grading.proofs import unsaid
from tests.grading.toy import ANSWERS, DOUBLE
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
    exercises = next(each.exercises for each in LESSONS if each.name == lesson)
    wrong = [answer for answer in answers_of(lesson) if not answer.is_right]
    for exercise in exercises:
        told = [
            _told(each, exercise) for each in wrong if each.exercise == exercise.name
        ]
        assert {m.says for m in exercise.mistakes if not m.formulas} <= {*told}


def _told(answer: Answer, exercise: Exercise) -> str:
    """The one mistake of which the words of an answer speak."""
    fitting = {m.says for m in exercise.mistakes if not unsaid(answer, m.says)}
    return fitting.pop() if len(fitting) == 1 else ""


def test_answers_are_read_with_their_words() -> None:
    added, adds, *_, doubled, less = parse(ANSWERS, cells={"double": DOUBLE})
    assert str(added) == "double, wrong: adds one"
    assert added.words == ("you added one",)
    assert added.source == "def double(number):\n    # twice\n    return number + 1"
    assert (str(adds), adds.words) == ("double, right: return number + number", ())
    assert doubled.words == ("expected another", "number")
    assert less.words == ("expected another",)
    assert less.source == "square = lambda number: number - 1"


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        ("# x\n## right: a\n", "the last answer has no complete"),
        ("# x\n## right: a\n## wrong: b\n", "answers:3: 'right: a' has no"),
        ("# x\n## almost: a\n```python\n1\n```\n", "found 'almost: a'"),
        ("## right: a\n```python\n1\n```\n", "answers:4: above a block"),
        ("# x\n- wrong: `1`\n", "answers:2: a wrong answer quotes"),
        ("# x\n- wrong `1` → no\n", "answers:2: .* is part of no answer"),
    ],
)
def test_page_that_breaks_the_format_is_named_with_its_line(
    page: str, complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        list(parse(page))


def test_one_submission_answers_all_exercises_wrong_ones_first() -> None:
    planned = [
        [answer.title for answer in tried] for tried in rounds([*parse(ANSWERS)])
    ]
    assert planned == [
        ["adds one", "doubles"],
        ["only right for three", "square = lambda number: number - 1"],
        ["return number + number"],
    ]
