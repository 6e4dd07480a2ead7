# SPDX-License-Identifier: Apache-2.0
"""What all learning processes share: types, printing, states, and what they refuse."""

import ast
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from fedlearn_edu import learning
from fedlearn_edu.learning import models
from fedlearn_edu.learning.process import LearningProcess
from fedlearn_edu.learning.pytree import flatten
from tests.architecture.repository import PACKAGE
from tests.ir.checking import check

MODEL = models.softmax_regression(features=3, classes=2)
BUILDERS: dict[str, Callable[[], LearningProcess]] = {
    "FedSGD": lambda: learning.build_fed_sgd(MODEL),
    "FedAvg": lambda: learning.build_fed_avg(MODEL),
    "FedProx": lambda: learning.build_fed_prox(MODEL),
    "FedAvgM": lambda: learning.build_fed_avg_m(MODEL),
    "FedAdagrad": lambda: learning.build_fed_adagrad(MODEL),
    "FedAdam": lambda: learning.build_fed_adam(MODEL),
    "FedYogi": lambda: learning.build_fed_yogi(MODEL),
    "FedOpt": lambda: learning.build_fed_opt(
        MODEL, learning.optimizers.build_adam(), learning.optimizers.build_sgdm(1.0)
    ),
    "SCAFFOLD": lambda: learning.build_scaffold(MODEL, num_clients=2),
}


@cache
def built(name: str) -> LearningProcess:
    return BUILDERS[name]()


DATA = [
    [{"x": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], "y": [0, 1]}],
    [{"x": [[1.0, 0.0, 1.0]], "y": [0]}, {"x": [[0.0, 1.0, 1.0]], "y": [1]}],
]


@pytest.mark.parametrize("name", BUILDERS)
def test_programs_are_well_typed(name: str) -> None:
    """As those of all conformance cases are, in `tests/conformance/test_laws.py`."""
    check(built(name).initialize.tree)
    check(built(name).next.tree)


def test_room_is_written_with_the_public_face_only() -> None:
    allowed = (
        "fedlearn_edu.atomic",
        "fedlearn_edu.capabilities",
        "fedlearn_edu.errors",
        "fedlearn_edu.former_names",
        "fedlearn_edu.learning",
        "fedlearn_edu.rules",
        "fedlearn_edu.signals",
        "fedlearn_edu.simulation",
    )
    for file in sorted((PACKAGE / "learning").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                inside = node.module.startswith("fedlearn_edu.")
                fits = node.module.startswith(allowed)
                assert not inside or fits, f"{file.name} imports {node.module}"


@pytest.mark.tensorflow
@pytest.mark.usefixtures("step_by_step")
@pytest.mark.parametrize("name", BUILDERS)
def test_every_process_learns_and_says_what_it_is(name: str) -> None:
    process = built(name)
    assert process.name == name
    text = str(process)
    assert text.startswith(f"{name} of a softmax regression 3-2 (")
    assert "@SERVER" in text
    assert "{<x=float32[?,3],y=int32[?]>*}@CLIENTS" in text
    state = process.initialize()
    kept = [process.initialize_client()] * 2 if process.initialize_client else None
    losses = []
    for number in range(1, 9):
        if kept is None:
            state, metrics = process.next(state, DATA)
        else:
            state, metrics, kept = process.next(state, DATA, kept)
        losses.append(float(metrics["loss_per_example"]))
        assert state.round_number == number
    assert losses[0] == pytest.approx(np.log(2), rel=0.1)
    assert losses[-1] < losses[0]
    assert (metrics["clients"], metrics["examples"]) == (2, 4)
    assert metrics["update_norm"] > 0


@pytest.mark.tensorflow
@pytest.mark.usefixtures("step_by_step")
@pytest.mark.parametrize("name", BUILDERS)
def test_round_without_a_single_example_changes_nothing(name: str) -> None:
    process, nothing = built(name), [{"x": np.zeros([0, 3]), "y": []}]
    state = process.initialize()
    kept: list[Any] = []
    if process.initialize_client is not None:
        kept = [[process.initialize_client()] * 2]
    # What is remembered shall not be zero: momentum alone would move the weights on.
    state, _, *kept = process.next(state, DATA, *kept)
    after, metrics, *kept_after = process.next(state, [nothing, []], *kept)
    before, now = flatten([state, *kept]), flatten([after, *kept_after])
    assert before.keys() == now.keys()
    assert all(np.array_equal(before[path], now[path]) for path in before)
    assert np.isnan(metrics["loss_per_example"])
    assert (metrics["examples"], metrics["clients"]) == (0, 2)
    assert metrics["update_norm"] == 0.0


@pytest.mark.tensorflow
def test_seed_decides_the_first_weights() -> None:
    model = models.multilayer_perceptron([3], features=3, classes=2)
    first, again, other = (
        learning.build_fed_avg(model, seed=seed).initialize().weights[0]["weights"]
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert np.any(first != other)


@pytest.mark.tensorflow
def test_numbers_of_numpy_are_numbers() -> None:
    ours = learning.build_fed_avg(MODEL, 0.5, 1.0, local_epochs=2)
    numpys: Any = np.float32(0.5), np.float64(1.0), np.int64(2)
    theirs = learning.build_fed_avg(MODEL, *numpys[:2], local_epochs=numpys[2])
    assert theirs.settings == ours.settings
    weights = flatten([ours(DATA), theirs(DATA)])
    assert np.array_equal(weights["0/bias"], weights["1/bias"])


@pytest.mark.tensorflow
def test_rate_may_decay_from_a_whole_number() -> None:
    rate = learning.optimizers.exponential_decay(1, 1)
    weights = learning.build_fed_avg(MODEL, rate)(DATA)
    expected = learning.build_fed_avg(MODEL, 1.0)(DATA)
    assert np.array_equal(weights["bias"], expected["bias"])
