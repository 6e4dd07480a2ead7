# SPDX-License-Identifier: Apache-2.0
"""Every exercise of every lesson, graded by nbgrader: what is right gets its points.

All that nbgrader grades of a lesson is one test, because it is handed in and graded
once; the other answers are tried in one kernel. `make test` hands in two lessons, each
solved, untouched, and with one wrong answer to every exercise.
While writing one, use `python -m tests.grading.try_lesson NN`.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.grading import proofs
from tests.grading.answers import Answer, answers_of, for_the_grader, rounds
from tests.grading.one_kernel import faults_of, try_all
from tests.grading.proofs import prove
from tools.release import RELEASE, SOURCE, lesson_names

# The long ones first, so that no worker is left alone with them.
pytestmark = [pytest.mark.notebook, pytest.mark.slow, pytest.mark.tensorflow]
each_lesson = pytest.mark.parametrize("lesson", lesson_names()[::-1])
# One runs on NumPy, the other on TensorFlow.
SMOKE = ("01_hello", "09a_local_training")


@pytest.mark.thorough
@each_lesson
def test_other_answers_are_told_what_they_should(lesson: str, tmp_path: Path) -> None:
    answers = answers_of(lesson)
    graded = for_the_grader(answers)
    others = [answer for answer in answers if answer not in graded]
    faults = list(faults_of(try_all(lesson, others, tmp_path)))
    if faults:
        pytest.fail("\n* ".join(faults), pytrace=False)


@pytest.mark.thorough
@each_lesson
def test_exercises_are_graded_as_they_should(lesson: str, tmp_path: Path) -> None:
    _hand_in(lesson, for_the_grader(answers_of(lesson)), tmp_path)


@pytest.mark.parametrize("lesson", SMOKE)
def test_lesson_makes_the_round_trip(lesson: str, tmp_path: Path) -> None:
    _hand_in(lesson, rounds(answers_of(lesson))[0], tmp_path)


def _hand_in(lesson: str, answers: Sequence[Answer], folder: Path) -> None:
    proof = prove(SOURCE / lesson, answers, folder)
    told = [
        "\n* ".join([find.__doc__ or "", *faults])
        for find in proofs.ALL
        if (faults := list(find(proof)))
    ]
    if told:
        pytest.fail("\n\n".join(told), pytrace=False)
    committed = RELEASE / lesson / f"{lesson}.ipynb"
    assert proof.course.released.read_bytes() == committed.read_bytes()
