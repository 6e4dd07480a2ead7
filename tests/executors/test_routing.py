# SPDX-License-Identifier: Apache-2.0
"""Several runtimes at one participant: each leaf goes where it belongs."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import FedLearnError
from fedlearn_edu.executors.routing import RoutingExecutor
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.operations import operation
from tests.executors.examples import CountingExecutor, call, pair, run
from tests.programs import INT, NUMBERS, add, increment, total


class Abacus:
    """Leaf code of a runtime of our own."""

    name, digest = "abacus_double", "abacus_double"

    def __call__(self, argument: Any) -> Any:
        return argument + argument


class AbacusExecutor(CountingExecutor):
    """Runs abacus code as if it were NumPy's."""

    async def create_value(self, value: Any, type_spec: Any = None) -> Any:
        """Relabels the code."""
        if isinstance(value, ir.Leaf) and value.runtime == "abacus":
            value = ir.Leaf("numpy", value.code, value.type)
        return await super().create_value(value, type_spec)


PAIR = fl.to_type([INT, INT])
DOUBLE = ir.Leaf("abacus", Abacus(), fl.FunctionType(INT, INT))


def both() -> tuple[RoutingExecutor, CountingExecutor, CountingExecutor]:
    numpy, abacus = CountingExecutor(), AbacusExecutor()
    return RoutingExecutor({"numpy": numpy, "abacus": abacus}), numpy, abacus


def test_a_leaf_goes_to_the_executor_of_its_runtime() -> None:
    executor, numpy, abacus = both()
    assert run(call(executor, increment, np.int32(1))) == 2
    assert (numpy.calls["create_call"], abacus.calls["create_call"]) == (1, 0)
    assert run(call(executor, DOUBLE, np.int32(4))) == 8
    assert (numpy.calls["create_call"], abacus.calls["create_call"]) == (1, 1)


def test_an_operation_all_know_goes_to_the_first() -> None:
    executor, numpy, abacus = both()
    plus = operation("add", (INT, INT), INT)
    assert run(call(executor, plus, pair(np.int32(1), np.int32(2)))) == 3
    assert (numpy.calls["create_call"], abacus.calls["create_call"]) == (1, 0)


def test_data_stay_plain_until_they_are_needed() -> None:
    executor, numpy, abacus = both()

    async def work() -> Any:
        value = await executor.create_value(pair(np.int32(1), np.int32(2)), PAIR)
        part = await executor.create_selection(value, 1)
        return await part.compute()

    assert run(work()) == 2
    assert not numpy.calls
    assert not abacus.calls


def test_a_result_changes_runtimes_only_where_it_must() -> None:
    executor, numpy, abacus = both()

    async def work() -> Any:
        one = await executor.create_value(np.int32(1), INT)
        plus = await executor.create_value(increment)
        double = await executor.create_value(DOUBLE)
        two = await executor.create_call(plus, one)
        three = await executor.create_call(plus, two)
        six = await executor.create_call(double, three)
        return await six.compute()

    assert run(work()) == 6
    # One call computes: the value that left NumPy for the abacus.
    assert (numpy.calls["compute"], abacus.calls["compute"]) == (1, 1)
    assert numpy.calls["create_call"] == 2


def test_a_structure_is_brought_together_from_several_runtimes() -> None:
    executor, _, _ = both()

    async def work() -> Any:
        two = await executor.create_value(np.int32(2), INT)
        doubled = await executor.create_call(await executor.create_value(DOUBLE), two)
        plain = await executor.create_value(np.int32(1), INT)
        argument = await executor.create_struct({"a": doubled, "b": plain})
        fn = await executor.create_value(add)
        return await (await executor.create_call(fn, argument)).compute()

    assert run(work()) == 5


def test_sequences_pass() -> None:
    executor, _, _ = both()
    assert run(call(executor, total, (np.int32(1), np.int32(2)))) == 3
    assert total.type_signature.parameter == NUMBERS


def test_a_runtime_nobody_serves_is_refused() -> None:
    executor = RoutingExecutor({"numpy": CountingExecutor()})
    with pytest.raises(FedLearnError, match="runtime") as caught:
        run(call(executor, DOUBLE, np.int32(1)))
    assert caught.value.found == "abacus"


def test_what_is_no_leaf_is_refused() -> None:
    executor, _, _ = both()
    with pytest.raises(FedLearnError, match="leaf code only"):
        run(executor.create_value(ir.Lambda("x", INT, ir.Reference("x", INT))))


def test_closing_closes_all_targets() -> None:
    executor, numpy, abacus = both()
    executor.close()
    assert (numpy.times_closed, abacus.times_closed) == (1, 1)
