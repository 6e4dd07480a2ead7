# SPDX-License-Identifier: Apache-2.0
"""Lesson 02: types say what a value is and who holds it, and tell what fits."""

from typing import Final

from fedlearn_edu.course.exercise import Lesson
from fedlearn_edu.course.lessons.types.fitting import WHO_FITS
from fedlearn_edu.course.lessons.types.nesting import BY_HOME
from fedlearn_edu.course.lessons.types.writing import PHOTOS_AT_CLIENTS, SURVEY_TYPE

LESSON: Final = Lesson(
    name="02_types_and_placements",
    title="What is a value, and who holds it?",
    minutes=40,
    goals=(
        "read and write the type of any value, placed or not",
        "tell which value may stand where another is wanted",
        "bring Python data into the form that a type asks for",
    ),
    needs="lesson 1",
    exercises=(PHOTOS_AT_CLIENTS, WHO_FITS, SURVEY_TYPE, BY_HOME),
)
