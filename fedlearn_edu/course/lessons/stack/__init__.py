# SPDX-License-Identifier: Apache-2.0
"""Lesson 05: a stack of executors, built by hand from the leaf upwards."""

from typing import Final

from fedlearn_edu.course.exercise import Lesson
from fedlearn_edu.course.lessons.stack.asking import RUN_ON
from fedlearn_edu.course.lessons.stack.counting import CALL_COUNTER
from fedlearn_edu.course.lessons.stack.federated import FEDERATED_STACK
from fedlearn_edu.course.lessons.stack.participant import PARTICIPANT_STACK

LESSON: Final = Lesson(
    name="05_executor_stack",
    title="Who runs your program?",
    minutes=45,
    goals=(
        "run a program on an executor, step by step",
        "build the stack that runs all programs, and say what each layer is for",
        "write an executor of your own that watches another one",
    ),
    needs="lessons 1 to 4",
    exercises=(RUN_ON, PARTICIPANT_STACK, FEDERATED_STACK, CALL_COUNTER),
)
