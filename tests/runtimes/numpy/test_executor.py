# SPDX-License-Identifier: Apache-2.0
"""The smallest complete executor; its contract is tested with all others."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import ExecutorError, TypeMismatchError
from fedlearn_edu.ir import nodes as ir
from tests.executors.examples import call, run
from tests.programs import INT, INTS, NUMBERS, failing, increment, same, total

fw = fl.framework
assert isinstance(increment.tree, ir.Leaf)
INCREMENT = increment.tree


@pytest.mark.parametrize(
    ("node", "found"),
    [
        (same.tree, "Lambda"),
        (ir.Reference("x", INT), "Reference"),
        (ir.Intrinsic("sequence_sum", fl.FunctionType(NUMBERS, INT)), "sequence_sum"),
        (ir.Leaf("tensorflow", INCREMENT.code, INCREMENT.type), "tensorflow"),
    ],
    ids=["lambda", "reference", "intrinsic", "leaf"],
)
def test_only_numpy_leaf_code_is_run(node: Any, found: str) -> None:
    with pytest.raises(ExecutorError, match="own leaf code only") as caught:
        run(fw.NumPyExecutor().create_value(node))
    assert found in str(caught.value.found)
    layer = "SequenceExecutor" if found == "sequence_sum" else "executors that handle"
    assert layer in str(caught.value.do)


def test_federated_values_are_not_for_it() -> None:
    for type_, value in ((INTS, (np.int32(1),)), (fl.type_at_server(INT), 1)):
        with pytest.raises(TypeMismatchError, match="one participant") as caught:
            run(fw.NumPyExecutor().create_value(value, type_))
        assert "FederatingExecutor" in str(caught.value.do)


def test_sequences_are_handed_over_as_lists() -> None:
    assert run(call(fw.NumPyExecutor(), total, (np.int32(1), np.int32(2)))) == 3


def test_a_value_that_is_not_plain_yet_is_converted() -> None:
    async def work() -> Any:
        executor = fw.NumPyExecutor()
        value = await executor.create_value([1, 2], fl.TensorType(np.float32, [2]))
        return await value.compute()

    np.testing.assert_array_equal(
        run(work()), np.array([1, 2], np.float32), strict=True
    )


def test_an_error_names_the_computation() -> None:
    with pytest.raises(KeyError, match="mine") as caught:
        run(call(fw.NumPyExecutor(), failing, np.int32(0)))
    assert any("failing" in note for note in caught.value.__notes__)
