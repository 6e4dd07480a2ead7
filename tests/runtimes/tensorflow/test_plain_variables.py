# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Variables that live for one call become values, where that changes nothing."""

import pickle
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import tf
from fedlearn_edu.runtimes.tensorflow.graph import GraphCode
from fedlearn_edu.runtimes.tensorflow.stacked import StackedDataset
from fedlearn_edu.runtimes.tensorflow.variables import without_variables
from fedlearn_edu.testing import assert_same
from tests.runtimes.tensorflow.on_rows import operations

pytestmark = pytest.mark.tensorflow

seen: list[float] = []

MODEL = OrderedDict(w=(np.float32, [2]), b=np.float32)
BATCH = OrderedDict(y=(np.float32, [None]), x=(np.float32, [None, 2]))


def traced(computation: Any) -> Any:
    """The concrete function of a TensorFlow computation."""
    code = computation.tree.code
    assert isinstance(code, GraphCode)
    return code._concrete


def of_variables(function: Any) -> set[str]:
    return {name for name in operations(function) if "Variable" in name}


def missing_functions(function: Any) -> set[str]:
    """Functions that operations of a graph call and that are not in its library."""
    definition = function.graph.as_graph_def()
    values = [value for node in definition.node for value in node.attr.values()]
    called = {value.func.name for value in values if value.func.name}
    return called - {inner.signature.name for inner in definition.library.function}


def loss_of(model: Any, batch: Any) -> Any:
    guess = tf.linalg.matvec(batch["x"], model["w"]) + model["b"]
    return tf.reduce_mean((guess - batch["y"]) ** 2)


# ------------------------------------------------------------------- become values


def in_order(x: Any) -> Any:
    v = tf.Variable(x)
    first = v + 1.0
    v.assign_add(x)
    second = v * 1.0
    v.assign(second * second)
    v.assign_sub(0.5)
    return first, second, v


def two_of_them(x: Any) -> Any:
    one, other = tf.Variable(x), tf.Variable(lambda: 2 * x, dtype=tf.float32)
    one.assign(other)
    other.assign_add(one)
    return one, other


def in_other_computations(x: Any) -> Any:
    counted = fl.tf_computation(in_order, np.float32)
    v = tf.Variable(1.0)
    v.assign_add(counted(x)[2])
    return v + counted(v)[0]


def in_functions(x: Any) -> Any:
    v = tf.Variable(x)

    @tf.function
    def add(variable: Any, y: Any) -> Any:
        variable.assign_add(y)
        v.assign_sub(1.0)
        return v * 2.0

    return add(v, x), add(v, 3.0), v


def beside_effects(x: Any) -> Any:
    v = tf.Variable(x)
    with tf.control_dependencies([tf.debugging.assert_less(v, 100.0, "too large")]):
        v.assign_add(1.0)
    return tf.while_loop(lambda i: i < 3.0, lambda i: [i + x], [v])[0], v


def with_prints_in_order(x: Any) -> Any:
    v = tf.Variable(x)
    tf.numpy_function(seen.append, [v], [])
    tf.numpy_function(seen.append, [v.assign_add(1.0)], [])
    return v, v


def of_text_and_numbers(x: Any) -> Any:
    text, number = tf.Variable("a"), tf.Variable(0, dtype=tf.int64)
    text.assign(text + tf.strings.as_string(x))
    number.assign_add(3)
    return text, number


def after_a_persistent_tape(x: Any) -> Any:
    v = tf.Variable(x)
    with tf.GradientTape(persistent=True) as tape:
        square = v * v
        v.assign(10 * v)
        cube = v * v * v
    return tape.gradient(square, v), tape.gradient(cube, v), v


bodies = pytest.mark.parametrize(
    "body",
    [
        in_order,
        two_of_them,
        in_other_computations,
        in_functions,
        beside_effects,
        with_prints_in_order,
        of_text_and_numbers,
        after_a_persistent_tape,
    ],
    ids=lambda body: body.__name__,
)


@bodies
def test_variables_become_values(body: Callable[[Any], Any]) -> None:
    with_them = traced(fl.tf_computation(body, np.float32))
    without = without_variables(with_them)
    assert of_variables(with_them)
    assert not of_variables(without)
    assert not missing_functions(without)
    for x in (0.5, 2.0):
        pairs = zip(without(tf.constant(x)), with_them(tf.constant(x)), strict=True)
        for found, expected in pairs:
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)


@bodies
def test_copies_from_a_pickle_do_the_same_in_a_step(body: Callable[[Any], Any]) -> None:
    original = fl.tf_computation(body, np.float32)
    copy = pickle.loads(pickle.dumps(original))
    data = [0.5, 2.0]
    for computation in (original, copy):
        mapped = fl.tf_computation(
            lambda d, c=computation: d.map(c), fl.SequenceType(np.float32)
        )
        for x, found in zip(data, mapped(data), strict=True):
            assert_same(found, original(x))
        code: Any = mapped.tree.code  # type: ignore[union-attr]
        assert code._over_stacks is not None


def test_effects_stay() -> None:
    checked = without_variables(traced(fl.tf_computation(beside_effects, np.float32)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
        checked(tf.constant(200.0))


# ------------------------------------------------------------------ stay variables


def in_a_loop(x: Any) -> Any:
    v = tf.Variable(x)
    tf.while_loop(
        lambda i: i < 3, lambda i: [i + tf.cast(v.assign_add(x) > 0, i.dtype)], [0]
    )
    return v


def in_a_condition(x: Any) -> Any:
    v = tf.Variable(x)
    tf.cond(x > 1.0, lambda: v.assign_add(1.0), lambda: v.assign_sub(1.0))
    return v


def in_a_function_in_a_loop(x: Any) -> Any:
    v = tf.Variable(x)
    add = tf.function(lambda: v.assign_add(1.0))
    tf.while_loop(lambda i: i < 3, lambda i: [i + tf.cast(add() > 0, i.dtype)], [0])
    return v


def scattered(x: Any) -> Any:
    return tf.Variable([x, x]).scatter_nd_add([[0]], [x])


@pytest.mark.parametrize(
    "body",
    [in_a_loop, in_a_condition, in_a_function_in_a_loop, scattered],
    ids=lambda body: body.__name__,
)
def test_what_cannot_be_proven_stays(body: Callable[[Any], Any]) -> None:
    function = traced(fl.tf_computation(body, np.float32))
    assert of_variables(function)
    assert without_variables(function) is function


def test_without_variables_nothing_is_traced_again() -> None:
    function = traced(fl.tf_computation(lambda x: x + 1.0, np.float32))
    assert without_variables(function) is function


# ------------------------------------------------------------- training, as written


def by_hand(model: Any, batch: Any) -> Any:
    variables = OrderedDict((name, tf.Variable(x)) for name, x in model.items())
    with tf.GradientTape() as tape:
        loss = loss_of(variables, batch)
    slopes = tape.gradient(loss, variables)
    for name, variable in variables.items():
        variable.assign_sub(0.1 * slopes[name])
    return OrderedDict((n, variable.read_value()) for n, variable in variables.items())


def with_an_optimizer(model: Any, batch: Any) -> Any:
    variables = OrderedDict((name, tf.Variable(x)) for name, x in model.items())
    optimizer = tf.keras.optimizers.SGD(0.1)

    @tf.function
    def train(variables: Any, batch: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(variables, batch)
        slopes = tape.gradient(loss, variables)
        pairs = zip(tf.nest.flatten(slopes), tf.nest.flatten(variables), strict=True)
        optimizer.apply_gradients(pairs)
        return variables

    return train(variables, batch)


def with_values(model: Any, batch: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(model)
        loss = loss_of(model, batch)
    slopes = tape.gradient(loss, model)
    return OrderedDict((name, model[name] - 0.1 * slopes[name]) for name in model)


# What an optimizer counts would be a variable of the whole body, if it were no
# computation of its own.
@pytest.mark.parametrize(
    "step",
    [
        by_hand,
        fl.tf_computation(by_hand, MODEL, BATCH),
        fl.tf_computation(with_an_optimizer, MODEL, BATCH),
    ],
    ids=["function", "computation", "optimizer"],
)
def test_training_with_variables_can_be_vectorized(step: Any) -> None:
    row = OrderedDict(y=tf.TensorSpec([None]), x=tf.TensorSpec([None, 2]))
    zero = OrderedDict(w=tf.zeros([2]), b=tf.zeros([]))
    rng = np.random.default_rng(7)
    shapes = [(3, 4, 5), (3, 4, 5, 2)]
    data = [tf.constant(rng.random(shape), tf.float32) for shape in shapes]

    def of_client(step: Any) -> Any:
        def train(columns: Any) -> Any:
            block = OrderedDict(zip("yx", columns, strict=True))
            return StackedDataset([block], row, row).reduce(zero, step)

        return train

    @fl.tf_computation(*[fl.TensorType(np.float32, shape) for shape in shapes])
    def of_all(y: Any, x: Any) -> Any:
        return tf.vectorized_map(of_client(step), (y, x), fallback_to_while_loop=False)

    alone = tf.function(of_client(with_values), autograph=False)
    found = of_all(*data)
    for i in range(3):
        expected = alone([column[i] for column in data])
        for name in zero:
            np.testing.assert_allclose(found[name][i], expected[name], rtol=1e-5)


def test_a_variable_of_the_body_stays_beside_those_of_a_step() -> None:
    @fl.tf_computation(fl.SequenceType(np.float32))
    def use(dataset: Any) -> Any:
        counter = tf.Variable(0.0)

        def step(state: Any, x: Any) -> Any:
            own = tf.Variable(x)
            own.assign_add(1.0)
            counter.assign_add(own)
            return state * counter

        return dataset.reduce(1.0, step), counter

    for _ in range(2):
        assert use([1.0, 2.0, 3.0]) == (2.0 * 5.0 * 9.0, 9.0)
