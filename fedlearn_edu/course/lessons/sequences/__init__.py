# SPDX-License-Identifier: Apache-2.0
"""Lesson 06: element by element, at one client; and which stack can do it."""

from typing import Final

from fedlearn_edu.course.exercise import Lesson
from fedlearn_edu.course.lessons.sequences.clients import MEAN_PEAK
from fedlearn_edu.course.lessons.sequences.elements import (
    LONGEST_STREAK,
    SUM_OF_SQUARES,
)
from fedlearn_edu.course.lessons.sequences.stacks import STEP_BY_STEP

LESSON: Final = Lesson(
    name="06_sequences",
    title="Why does the same program run here and fail there?",
    minutes=40,
    goals=(
        "work through a client's data element by element, in order",
        "tell what is added up over elements from what is added up over clients",
        "choose the stack of executors that a program needs",
    ),
    needs="lessons 1 to 5",
    exercises=(SUM_OF_SQUARES, LONGEST_STREAK, MEAN_PEAK, STEP_BY_STEP),
)
