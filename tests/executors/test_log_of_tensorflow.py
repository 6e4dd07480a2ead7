# SPDX-License-Identifier: Apache-2.0
"""The log of the second tutorial's round: as steps, and fused into group calls."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.executors.traffic import bytes_by_edge
from fedlearn_edu.testing.case import Case
from fedlearn_edu.testing.cases import cases
from fedlearn_edu.testing.comparison import difference
from tests.conformance.stacks import SMOKE
from tests.executors.replaying import results_of
from tests.executors.test_replaying import check_order
from tests.programs import NUMBERS
from tests.tutorial.conftest import default_context_restored, run_script

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

MODEL_BYTES = (784 * 10 + 10) * 4


@pytest.fixture(scope="module")
def tutorial() -> Any:
    from fedlearn_edu.simulation import datasets

    (x, y), (x_test, y_test) = datasets.load_digits28()
    with default_context_restored():
        yield run_script((x[:60], y[:60]), (x_test[:60], y_test[:60])).names


@pytest.mark.parametrize("fanout", [100, 4], ids=["flat", "groups"])
@pytest.mark.parametrize("fuse", [False, True], ids=["steps", "fused"])
def test_a_round_of_the_tutorial(
    tutorial: SimpleNamespace, fuse: bool, fanout: int
) -> None:
    data = tutorial.federated_train_data
    with fl.record(fuse=fuse, max_fanout=fanout) as tape:
        result = tutorial.federated_train(tutorial.initial_model, 0.1, data)
    check_order(tape)
    [replayed] = results_of(tape)
    assert difference(replayed, result) is None
    together = [event for event in tape if event.what == "batched_call"]
    assert bool(together) == fuse
    moved = bytes_by_edge(tape.events)
    assert moved["server → clients"] == (MODEL_BYTES + 4) * 10
    assert moved["clients → server"] == (MODEL_BYTES + 4) * 10
    assert moved["outside → clients"] == (0 if fuse else 4 * 10)  # ones, to count
    assert moved["outside → server"] == MODEL_BYTES + 4
    assert moved["server → outside"] == MODEL_BYTES
    assert moved["clients → outside"] == 0


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(c, id=c.name, marks=[pytest.mark.thorough] * (c.name not in SMOKE))
        for c in cases("tensorflow")
    ],
)
def test_a_fused_run_can_be_replayed(case: Case) -> None:
    with fl.record(fuse=True) as tape:
        result = case.run()
    check_order(tape)
    [replayed] = results_of(tape)
    assert difference(replayed, result) is None


def test_a_mapped_sequence_may_have_been_made_by_leaf_code() -> None:
    @fl.tf_computation(NUMBERS)
    def doubled(numbers: Any) -> Any:
        return numbers.map(lambda x: 2 * x)

    @fl.tf_computation(np.int32)
    def plus_one(x: Any) -> Any:
        return x + 1

    program = fl.federated_computation(
        lambda s: fl.sequence_map(plus_one, doubled(s)), NUMBERS
    )
    with fl.record() as tape:
        result = program([1, 2])
    assert list(result) == [3, 5]
    assert results_of(tape) == [result]


def test_a_batched_call_moves_as_many_bytes_as_calls_one_by_one() -> None:
    """Whatever the learner's function is called: its name is no error."""

    @fl.tf_computation(np.int32)
    def count_failed(x: Any) -> Any:
        return x + 1

    def body(v: Any, k: Any) -> Any:
        fl.federated_broadcast(k)
        return fl.federated_map(count_failed, v)

    program = fl.federated_computation(
        body, fl.type_at_clients(np.int32), fl.type_at_server(np.int32)
    )
    found = []
    for fuse in (False, True):
        with fl.record(fuse=fuse) as tape:
            assert program([1, 2, 3], 5) == [2, 3, 4]
        found.append(bytes_by_edge(tape.events))
    assert found[0] == found[1]
    assert found[0]["clients → outside"] == 12


@pytest.mark.parametrize(("is_kept", "calls"), [(False, 1), (True, 2)])
def test_aggregates_of_one_map_ask_all_clients_together(
    is_kept: bool, calls: int
) -> None:
    """What a map returns is folded with it, or from where one call has put it."""
    twice = fl.tf_computation(lambda x: 2 * x, np.int32)

    def body(v: Any) -> Any:
        doubled = fl.federated_map(twice, v)
        found = fl.federated_sum(doubled), fl.federated_max(doubled)
        return (*found, doubled) if is_kept else found

    program = fl.federated_computation(body, fl.type_at_clients(np.int32))
    found = []
    for fuse in (False, True):
        with fl.record(fuse=fuse) as tape:
            assert program([1, 2, 3])[:2] == (12, 6)
        check_order(tape)
        found.append(bytes_by_edge(tape.events))
        made = [event for event in tape if event.what == "batched_call"]
        assert len(made) == (calls if fuse else 0)
    assert found[0] == found[1]
