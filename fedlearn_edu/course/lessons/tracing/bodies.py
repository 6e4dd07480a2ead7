# SPDX-License-Identifier: Apache-2.0
"""Lesson 03: arithmetic that is written down, and how often a body runs."""

from typing import Any, Final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.mistakes import gives, looks, typed

AT_BOTH: Final = "<readings={float32}@CLIENTS,target=float32@SERVER>"


def _target_gap() -> Any:
    @fl.federated_computation(
        fl.type_at_clients(np.float32), fl.type_at_server(np.float32)
    )
    def target_gap(readings: Any, target: Any) -> Any:
        return fl.federated_mean(readings) - target

    return target_gap


TARGET_GAP = Exercise(
    name="target_gap",
    title="how far from the target?",
    points=10,
    want=wants.computation(f"({AT_BOTH} -> float32@SERVER)"),
    reference=_target_gap,
    cases=(
        Case("three homes", ([18.0, 20.5, 24.5], 20.0)),
        Case("too cold: below zero", ([15.0, 16.0], 20.0)),
        Case("one home", ([21.5], 18.0)),
    ),
    mistakes=(
        gives(
            "this is the target minus the mean; the other way round was asked for",
            lambda readings, target: target - np.mean(readings),
        ),
        gives(
            "this is the mean; the target is not taken away yet",
            lambda readings, target: np.mean(readings),
        ),
        gives(
            "you took the sum of the readings, and not their mean",
            lambda readings, target: np.sum(readings) - target,
        ),
        gives(
            "you added up how far each home is from the target; divide by how many "
            "there are, or take a mean",
            lambda readings, target: np.sum(np.asarray(readings) - target),
        ),
        gives(
            "you divided by the target; asked for is the difference",
            lambda readings, target: np.mean(readings) / target,
        ),
        gives(
            "20 is frozen in: the target comes with the call, as `target`",
            lambda readings, target: np.mean(readings) - 20.0,
        ),
        gives("this is the target itself", lambda readings, target: target),
        typed(
            "each home knows its own distance, but nobody took the mean",
            f"({AT_BOTH} -> {{float32}}@CLIENTS)",
        ),
        typed(
            "there are two results here, side by side: take one from the other with -",
            f"({AT_BOTH} -> <float32@SERVER,float32@SERVER>)",
        ),
    ),
    hints=(
        "Two things have to happen: the mean comes to the server, and there the target "
        "is taken away.",
        "Values can be subtracted with `-` if they are at the same place. The mean is "
        "at the server, and so is the target.",
        "Fill the gap:\n"
        "    @fl.federated_computation(\n"
        "        fl.type_at_clients(np.float32), fl.type_at_server(np.float32)\n"
        "    )\n"
        "    def target_gap(readings, target):\n"
        "        return fl.federated_mean(...) - ...",
    ),
)


def _has(place: int, *numbers: int) -> Any:
    return lambda answer: answer[place] in numbers


BODY_RUNS = Exercise(
    name="body_runs",
    title="count the runs",
    points=5,
    want=wants.value((tuple, list), "three numbers, as in `(1, 2, 3)`"),
    reference=lambda: [0, 5, 2],
    cases=(
        Case("runs of the body of `all_halved`", do=lambda answer: answer[0]),
        Case("runs of the leaf `halved`", do=lambda answer: answer[1]),
        Case("runs of the polymorphic `squared`", do=lambda answer: answer[2]),
    ),
    mistakes=(
        looks(
            "three numbers are asked for: of `all_halved`, of `halved`, of `squared`",
            lambda answer: len(answer) != 3,
        ),
        looks(
            "the body of `all_halved` does not run at a call: its tree does", _has(0, 2)
        ),
        looks(
            "the body of `all_halved` ran once, at definition: that is before `clear`, "
            "where counting begins",
            _has(0, 1),
        ),
        looks("a body does not run for each client: its tree does", _has(0, 5)),
        looks(
            "a leaf runs at every client, not once for each call: count the clients",
            _has(1, 2),
        ),
        looks("the two runs on ones were at definition, before `clear`", _has(1, 7, 9)),
        looks("a leaf has to run whenever its result is needed", _has(1, 0, 1)),
        looks(
            "a leaf runs once at every client: there are 3 in the first call, and 2 "
            "in the second",
            lambda answer: answer[1] != 5,
        ),
        looks(
            "`squared` is traced for each new type, not for each call: which types "
            "does it meet?",
            _has(2, 3),
        ),
        looks(
            "`squared` meets two types: the 4 has no decimal point, so it is an int32",
            _has(2, 1),
        ),
        looks(
            "without types there was nothing to trace at definition: `squared` had to "
            "wait for its calls",
            _has(2, 0),
        ),
    ),
    hints=(
        "Ask of each of the three: what is it that runs at a call, your function, or "
        "the tree it wrote?",
        "A body runs once, at definition. A leaf runs for each client, in each call. A "
        "polymorphic body runs once for each new type. And what came before `clear`?",
        "Fill the gaps:\n    body_runs = (0, 3 + ..., ...)",
    ),
)
