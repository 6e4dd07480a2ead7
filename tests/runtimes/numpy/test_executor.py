# SPDX-License-Identifier: Apache-2.0
"""The smallest complete executor; its contract is tested with all others."""

from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.ir import nodes as ir
from tests.executors.examples import call, run
from tests.programs import increment, total

fw = fl.framework
assert isinstance(increment.tree, ir.Leaf)


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
