# SPDX-License-Identifier: Apache-2.0
"""The public faces, name by name: a change here asks for a line in the changelog."""

import importlib
from collections.abc import Callable
from inspect import isfunction

import pytest

from fedlearn_edu.errors import short_traceback

FACES = [
    "fedlearn_edu",
    "fedlearn_edu.attacks",
    "fedlearn_edu.backends.native",
    "fedlearn_edu.framework",
    "fedlearn_edu.learning",
    "fedlearn_edu.learning.aggregators",
    "fedlearn_edu.remote",
    "fedlearn_edu.simulation",
    "fedlearn_edu.types",
    "fedlearn_edu.viz",
]


def test_public_names_are_the_agreed_ones(golden: Callable[[str, str], None]) -> None:
    sections = []
    for face in FACES:
        names = sorted(importlib.import_module(face).__all__)
        sections.append("\n".join([f"[{face}]", *names]))
    golden("public_api.txt", "\n\n".join(sections))


@pytest.mark.tensorflow
@pytest.mark.parametrize("face", FACES)
def test_every_public_name_is_there(face: str) -> None:
    module = importlib.import_module(face)
    assert len(set(module.__all__)) == len(module.__all__)
    missing = [name for name in module.__all__ if not hasattr(module, name)]
    assert not missing


@pytest.mark.parametrize(
    "room",
    [
        *("attacks", "attacks.inversion", "attacks.membership"),
        *("learning", "learning.aggregators", "learning.models"),
        *("learning.optimizers", "simulation"),
        *("simulation.datasets", "simulation.partitions", "viz", "course"),
        *("backends.native", "remote"),
    ],
)
def test_errors_leave_public_functions_without_frames_of_ours(room: str) -> None:
    module = importlib.import_module(f"fedlearn_edu.{room}")
    found = {name: getattr(module, name) for name in module.__all__}
    functions = {name: each for name, each in found.items() if isfunction(each)}
    border = short_traceback(lambda: None).__code__
    assert [name for name, f in functions.items() if f.__code__ is not border] == []


def test_name_that_pictures_do_not_have_gets_a_near_one() -> None:
    viz = importlib.import_module("fedlearn_edu.viz")
    with pytest.raises(AttributeError, match=r"did you mean explore_drift\?"):
        viz.explore_drfit  # noqa: B018 (asking for it is what fails)
