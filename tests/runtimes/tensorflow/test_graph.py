# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Graphs travel to processes that never saw their source, and are told apart."""

import pickle
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import tf

pytestmark = pytest.mark.tensorflow


def with_variable(x: Any) -> Any:
    total = tf.Variable(0)
    total.assign_add(x)
    total.assign_add(x)
    return OrderedDict(total=total, text=tf.strings.as_string(x))


def test_a_copy_is_equal_and_computes_the_same() -> None:
    made = fl.tf_computation(with_variable, np.int32)
    copy = pickle.loads(pickle.dumps(made))
    assert copy == made
    assert copy(5) == made(5) == OrderedDict(total=10, text=b"5")
    again = pickle.loads(pickle.dumps(copy))
    assert again(5) == made(5)


def test_a_copy_has_no_results_that_only_a_gradient_needs() -> None:
    square = fl.tf_computation(lambda x: tf.square(tf.square(x)), np.float32)

    def slope(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            return tape.gradient(square(x), x)

    assert fl.tf_computation(slope, np.float32)(2.0) == 32
    assert pickle.loads(pickle.dumps(square))(2.0) == 16


def test_a_copy_brings_the_tensors_that_the_graph_captured() -> None:
    outside = tf.range(1000)
    total = fl.tf_computation(lambda x: tf.reduce_sum(outside) + x, np.int32)
    assert pickle.loads(pickle.dumps(total))(1) == total(1) == 499_501


def test_a_side_effect_of_the_graph_survives() -> None:
    def checked(x: Any) -> Any:
        tf.debugging.assert_positive(x)  # nobody uses its result
        return x

    made = fl.tf_computation(checked, np.int32)
    for program in (made, pickle.loads(pickle.dumps(made))):
        assert program(1) == 1
        with pytest.raises(fl.FedLearnError, match="TensorFlow reported"):
            program(-1)


def test_a_copy_can_be_called_inside_another_graph() -> None:
    copy = pickle.loads(pickle.dumps(fl.tf_computation(with_variable, np.int32)))
    outer = fl.tf_computation(lambda x: copy(x)["total"] + 1, np.int32)
    assert outer(5) == 11


# ----------------------------------------
# Graphs that differ in names only are equal; graphs that do something else are not


FLOATS = fl.SequenceType(np.float32)


def digest(body: Callable[..., Any], *types: Any) -> str:
    made: Any = fl.tf_computation(body, *types)
    return str(made.tree.code.digest)


def mapped(shift: list[float]) -> Any:
    return lambda s: s.map(lambda x: x + shift)


def reduced(first: float, factor: float) -> Any:
    return lambda s: s.reduce(first, lambda a, x: a * factor + x)


def looped(factor: float) -> Any:
    def body(x: Any) -> Any:
        total = tf.Variable(0.0)

        @tf.function
        def add_often(y: Any) -> Any:
            for _ in tf.range(3):
                total.assign_add(y * factor)
            if y > 3.0:
                total.assign_add(1.0)
            return total.read_value()

        return add_often(x)

    return body


def slope(factor: float) -> Any:
    @tf.custom_gradient
    def square(x: Any) -> Any:
        return x * x, lambda upstream: upstream * factor

    def body(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = square(x)
        return tape.gradient(y, x)

    return body


def dense(units: int) -> Any:
    def body(x: Any) -> Any:
        layer = tf.keras.layers.Dense(units, kernel_initializer="ones")
        return layer(tf.reshape(x, [1, 1]))

    return body


def capturing(values: Any) -> Any:
    outside = tf.constant(values)
    return lambda x: x == outside


# Each makes a body, from numbers that matter to what it computes.
BODIES: dict[str, tuple[Callable[..., Any], Any, list[Any]]] = {
    "map": (mapped, FLOATS, [([1.0, 2.0],), ([1.0, 3.0],)]),
    "reduce": (reduced, FLOATS, [(0.0, 1.0), (0.0, 2.0), (1.0, 1.0)]),
    "loop": (looped, np.float32, [(1.0,), (2.0,)]),
    "gradient": (slope, np.float32, [(1.0,), (2.0,)]),
    "layer": (dense, np.float32, [(1,), (2,)]),
    "capture": (capturing, np.float32, [([1.0, 2.0],), ([1.0, 3.0],), ([1.0],)]),
    # A repr would cut what it shows of these.
    "large capture": (
        lambda at: capturing(np.arange(2000) == at),
        np.bool_,
        [(400,), (401,)],
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_what_is_traced_anew_is_equal_and_what_does_something_else_is_not(
    name: str,
) -> None:
    make, type_, all_numbers = BODIES[name]
    first = [digest(make(*numbers), type_) for numbers in all_numbers]
    again = [digest(make(*numbers), type_) for numbers in all_numbers]
    assert first == again
    assert len(set(first)) == len(first)


def same_numbers(x: Any) -> Any:
    number = tf.random.uniform([])
    return x + number - number


def other_numbers(x: Any) -> Any:
    return x + tf.random.uniform([]) - tf.random.uniform([])


def checked(x: Any) -> Any:
    tf.debugging.assert_positive(x)
    return x * 1.0


PAIR = OrderedDict(a=np.float32, b=np.float32)
DIFFERENT: list[tuple[Any, Any, Any]] = [
    (lambda x: x - 1.0, lambda x: 1.0 - x, np.float32),
    (lambda x: tf.raw_ops.Neg(x=x), lambda x: tf.raw_ops.Abs(x=x), np.float32),
    (lambda x: tf.cast(x, tf.int32), lambda x: tf.cast(x, tf.int64), np.float32),
    (lambda p: (p["a"], p["b"]), lambda p: (p["b"], p["a"]), PAIR),
    (lambda p: p["a"] - p["b"], lambda p: p["b"] - p["a"], PAIR),
    (same_numbers, other_numbers, np.float32),
    (checked, lambda x: x * 1.0, np.float32),
    (
        lambda x: tf.unstack(tf.stack([x, 2 * x]))[0],
        lambda x: tf.unstack(tf.stack([x, 2 * x]))[1],
        np.float32,
    ),
]


@pytest.mark.parametrize("case", range(len(DIFFERENT)))
def test_another_order_another_output_another_effect_is_another_graph(
    case: int,
) -> None:
    one, other, type_ = DIFFERENT[case]
    assert digest(one, type_) == digest(one, type_)
    assert digest(other, type_) == digest(other, type_)
    assert digest(one, type_) != digest(other, type_)


def test_what_draws_from_a_seed_is_equal_only_to_itself() -> None:
    """It remembers how often it was asked: a new one begins anew."""

    def shift(x: Any) -> Any:
        return x + tf.random.uniform([], seed=7)

    def in_a_dataset(s: Any) -> Any:
        return s.map(shift)

    for body, type_ in ((shift, np.float32), (in_a_dataset, FLOATS)):
        made: Any = fl.tf_computation(body, type_)
        assert made.tree.code.digest == made.tree.code.digest
        assert digest(body, type_) != digest(body, type_)


def test_a_run_again_cell_with_a_seed_begins_again() -> None:
    def cell() -> list[float]:
        tf.random.set_seed(5)
        draw = fl.tf_computation(lambda x: x + tf.random.uniform([]), np.float32)
        program = fl.federated_computation(lambda x: draw(draw(x)), np.float32)
        return [float(program(0.0)) for _ in range(3)]

    try:
        first = cell()
        assert len(set(first)) == 3
        assert cell() == first
    finally:  # else no later test would draw anything at random
        tf.random.set_seed(None)
