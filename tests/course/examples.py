# SPDX-License-Identifier: Apache-2.0
"""A small exercise and two small lessons, to try the machinery on."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise, Lesson
from fedlearn_edu.course.mistakes import raises, usual


def right(numbers: list[float]) -> list[float]:
    return [2 * number for number in numbers]


def _reference() -> Callable[[list[float]], list[float]]:
    return lambda numbers: [number + number for number in numbers]


def doubles(**changes: Any) -> Exercise:
    """An exercise called `doubles`: twice each number."""
    exercise = Exercise(
        name="doubles",
        title="twice each number",
        points=5,
        want=wants.function(1),
        reference=_reference,
        cases=(Case("three", ([1.0, 2.0, 3.0],)), Case("none at all", ([],))),
        mistakes=usual(
            "you squared",
            lambda numbers: [n * n for n in numbers],
            "`x` is not the name here",
            raises("NameError"),
        ),
        hints=(
            "a nudge",
            "2 · `x`",
            "Complete:\n    def doubles(numbers):\n        ...",
        ),
        limit_s=60.0,
    )
    return replace(exercise, **changes)


HELLO = Lesson(
    "01_hello",
    "Hello, federated world",
    minutes=25,
    exercises=(
        doubles(name="say_hello", title="Say hello", points=5),
        doubles(name="warmer", title="A warmer greeting", points=10),
    ),
)
TYPES = Lesson(
    "02_types",
    "Types <and> placements",
    minutes=25,
    exercises=(doubles(name="a_type", title="Write one", points=15),),
)
LESSONS = (HELLO, TYPES)
