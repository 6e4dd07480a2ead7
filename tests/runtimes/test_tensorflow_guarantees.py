# SPDX-License-Identifier: Apache-2.0
"""State and outside tensors in TensorFlow leaf code."""

import pickle
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl

pytestmark = pytest.mark.tensorflow


class _Counter:
    """Makes its variable at the first call, as Keras layers do."""

    def __init__(self) -> None:
        self.variable: Any = None

    def __call__(self, n: Any) -> Any:
        if self.variable is None:
            self.variable = fl.tf.Variable(1)
        self.variable.assign_add(n)
        return self.variable.read_value()


def test_variable_kept_by_an_inner_function_lives_for_the_whole_call() -> None:
    step = fl.tf.function(_Counter())
    count = fl.tf_computation(lambda n: (step(n), step(n)), np.int32)
    assert count(1) == (2, 3)
    assert count(1) == (2, 3)


def test_pickled_graph_brings_the_tensors_it_captured() -> None:
    outside = fl.tf.range(1000)
    total = fl.tf_computation(lambda x: fl.tf.reduce_sum(outside) + x, np.int32)
    copy = pickle.loads(pickle.dumps(total))
    assert copy(1) == total(1) == 499_501


def test_graphs_that_differ_only_in_a_captured_tensor_are_not_equal() -> None:
    graphs = []
    for offset in (0, 1):
        outside = fl.tf.range(1000) + offset
        graphs.append(
            fl.tf_computation(
                lambda x, outside=outside: fl.tf.reduce_sum(outside) + x, np.int32
            )
        )
    assert graphs[0] != graphs[1]
