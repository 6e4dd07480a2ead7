# SPDX-License-Identifier: Apache-2.0
"""Lesson 07: who computes what is decided by a strategy, and one can write one."""

from typing import Final

from fedlearn_edu.course.exercise import Lesson
from fedlearn_edu.course.lessons.strategies.folding import FOLDS_IN_ORDER
from fedlearn_edu.course.lessons.strategies.groups import MESSAGES_AT_TOP
from fedlearn_edu.course.lessons.strategies.mapping import MAPS_IN_TURN
from fedlearn_edu.course.lessons.strategies.table import ENOUGH_FOR_A_MEAN

LESSON: Final = Lesson(
    name="07_strategies",
    title="Who decides how a mean is computed?",
    minutes=40,
    goals=(
        "say what a strategy does itself, and what the compiler writes out for it",
        "write a strategy, and find out whether it keeps to the language",
        "tell what changes when clients are put into groups, and what must not",
    ),
    needs="lessons 4 and 5",
    exercises=(ENOUGH_FOR_A_MEAN, MAPS_IN_TURN, FOLDS_IN_ORDER, MESSAGES_AT_TOP),
)
