# SPDX-License-Identifier: Apache-2.0
"""A stack says what it cannot run before it runs anything."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import UnsupportedIntrinsicError
from tests.executors.examples import Plain, run
from tests.programs import INT, INTS, NUMBERS, NUMBERS_AT_CLIENTS, add, increment, local

fw = fl.framework
RAN: list[str] = []


def note(x: Any) -> Any:
    RAN.append("ran")
    return x


@pytest.fixture
def noted() -> Any:
    """Leaf code that leaves a trace."""
    computation = fl.np_computation(note, np.int32)
    RAN.clear()
    return computation


Use = Callable[[Any], Any]


@pytest.mark.parametrize(
    ("use", "uri"),
    [
        (lambda s: fl.sequence_map(increment, s), "sequence_map"),
        (lambda s: fl.sequence_reduce(s, 0, add), "sequence_reduce"),
        (lambda s: fl.sequence_sum(s), "sequence_sum"),
    ],
)
@pytest.mark.parametrize("type_", [NUMBERS, NUMBERS_AT_CLIENTS], ids=str)
@pytest.mark.parametrize("kind", [fw.SyncExecutionContext, fw.AsyncExecutionContext])
def test_without_the_sequence_layer_the_cure_is_named(
    use: Use, uri: str, type_: Any, kind: Any, noted: Any
) -> None:
    program = fl.federated_computation(lambda x, s: [noted(x), use(s)], INT, type_)
    argument = [1, 2] if type_ is NUMBERS else [[1, 2], [3]]

    def call() -> None:
        with kind(fw.local_executor_factory()):
            result = program(5, argument)
            if kind is fw.AsyncExecutionContext:
                run(result)

    with pytest.raises(UnsupportedIntrinsicError, match=f"cannot run {uri}") as caught:
        call()
    assert "support_sequence_ops=True" in str(caught.value.do)
    assert isinstance(caught.value, NotImplementedError)
    assert RAN == []


class SumsOnly(Plain):
    """A strategy that can add, and nothing else."""

    @staticmethod
    def factory(target_executors: Any) -> Any:
        """Needs no targets."""
        return lambda executor: SumsOnly()


@pytest.mark.parametrize(
    ("use", "uri"),
    [
        (lambda v: fl.federated_map(increment, v), "federated_map"),
        (lambda v: fl.federated_collect(v), "federated_collect"),
        (lambda v: fl.federated_zip([v]), "federated_zip"),
    ],
)
def test_a_strategy_that_lacks_an_intrinsic_is_told_which(
    use: Use, uri: str, noted: Any
) -> None:
    program = fl.federated_computation(lambda x, v: [noted(x), use(v)], INT, INTS)
    context = local(strategy=SumsOnly)
    with context, pytest.raises(UnsupportedIntrinsicError, match=uri) as caught:
        program(5, [1, 2])
    assert "@implements" in str(caught.value.do)
    assert RAN == []


def test_a_function_argument_is_refused_early_too(noted: Any) -> None:
    total = fl.federated_computation(lambda s: fl.sequence_sum(s), NUMBERS)
    program = fl.federated_computation(
        lambda f, s, x: [noted(x), f(s)], fl.FunctionType(NUMBERS, INT), NUMBERS, INT
    )
    context = local()
    with context, pytest.raises(UnsupportedIntrinsicError, match="sequence_sum"):
        program(total, [1, 2], 5)
    assert RAN == []
