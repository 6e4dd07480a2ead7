# SPDX-License-Identifier: Apache-2.0
"""Which runtime is at the bottom: the one the program needs, or the one asked for."""

from typing import Any

import pytest

import fedlearn_edu as fl
from fedlearn_edu.contexts.stacks import leaf_executor
from fedlearn_edu.errors import StructureError
from tests.programs import in_another_process

fw = fl.framework


@pytest.mark.parametrize("runtimes", [set(), {"numpy"}], ids=str)
@pytest.mark.parametrize("leaf", [None, "numpy"])
def test_numpy_is_what_nobody_has_to_ask_for(leaf: Any, runtimes: Any) -> None:
    assert isinstance(leaf_executor(leaf, frozenset(runtimes)), fw.NumPyExecutor)


def test_a_function_makes_the_leaf() -> None:
    made = fw.NumPyExecutor()
    assert leaf_executor(lambda: made, frozenset({"tensorflow"})) is made


@pytest.mark.parametrize("leaf", ["jax", "torch"])
def test_an_unknown_runtime_is_answered_with_the_known_ones(leaf: str) -> None:
    with pytest.raises(StructureError, match=leaf) as caught:
        leaf_executor(leaf, frozenset())
    assert "numpy, tensorflow" in str(caught.value.expected)


PROGRAM = """
import sys
import numpy as np
import fedlearn_edu as fl

half = fl.np_computation(lambda x: x / np.float32(2), np.float32)
at_clients = fl.type_at_clients(np.float32)
sequences = fl.type_at_clients(fl.SequenceType(np.float32))

@fl.federated_computation(at_clients, sequences)
def program(v, s):
    mapped = fl.sequence_map(half, s)
    return [fl.federated_mean(fl.federated_map(half, v)), fl.sequence_sum(mapped)]

mean, sums = program([2, 4], [[1, 2], [4]])
print([float(x) for x in [mean, *sums]])
print(sorted(name for name in sys.modules if name in ("tensorflow", "keras")))
"""


def test_a_numpy_program_never_loads_tensorflow() -> None:
    assert in_another_process(PROGRAM) == "[1.5, 1.5, 2.0]\n[]\n"
