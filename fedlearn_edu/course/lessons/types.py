# SPDX-License-Identifier: Apache-2.0
"""Lesson 02: What is a value, and who holds it?"""

from typing import Final

from fedlearn_edu.course.exercise import Lesson

LESSON: Final = Lesson(
    name="02_types_and_placements",
    title="What is a value, and who holds it?",
    minutes=30,
)
