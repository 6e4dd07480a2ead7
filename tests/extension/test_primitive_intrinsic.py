# SPDX-License-Identifier: Apache-2.0
"""An outsider adds a primitive intrinsic, and a strategy that implements it."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.framework import (
    FederatedResolvingStrategy,
    FederatingStrategy,
    Handle,
    IntrinsicDef,
    ReferenceContext,
    SyncExecutionContext,
    apply,
    define,
    implements,
    local_executor_factory,
)
from fedlearn_edu.testing import assert_conforms, assert_same, assert_type

INTS = fl.type_at_clients(np.int32)


@pytest.fixture
def rotate() -> IntrinsicDef:
    """Every client gets its left neighbor's value: no primitive can say that."""
    return define("federated_rotate", "({T}@CLIENTS -> {T}@CLIENTS)")


@pytest.fixture
def rotating_strategy(rotate: IntrinsicDef) -> Any:
    """The stock strategy with one intrinsic more."""

    class RotatingStrategy(FederatingStrategy):
        implemented = FederatedResolvingStrategy.implemented

        def __init__(self, stock: FederatingStrategy) -> None:
            self._stock = stock

        @staticmethod
        def factory(targets: Any) -> Any:
            stock = FederatedResolvingStrategy.factory(targets)
            return lambda executor: RotatingStrategy(stock(executor))

        def close(self) -> None:
            self._stock.close()

        async def embed(self, value: Any, type_: fl.FederatedType) -> Any:
            return await self._stock.embed(value, type_)

        async def compute(self, members: Any, type_: fl.FederatedType) -> Any:
            return await self._stock.compute(members, type_)

        async def call(self, uri: str, type_: fl.FunctionType, args: Any) -> Any:
            if uri in FederatedResolvingStrategy.implemented:
                return await self._stock.call(uri, type_, args)
            return await super().call(uri, type_, args)

        @implements("federated_rotate")
        async def _rotate(self, type_: fl.FunctionType, value: Handle) -> Any:
            values = [await member.compute() for member in value.representation]
            result: Any = type_.result
            return await self._stock.embed([*values[-1:], *values[:-1]], result)

    return RotatingStrategy


def _program(rotate: IntrinsicDef) -> Any:
    return fl.federated_computation(lambda v: v - apply(rotate, [v]), INTS)


def test_own_primitive_intrinsic_is_typed_like_others(rotate: IntrinsicDef) -> None:
    assert rotate.is_primitive
    assert_type(_program(rotate), "({int32}@CLIENTS -> {int32}@CLIENTS)")


def test_strategy_that_implements_own_intrinsic_runs_it(
    rotate: IntrinsicDef, rotating_strategy: Any
) -> None:
    factory = local_executor_factory(strategy=rotating_strategy)
    with SyncExecutionContext(factory):
        assert_same(_program(rotate)([1, 4, 9]), [-8, 3, 5])
        assert_same(_program(rotate)([]), [])


def test_strategy_with_one_intrinsic_more_conforms_as_before(
    rotating_strategy: Any,
) -> None:
    factory = local_executor_factory(
        strategy=rotating_strategy, support_sequence_ops=True
    )
    assert assert_conforms(SyncExecutionContext(factory)).refused == ()


@pytest.mark.parametrize("fanout", [100, 2])
def test_stock_stack_refuses_own_intrinsic_and_names_the_cure(
    rotate: IntrinsicDef, fanout: int
) -> None:
    context = SyncExecutionContext(local_executor_factory(max_fanout=fanout))
    with (
        context,
        pytest.raises(
            NotImplementedError, match="cannot run federated_rotate"
        ) as caught,
    ):
        _program(rotate)([1, 4, 9])
    assert '@implements("federated_rotate")' in str(caught.value)


def test_reference_refuses_own_intrinsic_in_words(rotate: IntrinsicDef) -> None:
    """The oracle knows the primitives of the language only, and says so."""
    with (
        ReferenceContext(),
        pytest.raises(NotImplementedError, match="federated_rotate is a primitive"),
    ):
        _program(rotate)([1, 4, 9])
