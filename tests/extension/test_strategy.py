# SPDX-License-Identifier: Apache-2.0
"""An outsider writes a federating strategy and runs the conformance cases on it."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.framework import (
    FederatingStrategy,
    SyncExecutionContext,
    implements,
    local_executor_factory,
)
from fedlearn_edu.testing import assert_conforms, assert_same, cases
from tests.extension.own_strategy import OneRoomStrategy

MISSING = {"federated_select", "federated_pairwise_masks"}
SEQUENCES = {"sequence_map", "sequence_reduce"}
INTS = fl.type_at_clients(np.int32)


def _context(**options: Any) -> SyncExecutionContext:
    return SyncExecutionContext(
        local_executor_factory(strategy=OneRoomStrategy, **options)
    )


def test_own_strategy_gives_programs_their_meaning() -> None:
    report = assert_conforms(_context(support_sequence_ops=True), lacks=MISSING)
    refused = {name.split("-")[0] for name in report.refused}
    assert all("select" in name or "secure" in name for name in refused)
    assert len(report.agreed) + len(report.refused) == len(cases())
    assert str(report).startswith(f"{len(report.agreed)} cases agree")


def test_own_strategy_refuses_what_it_lacks() -> None:
    with pytest.raises(AssertionError, match="secure_sum-many was refused"):
        assert_conforms(_context(support_sequence_ops=True))


def test_own_strategy_without_the_sequence_layer_still_collects() -> None:
    report = assert_conforms(_context(), lacks=MISSING | SEQUENCES)
    assert "collect_integers-many" in report.agreed
    # No `federated_reduce` of its own: that takes the long way, by a sequence.
    assert "reduce_nests_to_the_left" in report.refused


def test_message_names_strategy_method_that_is_missing() -> None:
    program = fl.federated_computation(lambda v: fl.federated_secure_sum(v, 9), INTS)
    with (
        _context(),
        pytest.raises(NotImplementedError, match='@implements\\("federated_pairwise'),
    ):
        program([1, 2])


@pytest.mark.tensorflow
def test_own_strategy_runs_tensorflow() -> None:
    context = _context(support_sequence_ops=True)
    assert_conforms(context, cases("tensorflow"), lacks=MISSING)
    assert_conforms(context, cases("mixed"), lacks=MISSING)


class Wrapping(FederatingStrategy):
    """Does everything as a strategy it wraps; children change one thing."""

    def __init__(self, right: FederatingStrategy) -> None:
        self._right = right

    @classmethod
    def factory(cls, targets: Any) -> Any:
        right = OneRoomStrategy.factory(targets)
        return lambda executor: cls(right(executor))

    implemented = OneRoomStrategy.implemented

    def close(self) -> None:
        self._right.close()

    async def embed(self, value: Any, type_: Any) -> Any:
        return await self._right.embed(value, type_)

    async def compute(self, representation: Any, type_: Any) -> Any:
        return await self._right.compute(representation, type_)


class Miscounting(Wrapping):
    """A wrong strategy: it forgets the last client whenever it adds up."""

    async def call(self, uri: str, type_: Any, args: Any) -> Any:
        if uri == "federated_aggregate":
            args[0].representation = args[0].representation[:-1]
        return await self._right.call(uri, type_, args)


def test_wrong_strategy_is_found_out() -> None:
    factory = local_executor_factory(strategy=Miscounting, support_sequence_ops=True)
    with pytest.raises(AssertionError) as caught:
        assert_conforms(SyncExecutionContext(factory), lacks=MISSING)
    text = str(caught.value)
    assert "cases differ from the reference" in text
    assert "sum_of_integers-one: at $: expected int32" in text
    assert len(text.splitlines()) <= 12


def test_strategy_may_implement_a_derived_intrinsic_natively() -> None:
    """Then the compiler leaves it alone, and the strategy is asked."""
    asked = []

    class Adding(Wrapping):
        async def call(self, uri: str, type_: Any, args: Any) -> Any:
            if uri == "federated_sum":
                return await self._sum(type_, *args)
            return await self._right.call(uri, type_, args)

        @implements("federated_sum")
        async def _sum(self, type_: Any, value: Any) -> Any:
            asked.append(str(type_))
            members = await value.compute()
            if value.type_signature.all_equal or not members:
                raise AssertionError("not in this test")
            total = np.sum(members, dtype=type_.result.member.dtype)
            return await self._right.embed(total, type_.result)

    factory = local_executor_factory(strategy=Adding)
    program = fl.federated_computation(
        lambda v: (fl.federated_sum(v), fl.federated_max(v)), INTS
    )
    with SyncExecutionContext(factory):
        assert_same(program([1, 2, 3]), (6, 3))
    assert asked == ["({int32}@CLIENTS -> int32@SERVER)"]
