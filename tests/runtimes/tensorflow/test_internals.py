# SPDX-License-Identifier: Apache-2.0
"""Without what is not public in TensorFlow, programs mean the same, or are refused."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import tf
from fedlearn_edu.errors import TracingError
from fedlearn_edu.runtimes.tensorflow import internals
from tests.programs import in_another_process

pytestmark = pytest.mark.tensorflow

F32 = np.float32
NUMBERS = fl.SequenceType(F32)


@pytest.mark.parametrize("missing", ["normalize_element", "_autograph"])
def test_sequences_are_read_by_a_pipeline(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(internals, missing, None)
    total = fl.tf_computation(lambda d: d.reduce(F32(0), lambda a, b: a + b), NUMBERS)
    everywhere = fl.federated_computation(
        lambda d: fl.federated_sum(fl.federated_map(total, d)),
        fl.type_at_clients(NUMBERS),
    )
    assert total([1.0, 2.0]) == 3
    assert everywhere([[1.0, 2.0], [3.0]]) == 6


def test_variables_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(internals, "resource_variable", None)
    with pytest.raises(TracingError, match="no variables can be made"):
        fl.tf_computation(lambda x: tf.Variable(x).assign_add(1.0), F32)


def test_a_handle_that_nobody_described_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(internals, "_set_handle_data", None)
    assert fl.tf_computation(lambda x: tf.Variable(x).assign_add(1.0), F32)(1.0) == 2


def test_a_variable_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(internals, "function_of", lambda *_: None)
    twice = tf.function(lambda x: x * 2.0)
    fold: Any = fl.tf_computation(
        lambda d: d.reduce(
            F32(0), lambda a, x: tf.Variable(twice(a)).assign_add(x) * 1
        ),
        NUMBERS,
    )
    assert fold.tree.code.loops is not None
    assert fold([1.0, 2.0]) == 4


def test_a_function_is_called_in_the_public_way_too() -> None:
    """If it has no private one, or for NumPy, which the private one does not take."""
    function = tf.function(lambda x, y: (x - y, x * y))
    concrete = function.get_concrete_function(F32(0), F32(0))
    assert not hasattr(function, "_call_flat")
    assert internals.call_flat(function, [tf.constant(5), tf.constant(2)]) == [3, 10]
    assert internals.call_flat(concrete, [F32(5), F32(2)]) == [3, 10]


LOOPS = """
import numpy as np
import fedlearn_edu as fl
from fedlearn_edu import tf
tf.executing_eagerly()
from tensorflow.python.autograph.operators import control_flow as loops
before = dict(loops.for_loop_registry._registry)
fl.tf_computation(lambda x: x, np.float32)(1.0)
after = loops.for_loop_registry._registry
assert after == before

increment = fl.tf_computation(lambda x: x + 1, np.int32)
polymorphic = fl.tf_computation(lambda x: x * 2)
def outer(x):  # AutoGraph leaves our own code alone, and so prints nothing about it
    return tf.function(lambda y: polymorphic(increment(y)))(x)
print(int(fl.tf_computation(outer, np.int32)(3)))
"""


@pytest.mark.slow
def test_tensorflow_loops_as_before_and_calls_computations_without_a_word() -> None:
    assert in_another_process(LOOPS) == "8\n"
