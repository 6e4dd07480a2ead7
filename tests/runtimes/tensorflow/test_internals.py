# SPDX-License-Identifier: Apache-2.0
"""Without what is private in TensorFlow; and what it reports, in one paragraph."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import tf
from fedlearn_edu.errors import ComputationFailedError, TracingError
from fedlearn_edu.runtimes.tensorflow import internals
from fedlearn_edu.runtimes.tensorflow.conversion import explained, unwrapped, wrapped
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
    assert fold.tree.code.machine_fn is not None
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


# ----------------------------------------
# What TensorFlow reports, in one paragraph


PAGES = """Graph execution error:

Detected at node 'Assert' defined at (most recent call last):
  File "a.py", line 1, in <module>
{{function_node __inference_f_12}} assertion failed: [too large]
\t [[{{node Assert}}]] [Op:__inference_f_12]"""


def test_the_reason_is_told_without_the_pages_about_graphs() -> None:
    error = explained(tf.errors.InvalidArgumentError(None, None, PAGES), "in f")
    assert isinstance(error, ComputationFailedError)
    assert error.summary == "TensorFlow reported an error in f"
    assert error.found == "InvalidArgumentError: assertion failed: [too large]"


def test_a_prefix_that_names_a_node_is_left_out() -> None:
    text = "{{function_node __wrapped__IteratorGetNext_device_CPU:0}} it broke"
    error = explained(tf.errors.UnknownError(None, None, text), "in element 1")
    assert "UnknownError: it broke" in str(error)


def quoted(error: Exception) -> Exception:
    """What is left of an error after a pipeline has passed it on."""
    return RuntimeError(f"{{node}} UnknownError: {wrapped(error)} [Op:Next] name:")


def test_a_quotation_of_a_quotation_leads_to_the_first() -> None:
    original = KeyError("mine")
    assert unwrapped(quoted(unwrapped(quoted(original)))) is original


@pytest.mark.parametrize("text", ["", "[fedlearn_edu failure 123456789] gone"])
def test_an_error_that_quotes_nothing_known_stays_as_it_is(text: str) -> None:
    error = RuntimeError(text)
    assert unwrapped(error) is error
    assert not hasattr(error, "__notes__")
    assert unwrapped(error, "in element 3") is error
    assert error.__notes__ == ["  in element 3"]


def test_errors_are_not_kept_forever() -> None:
    first = quoted(KeyError("first"))
    for number in range(200):
        wrapped(KeyError(number))
    assert unwrapped(first) is first
