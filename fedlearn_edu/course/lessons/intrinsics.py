# SPDX-License-Identifier: Apache-2.0
"""Lesson 04: What does a mean expand to?"""

from typing import Final

from fedlearn_edu.course.exercise import Lesson

LESSON: Final = Lesson(
    name="04_intrinsics", title="What does a mean expand to?", minutes=30
)
