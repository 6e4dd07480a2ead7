# SPDX-License-Identifier: Apache-2.0
"""The lessons, in their order, with the exercises and predictions of each."""

from typing import Final

from fedlearn_edu.course.exercise import Exercise, Lesson
from fedlearn_edu.course.lessons import (
    attacks,
    averaging,
    capstone,
    corrections,
    drift,
    evaluation,
    hello,
    intrinsics,
    non_iid,
    privacy,
    remote,
    sequence_executors,
    sequences,
    stack,
    strategies,
    tracing,
    training,
    types,
    why,
)

LESSONS: Final[tuple[Lesson, ...]] = (
    why.LESSON,
    hello.LESSON,
    types.LESSON,
    tracing.LESSON,
    intrinsics.LESSON,
    stack.LESSON,
    sequences.LESSON,
    sequence_executors.LESSON,
    strategies.LESSON,
    non_iid.LESSON,
    training.LESSON,
    evaluation.LESSON,
    averaging.LESSON,
    drift.LESSON,
    corrections.LESSON,
    attacks.LESSON,
    privacy.LESSON,
    remote.LESSON,
    capstone.LESSON,
)

EXERCISES: Final[dict[str, Exercise]] = {
    exercise.name: exercise for lesson in LESSONS for exercise in lesson.exercises
}

OUTCOMES: Final[dict[str, str]] = {
    name: outcome for lesson in LESSONS for name, outcome in lesson.outcomes.items()
}
