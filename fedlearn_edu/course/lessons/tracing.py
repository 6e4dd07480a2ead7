# SPDX-License-Identifier: Apache-2.0
"""Lesson 03: When does your function run?"""

from typing import Final

from fedlearn_edu.course.exercise import Lesson

LESSON: Final = Lesson(
    name="03_computations_and_tracing", title="When does your function run?", minutes=30
)
