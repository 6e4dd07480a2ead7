# SPDX-License-Identifier: Apache-2.0
"""Lesson 10: Can ten clients that know one digit each learn all ten?"""

from typing import Final

from fedlearn_edu.course.exercise import Lesson

LESSON: Final = Lesson(
    name="10_federated_averaging",
    title="Can ten clients that know one digit each learn all ten?",
    minutes=30,
)
