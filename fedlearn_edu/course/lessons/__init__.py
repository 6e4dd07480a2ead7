# SPDX-License-Identifier: Apache-2.0
"""The lessons, in their order; the module of one is imported when it is asked for."""

import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Final

from fedlearn_edu.course.exercise import Lesson

MODULES: Final = {
    "00_why": "why",
    "01_hello": "hello",
    "02_types_and_placements": "types",
    "03_computations_and_tracing": "tracing",
    "04_intrinsics": "intrinsics",
    "05_sequences": "sequences",
    "06_executor_stack": "stack",
    "07_strategies": "strategies",
    "08_non_iid_mnist": "non_iid",
    "09a_local_training": "training",
    "09b_federated_evaluation": "evaluation",
    "10_federated_averaging": "averaging",
    "11a_client_drift": "drift",
    "11b_drift_corrections": "corrections",
    "12a_what_leaks": "what_leaks",
    "12b_who_lies": "who_lies",
    "12c_hide_in_a_sum": "hide_in_a_sum",
    "12d_a_budget": "a_budget",
    "13_remote_clients": "remote",
    "14_your_own_algorithm": "capstone",
}
"""The name of each lesson, and its module in this folder."""


def load(name: str) -> Lesson:
    """The lesson of this name, one of `MODULES`."""
    found: Lesson = import_module(f"{__name__}.{MODULES[name]}").LESSON
    return found


def load_all() -> tuple[Lesson, ...]:
    """All of them, in their order."""
    return tuple(map(load, MODULES))


def loaded_first() -> Iterator[Lesson]:
    """All of them; those that are not loaded last, each when it is its turn.

    A notebook loads its own lesson, so what is looked for there is found in the first
    ones, and no other is loaded.
    """
    return map(load, sorted(MODULES, key=lambda name: not _is_loaded(name)))


def _is_loaded(name: str) -> bool:
    return f"{__name__}.{MODULES[name]}" in sys.modules
