# SPDX-License-Identifier: Apache-2.0
"""An outsider writes a derived intrinsic, as in a notebook cell; it runs everywhere."""

import operator
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.framework import (
    Context,
    ReferenceContext,
    SyncExecutionContext,
    derived,
    intrinsic_named,
    local_executor_factory,
)
from fedlearn_edu.testing import assert_same, assert_type
from tests.extension.own_strategy import OneRoomStrategy

FLOATS = fl.type_at_clients(np.float32)
INTS = fl.type_at_clients(np.int32)

CONTEXTS = {
    "reference": ReferenceContext(),
    "flat": SyncExecutionContext(local_executor_factory()),
    "in-groups": SyncExecutionContext(local_executor_factory(max_fanout=2)),
    "own-strategy": SyncExecutionContext(
        local_executor_factory(strategy=OneRoomStrategy)
    ),
}
everywhere = pytest.mark.parametrize("context", CONTEXTS.values(), ids=CONTEXTS)


@pytest.fixture
def federated_range() -> Any:
    @derived("({T}@CLIENTS -> T@SERVER)")
    def federated_range(value: Any) -> Any:
        """The distance between the least and the greatest value."""
        return fl.federated_max(value) - fl.federated_min(value)

    return federated_range


@everywhere
def test_own_derived_intrinsic_runs(context: Context, federated_range: Any) -> None:
    spread = fl.federated_computation(federated_range, FLOATS)
    assert_type(spread, "({float32}@CLIENTS -> float32@SERVER)")
    with context:
        assert_same(spread([2.0, -1.5, 8.0]), 9.5)


@everywhere
def test_own_derived_intrinsic_may_take_a_function(context: Context) -> None:
    @derived("(<(T -> U),{T}@CLIENTS,U> -> U@SERVER)")
    def federated_total_of(fn: Any, value: Any, start: Any) -> Any:
        """Maps at the clients, adds up at the server, from a start."""
        return fl.federated_sum(fl.federated_map(fn, value)) + start

    square = fl.np_computation(lambda x: x * x, np.int32)
    total = fl.federated_computation(
        lambda v: federated_total_of(square, v, np.int32(100)), INTS
    )
    with context:
        assert_same(total([1, 2, 3]), 114)


def test_own_derived_intrinsic_stays_one_step_in_the_program(
    federated_range: Any,
) -> None:
    spread = fl.federated_computation(federated_range, FLOATS)
    assert "federated_range(" in spread.to_text()
    assert "federated_max" not in spread.to_text()
    assert not intrinsic_named("federated_range").is_primitive
    assert federated_range.__doc__.startswith("The distance")


def test_own_derived_intrinsic_explains_a_wrong_placement(federated_range: Any) -> None:
    with pytest.raises(TypeError, match="federated_range") as caught:
        fl.federated_computation(federated_range, fl.type_at_server(np.float32))
    assert "{T}@CLIENTS" in str(caught.value)


def test_own_derived_intrinsic_may_require_more_of_its_types() -> None:
    def only_integers(value: fl.Type) -> None:
        if "float" in str(value):
            raise TypeError("counts are integers")

    @derived("({T}@CLIENTS -> T@SERVER)", require=only_integers)
    def federated_count(value: Any) -> Any:
        return fl.federated_sum(value)

    fl.federated_computation(federated_count, INTS)
    with pytest.raises(TypeError, match="counts are integers"):
        fl.federated_computation(federated_count, FLOATS)


def test_running_the_cell_again_replaces_the_definition() -> None:
    """A student mends the definition and runs the cell once more."""

    def cell(combine: Any) -> Any:
        @derived("({T}@CLIENTS -> T@SERVER)")
        def federated_range(value: Any) -> Any:
            return combine(fl.federated_max(value), fl.federated_min(value))

        return fl.federated_computation(federated_range, INTS)

    wrong = cell(operator.add)
    assert_same(wrong([1, 5]), 6)
    right = cell(operator.sub)
    assert_same(right([1, 5]), 4)
