# SPDX-License-Identifier: Apache-2.0
"""Every exercise of every lesson, graded by nbgrader: what is right gets its points.

All that is tried on a lesson is handed in and graded once, by the first of its tests;
`--dist loadgroup` keeps the tests of a lesson on one worker. While writing a lesson,
`python -m tests.grading.try_lesson NN` shows the same without pytest.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from tests.grading import proofs
from tests.grading.answers import answers_of
from tests.grading.proofs import Proof, prove
from tools.cells import answer_cells, is_graded_lesson, read
from tools.release import RELEASE, SOURCE, lesson_names


def _graded(lesson: str) -> Any:
    marks = [pytest.mark.notebook, pytest.mark.slow, pytest.mark.tensorflow]
    return pytest.param(lesson, marks=[*marks, pytest.mark.xdist_group(lesson)])


LESSONS = [
    name
    for name in lesson_names()
    if is_graded_lesson(read(SOURCE / name / f"{name}.ipynb"))
]
each_lesson = pytest.mark.parametrize("lesson", LESSONS)
each_graded_lesson = pytest.mark.parametrize("lesson", [_graded(x) for x in LESSONS])


@pytest.fixture(scope="session")
def proof_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Proof]:
    @cache
    def proven(lesson: str) -> Proof:
        folder = tmp_path_factory.mktemp(lesson)
        return prove(SOURCE / lesson, answers_of(lesson), folder)

    return proven


@each_lesson
def test_exercises_have_five_wrong_and_two_right_answers(lesson: str) -> None:
    exercises = list(answer_cells(read(SOURCE / lesson / f"{lesson}.ipynb")))
    answers = answers_of(lesson)
    assert list(dict.fromkeys(answer.exercise for answer in answers)) == exercises
    tried = Counter((answer.exercise, answer.is_right) for answer in answers)
    for exercise in exercises:
        assert tried[exercise, False] >= 5, f"{exercise}: wrong answers"
        assert tried[exercise, True] >= 2, f"{exercise}: right answers"
    sources = Counter((answer.exercise, answer.source) for answer in answers)
    assert [key for key, times in sources.items() if times > 1] == []


@each_graded_lesson
@pytest.mark.parametrize("find", proofs.ALL, ids=lambda find: f"no_{find.__name__}")
def test_exercises_are_graded_as_they_should(
    lesson: str,
    find: Callable[[Proof], Iterator[str]],
    proof_of: Callable[[str], Proof],
) -> None:
    faults = list(find(proof_of(lesson)))
    if faults:
        pytest.fail("\n".join([find.__doc__ or "", *faults]), pytrace=False)


@each_graded_lesson
def test_nbgrader_releases_what_make_release_writes(
    lesson: str, proof_of: Callable[[str], Proof]
) -> None:
    committed = RELEASE / lesson / f"{lesson}.ipynb"
    assert proof_of(lesson).course.released.read_bytes() == committed.read_bytes()
