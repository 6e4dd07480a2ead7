# SPDX-License-Identifier: Apache-2.0
"""Lesson 06: Why does the same program run here and fail there?"""

from typing import Final

from fedlearn_edu.course.exercise import Lesson

LESSON: Final = Lesson(
    name="06_sequences",
    title="Why does the same program run here and fail there?",
    minutes=30,
)
