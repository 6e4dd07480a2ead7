# SPDX-License-Identifier: Apache-2.0
"""Every exercise of every lesson, graded by nbgrader: what is right gets its points.

All that nbgrader grades of a lesson is one test, because it is handed in and graded
once; the other answers are tried in one kernel. In `make test`, the law over mistakes
(`tests/course/test_law_of_mistakes.py`) stands for it. While writing a lesson, use
`python -m tests.grading.try_lesson NN`.
"""

from pathlib import Path

import pytest

from tests.grading import proofs
from tests.grading.answers import answers_of, for_the_grader
from tests.grading.one_kernel import faults_of, try_all
from tests.grading.proofs import prove
from tools.cells import read
from tools.release import LANGUAGE, RELEASE, SOURCE, lesson_names

# The long ones first, so that no worker is left alone with them.
pytestmark = [pytest.mark.notebook, pytest.mark.thorough]
each_lesson = pytest.mark.parametrize("lesson", lesson_names()[::-1])


@each_lesson
def test_other_answers_are_told_what_they_should(lesson: str, tmp_path: Path) -> None:
    answers = answers_of(lesson)
    graded = for_the_grader(answers)
    others = [answer for answer in answers if answer not in graded]
    faults = list(faults_of(try_all(lesson, others, tmp_path)))
    if faults:
        pytest.fail("\n* ".join(faults), pytrace=False)


@each_lesson
def test_exercises_are_graded_as_they_should(lesson: str, tmp_path: Path) -> None:
    proof = prove(SOURCE / lesson, for_the_grader(answers_of(lesson)), tmp_path)
    told = [
        "\n* ".join([find.__doc__ or "", *faults])
        for find in proofs.ALL
        if (faults := list(find(proof)))
    ]
    if told:
        pytest.fail("\n\n".join(told), pytrace=False)
    committed = RELEASE / lesson / f"{lesson}.ipynb"
    released = read(proof.course.released)
    released.metadata.language_info = LANGUAGE
    assert released == read(committed)
