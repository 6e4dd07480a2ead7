# SPDX-License-Identifier: Apache-2.0
"""Lesson 05: Who runs your program?"""

from typing import Final

from fedlearn_edu.course.exercise import Lesson

LESSON: Final = Lesson(
    name="05_executor_stack", title="Who runs your program?", minutes=30
)
