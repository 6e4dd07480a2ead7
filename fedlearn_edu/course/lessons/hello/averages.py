# SPDX-License-Identifier: Apache-2.0
"""Lesson 01: the mean of what the clients hold, and its type."""

from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.mistakes import gives, looks, typed

READINGS: Final = "({float32}@CLIENTS -> float32@SERVER)"
STAY: Final = "({float32}@CLIENTS -> {float32}@CLIENTS)"
ALL: Final = "({float32}@CLIENTS -> float32*@SERVER)"
DOUBLE: Final = "({float32}@CLIENTS -> float64@SERVER)"
FIVE: Final = "you divided by 5, but a program does not know how many clients come"


def _type_of_mean() -> Any:
    return fl.parse_type("float32@SERVER")


TYPE_OF_MEAN = Exercise(
    name="type_of_mean",
    title="the type of the mean",
    points=5,
    want=wants.value(fl.Type, "a type, made by `fl.parse_type`"),
    reference=_type_of_mean,
    cases=(
        Case("says what one member is", do=lambda answer: answer.member),
        Case("says who holds it", do=lambda answer: answer.placement),
        Case("is complete", do=lambda answer: answer),
    ),
    mistakes=(
        looks(
            "this is a text; `fl.parse_type` makes a type of it",
            lambda answer: isinstance(answer, str),
        ),
        looks(
            "this is a class of Python's, and says nothing of who holds what; write "
            "the type as a text in `parse_type`",
            lambda answer: isinstance(answer, type),
        ),
        looks(
            "this is the mean itself; asked for is its type, as a text in `parse_type`",
            lambda answer: isinstance(answer, fl.FederatedValue),
        ),
        looks(
            "this says what, but not where: write `@` and a placement behind it",
            lambda answer: "@" not in str(answer),
        ),
        looks(
            "the clients hold the readings; the mean is where it was worked out",
            lambda answer: "@CLIENTS" in str(answer),
        ),
        looks(
            "braces are for values that differ from one holder to the next, and there "
            "is only one server",
            lambda answer: str(answer).startswith("{"),
        ),
        looks(
            "the readings are `float32`; their mean is one, too",
            lambda answer: not str(answer).startswith("float32"),
        ),
    ),
    hints=(
        "A type says what a value is and, behind an @, who holds it. Look at the table "
        "that the mean above was shown in.",
        "It is one number, a `float32`, and it is held by the server.",
        'Complete this:\n    type_of_mean = fl.parse_type("float32@...")',
    ),
)


def _average_of() -> Any:
    @fl.federated_computation(fl.type_at_clients(np.float32))
    def average_of(readings: Any) -> Any:
        return fl.federated_mean(readings)

    return average_of


AVERAGE_OF = Exercise(
    name="average_of",
    title="a program for the mean",
    points=10,
    want=wants.computation(READINGS),
    reference=_average_of,
    cases=(
        Case("three clients", ([1.0, 2.0, 6.0],)),
        Case("one client", ([21.5],)),
        Case("numbers below zero", ([-4.0, 4.0, -3.0, 1.0],)),
    ),
    mistakes=(
        gives("you added the readings up, and did not divide", sum),
        gives("you took the largest reading", max),
        gives("you took the smallest reading", min),
        gives("this is the middle reading, the median", np.median),
        gives(FIVE, lambda readings: np.sum(readings) / 5),
        gives(
            "you weighted each reading by itself, so the warm homes count for more",
            lambda readings: np.average(readings, weights=readings),
        ),
        typed("the readings never left the clients: bring them together", STAY),
        typed("the server now holds every reading, and not only their mean", ALL),
    ),
    hints=(
        "You ran it at once above, on placed readings. The same function works here.",
        "The mean of n readings is their sum, divided by n. "
        "One function does both, at the server.",
        "Complete the last line:\n"
        "    @fl.federated_computation(fl.type_at_clients(np.float32))\n"
        "    def average_of(readings):\n"
        "        return fl.federated_...(readings)",
    ),
)
