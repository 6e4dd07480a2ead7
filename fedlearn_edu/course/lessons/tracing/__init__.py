# SPDX-License-Identifier: Apache-2.0
"""Lesson 03: the body writes a program, once, and the program is what runs."""

from typing import Final

from fedlearn_edu.course.exercise import Lesson
from fedlearn_edu.course.lessons.tracing.bodies import BODY_RUNS, TARGET_GAP
from fedlearn_edu.course.lessons.tracing.composing import COMPOSE
from fedlearn_edu.course.lessons.tracing.freezing import SHARE_ABOVE

LESSON: Final = Lesson(
    name="03_computations_and_tracing",
    title="When does your function run?",
    minutes=40,
    goals=(
        "tell what runs when a program is defined, and what when it is called",
        "find what was frozen into a program, and free it",
        "put programs together from other programs",
    ),
    needs="lessons 1 and 2",
    exercises=(TARGET_GAP, SHARE_ABOVE, BODY_RUNS, COMPOSE),
)
