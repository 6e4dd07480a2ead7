# SPDX-License-Identifier: Apache-2.0
"""Lesson 01: readings stay where they are, and the server still learns their mean."""

from typing import Final

from fedlearn_edu.course.exercise import Lesson
from fedlearn_edu.course.lessons.hello.answers import MEAN_FAHRENHEIT, SHARE_WARM
from fedlearn_edu.course.lessons.hello.averages import AVERAGE_OF, TYPE_OF_MEAN

LESSON: Final = Lesson(
    name="01_hello",
    title="What can a server learn without seeing the data?",
    minutes=25,
    goals=(
        "say who holds what, from a type alone",
        "write a program that runs at many clients and one server",
        "ask a question about data that nobody hands over",
    ),
    needs="a little Python",
    exercises=(TYPE_OF_MEAN, AVERAGE_OF, MEAN_FAHRENHEIT, SHARE_WARM),
)
