# SPDX-License-Identifier: Apache-2.0
"""A small exercise to try the machinery on, which no lesson has."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.mistakes import gives, raises


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
        mistakes=(
            gives("you squared", lambda numbers: [n * n for n in numbers]),
            raises("`x` is not the name here", "NameError"),
        ),
        hints=(
            "a nudge",
            "2 · `x`",
            "Complete:\n    def doubles(numbers):\n        ...",
        ),
        limit_s=60.0,
    )
    return replace(exercise, **changes)
