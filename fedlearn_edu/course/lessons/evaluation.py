# SPDX-License-Identifier: Apache-2.0
"""Lesson 09: How good is a model for everybody?"""

from typing import Final

from fedlearn_edu.course.exercise import Lesson

LESSON: Final = Lesson(
    name="09_local_training_and_evaluation",
    title="How good is a model for everybody?",
    minutes=30,
)
