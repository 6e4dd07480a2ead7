# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Variables made inside live for one call; what was made outside is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import tf
from fedlearn_edu.errors import TracingError
from tests.programs import at_once, mapped

pytestmark = pytest.mark.tensorflow


@fl.tf_computation(np.int32)
def doubled(x: Any) -> Any:
    total = tf.Variable(0)
    total.assign_add(x)
    total.assign_add(x)
    return total


def doubled_once_initialized(x: Any) -> Any:
    variable = tf.Variable(x)
    with tf.control_dependencies([variable.initializer]):
        return variable.read_value() + variable.initial_value


@pytest.mark.parametrize(
    "body",
    [
        lambda x: tf.Variable(x).assign_add(x),
        lambda x: tf.Variable(lambda: x).assign_sub(-x),
        lambda x: tf.Variable([x, x]).scatter_nd_add([[0]], [x])[0],
        *[
            lambda x, name=name: tf.Variable(x, name=name).assign_add(x)
            for name in ("_w", "ünï", "w:0", "")
        ],
        lambda x: doubled(x),
        lambda x: doubled(x) - tf.Variable(5) + 5,
        doubled_once_initialized,
    ],
    ids=[
        *("tensor", "function", "scatter", "_w", "ünï", "w:0", "", "nested", "both"),
        "initializer",
    ],
)
def test_variables_are_made_in_many_ways(body: Callable[[Any], Any]) -> None:
    made = fl.tf_computation(body, np.int32)
    assert [made(3), made(3), made(4)] == [6, 6, 8]


def test_the_cure_for_a_lookup_table_works() -> None:
    def position(x: Any) -> Any:
        return tf.argmax(tf.cast(tf.constant(["c", "a", "b"]) == x, tf.int32))

    found = fl.tf_computation(position, np.str_)
    assert mapped(found)(["b", "c", "a"]) == [2, 0, 1]


class _Counter:
    """Makes its variable at the first call, as Keras layers do."""

    def __init__(self, start: Callable[[], Any]) -> None:
        self.start = start
        self.variable: Any = None

    def __call__(self, n: Any) -> Any:
        if self.variable is None:
            self.variable = tf.Variable(self.start())
        self.variable.assign_add(n)
        return self.variable.read_value()


STARTS: dict[str, Callable[[Any], Callable[[], Any]]] = {
    "number": lambda n: lambda: 1,
    "tensor": lambda n: lambda: tf.ones([], tf.int32),
    "computed": lambda n: lambda: tf.cast(tf.reduce_sum(tf.eye(9)), tf.int32) - 8,
    "drawn": lambda n: lambda: tf.random.uniform([], 1, 2, tf.int32),
    "of the body": lambda n: lambda: n - 2 + tf.cond(n > 0, lambda: 0, lambda: 1),
}


@pytest.mark.parametrize("name", STARTS)
def test_a_variable_kept_by_an_inner_function_lives_for_the_whole_call(
    name: str,
) -> None:
    """Wherever its value comes from, but for an argument of that function."""

    def body(n: Any) -> Any:
        step = tf.function(_Counter(STARTS[name](n)))
        return step(n), tf.function(lambda m: step(m))(n)

    count = fl.tf_computation(body, np.int32)
    assert [count(3), count(3)] == [(4, 7)] * 2
    assert mapped(count)([3, 3]) == [(4, 7)] * 2


@pytest.mark.parametrize(
    ("start", "total"),
    [(lambda x: 0.0, 10), (lambda x: tf.zeros([]), 10), (lambda x: x, 12)],
    ids=["number", "tensor", "argument"],
)
def test_a_variable_made_in_a_step_lives_as_long(start: Any, total: int) -> None:
    """TensorFlow refuses it; here it counts on, unless it starts from the element."""

    def counted(x: Any) -> Any:
        variable = tf.Variable(start(x))
        return variable.assign_add(x)

    def body(data: Any) -> Any:
        return data.map(counted).reduce(0.0, lambda a, b: a + b)

    summed = fl.tf_computation(body, fl.SequenceType(np.float32))
    assert [summed([1, 2, 3]), summed([1, 2, 3])] == [total] * 2


@tf.function
def _added_in_a_loop(elements: Any, total: Any) -> Any:
    for element in elements:
        total.assign_add(element)
    return total.read_value()


@tf.function
def _added_in_a_reduce(elements: Any, total: Any) -> Any:
    elements.reduce(0.0, lambda _, element: total.assign_add(element))
    return total.read_value()


@pytest.mark.parametrize("add", [_added_in_a_loop, _added_in_a_reduce])
def test_a_function_of_the_module_takes_a_variable_into_a_loop(add: Any) -> None:
    """TensorFlow keeps the trace of an earlier body, and asks for its variable."""

    def body(elements: Any) -> Any:
        total = tf.Variable(0.0)
        with tf.GradientTape():
            return add(elements, total)

    for _ in range(2):
        summed = fl.tf_computation(body, fl.SequenceType(np.float32))
        assert mapped(summed)([[1, 2], [5]]) == [3, 5]


def test_parallel_threads_do_not_share_variables() -> None:
    """Each thread's variable counts to its own number, while the others count too."""

    @fl.tf_computation(np.int32)
    def count_to(n: Any) -> Any:
        counter = tf.Variable(0)
        for_each = tf.function(lambda: counter.assign_add(1))
        tf.while_loop(lambda i: i < n, lambda i: (i + tf.sign(for_each()),), [0])
        return counter.read_value()

    numbers = [100 * n for n in range(1, 9)]
    assert at_once(count_to, numbers) == numbers


# ------------------------------------------------------------------ made outside


def test_a_variable_that_leaked_out_of_its_body_is_refused() -> None:
    kept = []

    def leaking(x: Any) -> Any:
        kept.append(tf.Variable(x))
        return kept[0] + 1

    assert fl.tf_computation(leaking, np.int32)(1) == 2
    with pytest.raises(TracingError, match="made outside"):
        fl.tf_computation(lambda x: x + kept[0], np.int32)


def test_a_tensor_made_outside_is_baked_in() -> None:
    """differs: the ancestor refused captured eager tensors."""
    outside = tf.constant(5)
    made = fl.tf_computation(lambda x: x + outside, np.int32)
    outside = tf.constant(100)
    assert made(1) == 6


def test_a_numpy_value_from_outside_is_baked_in() -> None:
    outside = np.array([1, 2], np.int32)
    made = fl.tf_computation(lambda x: x + outside, np.int32)
    outside += 100
    np.testing.assert_array_equal(made(1), [2, 3])


# ------------------------------------------------------------------ randomness


def test_tensorflow_draws_anew_at_each_call_and_numpy_is_frozen() -> None:
    generator = np.random.default_rng(7)
    redrawn = fl.tf_computation(lambda: tf.random.uniform([]))
    frozen = fl.tf_computation(lambda: generator.random())
    assert len({float(redrawn()) for _ in range(5)}) == 5
    assert len({float(frozen()) for _ in range(5)}) == 1
