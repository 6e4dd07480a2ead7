# SPDX-License-Identifier: Apache-2.0
"""Lesson 01: readings stay where they are, and the server still learns their mean."""

from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu import viz
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise, Lesson
from fedlearn_edu.course.mistakes import looks, raises, returns, typed, usual, written

READINGS: Final = "({float32}@CLIENTS -> float32@SERVER)"
STAY: Final = "({float32}@CLIENTS -> {float32}@CLIENTS)"
ALL: Final = "({float32}@CLIENTS -> float32*@SERVER)"
NOWHERE: Final = "({float32}@CLIENTS -> float32)"
DOUBLE: Final = "({float32}@CLIENTS -> float64@SERVER)"
FIVE: Final = (
    "you divided by a fixed number, but a program does not know how many clients there "
    "will be"
)


TYPE_OF_MEAN = Exercise(
    name="type_of_mean",
    title="the type of the mean",
    points=5,
    want=wants.value(fl.Type, "a type, made by `fl.parse_type`"),
    reference=lambda: fl.parse_type("float32@SERVER"),
    cases=(
        Case("says what the value is", do=lambda a: getattr(a, "member", a)),
        Case("says who holds it", do=lambda a: getattr(a, "placement", "nobody")),
        Case("is complete", do=lambda answer: answer),
    ),
    mistakes=usual(
        "this is a text; `fl.parse_type` makes a type of it",
        looks(lambda answer: isinstance(answer, str)),
        "this is a Python class, which does not say who holds the value; write the "
        "type as a text in `parse_type`",
        looks(lambda answer: isinstance(answer, type)),
        "this is the mean itself; write its type, as a text in `parse_type`",
        looks(lambda answer: isinstance(answer, fl.FederatedValue)),
        "this says what, but not where: add `@` and a placement",
        written(lacking="@"),
        "the clients hold the readings; the mean is somewhere else",
        written("@CLIENTS"),
        "braces are for values that differ from one holder to the next, and there is "
        "only one server",
        looks(lambda answer: str(answer).startswith("{")),
        "the readings are `float32`, and so is their mean",
        looks(lambda answer: not str(answer).startswith("float32")),
        "the type is a text, so it stands between quotes",
        raises("NameError: name '(float32|SERVER|CLIENTS)'|parse_type reads text"),
        "placements are written in capitals",
        raises("`(?i:server|clients)`"),
        "write one word such as `float32`, then `@`, then `SERVER` or `CLIENTS`, and "
        "nothing else",
        raises("this is not a type"),
    ),
    hints=(
        "A type says two things: what a value is and, after an `@`, who holds it.",
        "Look at the line above the table in which the mean is shown, and compare it "
        "with the line above the readings.",
        "It is a text in `parse_type`, with one word before the `@` and one after it:\n"
        '    type_of_mean = fl.parse_type("...@...")',
        "One number is a `float32`. Who holds it?\n"
        '    type_of_mean = fl.parse_type("float32@...")',
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
        Case("three clients", ([3.0, 4.0, 11.0],)),
        Case("one client", ([21.5],)),
        Case("numbers below zero", ([-4.0, 4.0, -3.0, 1.0],)),
    ),
    mistakes=usual(
        "you added up the readings but did not divide",
        sum,
        FIVE,
        lambda readings: np.mean(readings) / 5,
        lambda readings: sum(readings) / 5,
        lambda readings: sum(readings) / 3,
        "you cannot go through the readings; `fl.federated_mean` takes their mean",
        raises("iteration needs|NumPy cannot read"),
        "the result is still at the clients: take the mean",
        typed(STAY),
        "this comes from no client: make the result of `readings`",
        typed(NOWHERE),
        "this ran at once, on five readings; write a program: keep the decorator and "
        "`def`",
        looks(lambda answer: isinstance(answer, fl.FederatedValue)),
        "average `readings`, the parameter: numbers of your own are at no client",
        raises("federated_mean needs a federated value"),
        "this is a masked sum, of whole numbers; `fl.federated_mean` takes the mean",
        raises("adds integers"),
        "each client has one reading: `federated_map` lets it average that alone; "
        "`federated_mean` goes over the clients",
        raises("an argument of federated_map"),
    ),
    hints=(
        "The mean of n readings is their sum divided by n. One function of the library "
        "does both.",
        "Look at the cell that worked out the mean of `readings` at once. The same "
        "function works in here.",
        "The missing line returns a result:\n    return fl....(readings)",
        "Its name starts like the others:\n"
        "    @fl.federated_computation(fl.type_at_clients(np.float32))\n"
        "    def average_of(readings):\n"
        "        return fl.federated_...(readings)",
    ),
    reward=lambda answer: f"1,000 homes at 20 degrees: {answer([20.0] * 1000):.1f}.",
)


def _fahrenheit(celsius: Any) -> Any:
    return np.asarray(celsius, np.float32) * 1.8 + 32


def _mean_fahrenheit() -> Any:
    @fl.np_computation(np.float32)
    def to_fahrenheit(celsius: Any) -> Any:
        return celsius * np.float32(1.8) + np.float32(32)

    @fl.federated_computation(fl.type_at_clients(np.float32))
    def mean_fahrenheit(readings: Any) -> Any:
        return fl.federated_mean(fl.federated_map(to_fahrenheit, readings))

    return mean_fahrenheit


def _degrees_sent(answer: Any, readings: list[float]) -> str:
    """Which degrees leave the clients: the mean of either is the same to the server."""
    with fl.record() as tape:
        answer(readings)
    sent = {
        round(float(number), 3)
        for event in tape.events
        if event.participant.startswith("clients") and event.layer == "leaf"
        if event.what == "compute"
        for number in np.ravel(event.made)
    }
    if sent.issuperset(_fahrenheit(readings).round(3).tolist()):
        return "degrees Fahrenheit"
    return "degrees Celsius" if sent.intersection(readings) else "something else"


MEAN_FAHRENHEIT = Exercise(
    name="mean_fahrenheit",
    title="convert, then average",
    points=10,
    want=wants.computation(READINGS),
    reference=_mean_fahrenheit,
    cases=(
        Case("three clients", ([20.0, 21.5, 18.5],)),
        Case("freezing and boiling", ([0.0, 100.0],)),
        Case("one client", ([-40.0],)),
        Case("what the clients send", ([10.0, 30.0],), _degrees_sent),
    ),
    mistakes=usual(
        "each client has to convert its own reading before it is sent: convert first, "
        "and then take the mean",
        returns(lambda got, _: isinstance(got, str)),
        raises("float32@SERVER is not assignable"),
        "`fl.federated_map(to_fahrenheit, readings)` converts each reading, at its "
        "client",
        raises("iteration needs|CLIENTS is not assignable"),
        "this is the mean in degrees Celsius: convert first, and average what comes "
        "out",
        np.mean,
        "you took the sum; take the mean",
        lambda readings: np.sum(_fahrenheit(readings)),
        "the converted readings are still at the clients: take the mean",
        typed(STAY),
        "you multiplied by 1.8 but did not add 32",
        lambda readings: np.mean(readings) * 1.8,
    ),
    hints=(
        "There are two steps: first every client converts its own reading, then the "
        "server gets the mean of the results.",
        "Look at the last cell before this exercise: `federated_map` lets every client "
        "apply a function. And `average_of` has the second step.",
        "One line for each step:\n"
        "    converted = fl.federated_map(..., ...)\n"
        "    return fl.federated_mean(...)",
        "What is averaged?\n"
        "    @fl.federated_computation(fl.type_at_clients(np.float32))\n"
        "    def mean_fahrenheit(readings):\n"
        "        converted = fl.federated_map(to_fahrenheit, readings)\n"
        "        return fl.federated_mean(...)",
    ),
)


def _share_warm() -> Any:
    one_if_warm = fl.np_computation(
        lambda reading: np.float32(reading > np.float32(21)), np.float32
    )

    @fl.federated_computation(fl.type_at_clients(np.float32))
    def share_warm(readings: Any) -> Any:
        return fl.federated_mean(fl.federated_map(one_if_warm, readings))

    return share_warm


SHARE_WARM = Exercise(
    name="share_warm",
    title="how many are warm?",
    points=15,
    want=wants.computation(READINGS),
    reference=_share_warm,
    cases=(
        Case("two of eight", ([20.5, 24.0, -20.0, 22.0, 18.0, 19.5, 16.0, 10.0],)),
        Case("exactly 21 is not more than 21", ([21.0, 21.25, 19.0, 18.0],)),
        Case("no home is warm", ([3.0, 4.0, 5.0],)),
        Case("all homes are warm", ([30.0, 40.0],)),
    ),
    mistakes=usual(
        "this is the number of warm clients; divide it by the number of all clients",
        lambda readings: float(sum(r > 21 for r in readings)),
        "you also counted clients that read exactly 21",
        lambda readings: float(np.mean([r >= 21 for r in readings])),
        "21.25 is more than 21, too: compare the reading as it is",
        lambda readings: float(np.mean([int(r) > 21 for r in readings])),
        "this is the share of homes that are not warm",
        lambda readings: float(np.mean([r <= 21 for r in readings])),
        "this is the mean of the readings; each client has to send its answer, 0 or 1",
        np.mean,
        FIVE,
        lambda readings: sum(r > 21 for r in readings) / 5,
        "you asked for more than 20 degrees; the question is more than 21",
        lambda readings: np.mean([r > 20 for r in readings]),
        "you averaged the warm readings themselves; a warm home answers 1.0",
        lambda readings: np.mean([r if r > 21 else 0.0 for r in readings]),
        "you asked whether the mean is warm; each client has to answer for itself",
        lambda readings: float(np.mean(readings) > 21),
        "`one_if_warm` has to return the number 1.0 or 0.0, not a truth value or a "
        "whole number: `np.float32(…)` makes one",
        raises("only floating-point values can be averaged|cannot be added up"),
        "this is a `float64`, NumPy's usual type of decimal numbers; `np.float32(…)` "
        "around an answer makes it a `float32`",
        typed(DOUBLE),
        "the answers are still at the clients: take their mean",
        typed(STAY),
    ),
    hints=(
        "Let each client answer with a number: 1.0 for yes, 0.0 for no. "
        "What is the mean of such answers?",
        "Look at `to_fahrenheit` for a function on one number, and at "
        "`mean_fahrenheit` for how every client applies one. A comparison such as "
        "`reading > 20` is true or false; `np.float32(…)` makes it 1.0 or 0.0.",
        "One line in each function:\n"
        "    # in one_if_warm\n"
        "    return np.float32(...)\n"
        "    # in share_warm\n"
        "    return fl.federated_mean(fl.federated_map(..., ...))",
        "What does every client apply?\n"
        "    @fl.np_computation(np.float32)\n"
        "    def one_if_warm(reading):\n"
        "        return np.float32(reading > 21)\n"
        "\n"
        "    @fl.federated_computation(fl.type_at_clients(np.float32))\n"
        "    def share_warm(readings):\n"
        "        return fl.federated_mean(fl.federated_map(..., readings))",
    ),
    reward=lambda answer: viz.draw_graph(answer),
)


LESSON: Final = Lesson(
    name="01_hello",
    title="What can a server learn without seeing the data?",
    minutes=40,
    goals=(
        "say who holds what, from a type alone",
        "write a program that runs at many clients and one server",
        "ask a question about data that nobody hands over",
    ),
    needs="a little Python",
    exercises=(TYPE_OF_MEAN, AVERAGE_OF, MEAN_FAHRENHEIT, SHARE_WARM),
    outcomes={"who-holds-the-mean": "the server", "mean-rises": "1 degree"},
)
