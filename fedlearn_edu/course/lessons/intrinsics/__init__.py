# SPDX-License-Identifier: Apache-2.0
"""Lesson 04: intrinsics, what they expand to, and one of your own."""

from typing import Final

from fedlearn_edu.course.exercise import Lesson
from fedlearn_edu.course.lessons.intrinsics.folds import SPAN_OF
from fedlearn_edu.course.lessons.intrinsics.means import (
    DISTANCE_TO_MEAN,
    WEIGHTED_FROM_SUMS,
)
from fedlearn_edu.course.lessons.intrinsics.variance import VARIANCE_OF

LESSON: Final = Lesson(
    name="04_intrinsics",
    title="What does a mean expand to?",
    minutes=45,
    goals=(
        "expand a mean into the steps that are really run",
        "write an aggregation that gives the same result however clients are grouped",
        "add a word of your own to the language",
    ),
    needs="lessons 1 to 3",
    exercises=(WEIGHTED_FROM_SUMS, SPAN_OF, VARIANCE_OF, DISTANCE_TO_MEAN),
)
