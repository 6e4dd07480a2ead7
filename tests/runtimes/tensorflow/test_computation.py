# SPDX-License-Identifier: Apache-2.0
"""`tf_computation`: traced once, at definition; what a body may do and return."""

import pickle
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import tf
from fedlearn_edu.errors import TracingError
from fedlearn_edu.ir import nodes as ir
from tests.programs import INT, NUMBERS, Pair

pytestmark = pytest.mark.tensorflow


@fl.tf_computation(np.int32)
def tf_increment(x: Any) -> Any:
    return x + 1


def test_the_body_runs_once_at_definition() -> None:
    runs = []

    def body(x: Any) -> Any:
        runs.append(x)
        return x + 1

    made = fl.tf_computation(body, np.int32)
    assert (made(1), made(2)) == (2, 3)
    assert len(runs) == 1


@pytest.mark.parametrize(
    ("type_", "kind"),
    [
        (np.int32, "SymbolicTensor"),
        ([np.int32], "list"),
        ((np.int32, [np.int32]), "tuple"),
        (OrderedDict(a=np.int32), "OrderedDict"),
        ([("a", np.int32)], "Struct"),
        (NUMBERS, "Dataset"),
    ],
    ids=str,
)
def test_the_body_sees_the_containers_of_its_type(type_: Any, kind: str) -> None:
    seen = []

    def body(x: Any) -> Any:
        seen.append([base.__name__ for base in type(x).__mro__])
        return 1

    fl.tf_computation(body, type_)
    assert any(name.startswith(kind) or name == kind for name in seen[0])


def test_tensorflow_types_and_specs_are_types() -> None:
    made = fl.tf_computation(
        lambda x, y: x, tf.int32, tf.TensorSpec([None, 2], tf.bool)
    )
    assert str(made.type_signature.parameter) == "<x=int32,y=bool[?,2]>"


def test_a_function_of_tensorflow_can_be_decorated() -> None:
    """differs: the hidden default `name=None` of `tf.add` was refused."""
    assert fl.tf_computation(tf.add, np.int32, np.int32)(1, 2) == 3
    assert fl.tf_computation(tf.function(lambda x: x * 2), np.int32)(4) == 8


# ------------------------------------------------------------------ control flow


def countdown(n: Any) -> Any:
    total = tf.constant(0)
    while n > 0:
        if n % 2 == 0:
            total += n
        n -= 1
    return total


def test_a_tf_function_inside_writes_control_flow_in_python() -> None:
    count = tf.function(countdown)
    made = fl.tf_computation(lambda n: count(n), np.int32)
    assert (made(4), made(0)) == (6, 0)


# ------------------------------------------------------------------ calls inside


def test_a_computation_called_inside_becomes_part_of_the_graph() -> None:
    twice = fl.tf_computation(lambda x: tf_increment(tf_increment(x)), np.int32)
    assert twice(1) == 3
    assert isinstance(twice.tree, ir.Leaf)  # one leaf: nothing is called from outside


def test_an_inner_call_returns_containers_and_takes_datasets() -> None:
    pair = fl.tf_computation(lambda x: OrderedDict(a=x, b=[x + 1]), np.int32)
    total = fl.tf_computation(lambda d: d.reduce(0, lambda s, x: s + x), NUMBERS)
    made = fl.tf_computation(lambda x: pair(x)["b"][0], np.int32)
    assert made(1) == 2
    mapped = fl.tf_computation(lambda d: total(d.map(lambda x: x * 2)), NUMBERS)
    assert mapped([1, 2]) == 6


def test_a_federated_computation_without_placements_is_called_inside() -> None:
    """differs: a ValueError in the ancestor."""

    @fl.federated_computation(NUMBERS, INT)
    def twice_the_sum(numbers: Any, start: Any) -> Any:
        return fl.sequence_sum(fl.sequence_map(tf_increment, numbers)) * 2 - start

    outer = fl.tf_computation(lambda d: twice_the_sum(d, 1) + 100, NUMBERS)
    assert outer([1, 2]) == 2 * (2 + 3) - 1 + 100
    assert pickle.loads(pickle.dumps(outer))([1, 2]) == 109


# ------------------------------------------------------------------ results


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (lambda: 3, "int32"),
        (lambda: 1.5, "float32"),
        (lambda: True, "bool"),
        (lambda: "Hello, World!", "string"),
        (lambda: np.arange(3), "int64[3]"),
        (lambda: tf.Variable(5), "int32"),
        (lambda: tf.zeros([2, 3]), "float32[2,3]"),
        (lambda: [1, 2.5], "<int32,float32>"),
        (lambda: {"b": 1, "a": 2.5}, "<a=float32,b=int32>"),
        (lambda: OrderedDict(b=1, a=2.5), "<b=int32,a=float32>"),
        (lambda: Pair(1, 2.5), "<a=int32,b=float32>"),
        (lambda: fl.Struct([("a", 1), (None, 2)]), "<a=int32,int32>"),
        (lambda: tf.data.Dataset.range(3), "int64*"),
    ],
)
def test_a_result_has_its_type(value: Callable[[], Any], type_: str) -> None:
    assert str(fl.tf_computation(value).type_signature.result) == type_


@pytest.mark.parametrize(
    "value",
    [{"a": 2, "b": 1}, OrderedDict(b=1, a=2), [1, (2, Pair(3, 4))], Pair(1, [2])],
    ids=lambda value: type(value).__name__,
)
def test_a_result_comes_back_in_its_container(value: Any) -> None:
    result = fl.tf_computation(lambda: value)()
    assert type(result) is type(value)
    assert result == value


def test_strings_come_back_as_bytes() -> None:
    greet = fl.tf_computation(lambda s: tf.strings.join(["hi ", s]), tf.string)
    assert greet("you") == b"hi you"
    twice = fl.tf_computation(
        lambda s: tf.strings.join([s, s]), tf.TensorSpec([None], tf.string)
    )
    result = twice(["a", "bc"])
    assert result.dtype == object
    assert result.tolist() == [b"aa", b"bcbc"]


def test_unknown_dimensions_stay_unknown() -> None:
    vector = tf.TensorSpec([None], tf.float32)
    doubled = fl.tf_computation(lambda x: tf.concat([x, x], 0), vector)
    assert str(doubled.type_signature) == "(float32[?] -> float32[?])"
    for size in (0, 1, 3):
        assert doubled(np.ones(size)).shape == (2 * size,)


# ------------------------------------------------------------------ arguments


@pytest.mark.parametrize(
    "argument",
    [1, np.int64(1), True, tf.constant(1), tf.Variable(1)],
    ids=lambda argument: type(argument).__name__,
)
def test_a_number_or_a_tensor_of_the_dtype_is_taken(argument: Any) -> None:
    assert tf_increment(argument) == 2


def test_a_ragged_or_sparse_result_is_refused() -> None:
    """differs: the ancestor gave one back."""
    for body in (
        lambda: tf.ragged.constant([[1, 2], [3]]),
        lambda: {"x": tf.sparse.from_dense([[0, 5]])},
    ):
        with pytest.raises(TracingError, match="make it dense"):
            fl.tf_computation(body)
