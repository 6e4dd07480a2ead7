# SPDX-License-Identifier: Apache-2.0
"""Lesson 11: Why do clients drift apart, and what cures it?"""

from typing import Final

from fedlearn_edu.course.exercise import Lesson

LESSON: Final = Lesson(
    name="11_client_drift",
    title="Why do clients drift apart, and what cures it?",
    minutes=30,
)
