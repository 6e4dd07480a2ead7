# SPDX-License-Identifier: Apache-2.0
"""The lessons, in their order, with the exercises of each."""

from typing import Final

from fedlearn_edu.course.exercise import Exercise, Lesson
from fedlearn_edu.course.lessons import (
    averaging,
    drift,
    evaluation,
    hello,
    intrinsics,
    non_iid,
    privacy,
    remote,
    sequences,
    stack,
    strategies,
    tracing,
    types,
)

LESSONS: Final[tuple[Lesson, ...]] = (
    hello.LESSON,
    types.LESSON,
    tracing.LESSON,
    intrinsics.LESSON,
    stack.LESSON,
    sequences.LESSON,
    strategies.LESSON,
    non_iid.LESSON,
    evaluation.LESSON,
    averaging.LESSON,
    drift.LESSON,
    privacy.LESSON,
    remote.LESSON,
)

EXERCISES: Final[dict[str, Exercise]] = {
    exercise.name: exercise for lesson in LESSONS for exercise in lesson.exercises
}
