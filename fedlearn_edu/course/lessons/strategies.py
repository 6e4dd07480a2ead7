# SPDX-License-Identifier: Apache-2.0
"""Lesson 07: Who decides how a mean is computed?"""

from typing import Final

from fedlearn_edu.course.exercise import Lesson

LESSON: Final = Lesson(
    name="07_strategies", title="Who decides how a mean is computed?", minutes=30
)
