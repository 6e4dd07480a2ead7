# SPDX-License-Identifier: Apache-2.0
"""Lesson 08: How different can clients be?"""

from typing import Final

from fedlearn_edu.course.exercise import Lesson

LESSON: Final = Lesson(
    name="08_non_iid_mnist", title="How different can clients be?", minutes=30
)
