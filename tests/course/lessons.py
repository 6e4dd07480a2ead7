# SPDX-License-Identifier: Apache-2.0
"""Two small lessons, for tests of the pages around them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SmallExercise:
    """As a lesson declares it."""

    name: str
    points: int
    title: str


@dataclass(frozen=True)
class SmallLesson:
    """As the course declares it."""

    number: int
    name: str
    title: str
    exercises: tuple[SmallExercise, ...]


HELLO = SmallLesson(
    1,
    "01_hello",
    "Hello, federated world",
    (
        SmallExercise("say_hello", 5, "Say hello"),
        SmallExercise("warmer", 10, "A warmer greeting"),
    ),
)
TYPES = SmallLesson(
    2, "02_types", "Types <and> placements", (SmallExercise("a_type", 15, "Write one"),)
)
LESSONS = (HELLO, TYPES)
