# SPDX-License-Identifier: Apache-2.0
"""Which primitives a strategy needs, so that a mean runs on it."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.course import wants
from fedlearn_edu.course.exercise import Case, Exercise
from fedlearn_edu.course.mistakes import looks
from fedlearn_edu.errors import UnsupportedIntrinsicError
from fedlearn_edu.framework import all_intrinsics, compile_tree

_PRIMITIVE = {each.uri for each in all_intrinsics() if each.is_primitive}
_OTHERS = {each.uri for each in all_intrinsics() if not each.is_primitive}


def _enough_for_a_mean() -> Any:
    return {"federated_value", "federated_zip", "federated_aggregate", "federated_map"}


def _runs(names: Iterable[str]) -> bool:
    """Whether a mean compiles for a strategy that implements these."""
    average = fl.federated_computation(
        fl.federated_mean, fl.type_at_clients(np.float32)
    )
    try:
        compile_tree(average.tree, frozenset(names), "average")
    except UnsupportedIntrinsicError:
        return False
    return True


def _strangers(names: Iterable[str]) -> list[str]:
    """What is no primitive."""
    return sorted(set(names) - _PRIMITIVE)


def _says_of_mean(names: Iterable[str]) -> str:
    return "a mean runs" if _runs(names) else "a mean is refused"


def _too_many(names: Iterable[str]) -> list[str]:
    """What can be taken away, and a mean still runs."""
    return sorted(name for name in names if _runs(set(names) - {name}))


def _lacks(name: str) -> Callable[[Any], bool]:
    return lambda answer: not isinstance(answer, str) and name not in answer


ENOUGH_FOR_A_MEAN = Exercise(
    name="enough_for_a_mean",
    title="the primitives a mean is made of",
    points=5,
    want=wants.value((set, frozenset, list, tuple), "a set of names"),
    reference=_enough_for_a_mean,
    cases=(
        Case("has only primitives", do=_strangers),
        Case("is enough", do=_says_of_mean),
        Case("has nothing too much", do=_too_many),
    ),
    mistakes=(
        looks(
            "this is one text: put the names into braces, with commas between them",
            lambda answer: isinstance(answer, str),
        ),
        looks(
            "a mean is derived: it is not made of itself",
            lambda answer: "federated_mean" in answer,
        ),
        looks(
            "a sum is derived, too: it expands into an aggregation",
            lambda answer: "federated_sum" in answer,
        ),
        looks(
            "this is one text with commas in it: put quotes around each name",
            lambda answer: any("," in name for name in answer),
        ),
        looks(
            "the names are those of the picture; where a value is, is not in its name",
            lambda answer: any("_at_" in name for name in answer),
        ),
        looks(
            "this language has no `federated_apply`: a function that runs where the "
            "data are is mapped, at the server, too",
            lambda answer: "federated_apply" in answer,
        ),
        looks(
            "each name begins with `federated_`, and is a text in quotes",
            lambda answer: not set(answer) <= _PRIMITIVE | _OTHERS,
        ),
        looks(
            "every client puts a 1 beside its reading: how does the 1 get there?",
            _lacks("federated_value"),
        ),
        looks("a reading and a 1 have to become one pair", _lacks("federated_zip")),
        looks("nobody adds up what the clients have", _lacks("federated_aggregate")),
        looks(
            "at the end a function divides the sums, at the server: a function that "
            "runs where the data are is mapped",
            _lacks("federated_map"),
        ),
        looks(
            "this is more than enough: nothing is broadcast or chosen in a mean",
            lambda answer: len(set(answer)) > 4,
        ),
    ),
    hints=(
        "The picture above has four boxes after the expansion. Three of them say the "
        "name of an intrinsic; the fourth has the name of the function that is run.",
        "The fourth runs a function on what the server has. "
        "Which intrinsic runs a function on what a placement holds?",
        "Fill the gaps:\n"
        "    enough_for_a_mean = {\n"
        '        "federated_value",\n'
        '        "federated_zip",\n'
        '        "federated_...",\n'
        '        "federated_...",\n'
        "    }",
    ),
)
