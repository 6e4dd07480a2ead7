# SPDX-License-Identifier: Apache-2.0
"""Sequence intrinsics as part of a TensorFlow graph: dtypes, states, variables, misuse.

Every program is tried as it was traced and as a copy that was pickled.
"""

import pickle
from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import tf
from fedlearn_edu.testing import assert_same
from tests.programs import NUMBERS

pytestmark = pytest.mark.tensorflow
FLOATS = fl.SequenceType(np.float32)
from_slices = tf.data.Dataset.from_tensor_slices


def run(body: Callable[..., Any], *types: Any) -> Callable[..., Any]:
    """The computation with this body; a copy of it must give the same."""
    program = fl.tf_computation(body, *types)
    copy = pickle.loads(pickle.dumps(program))

    def both(*args: Any) -> Any:
        result = program(*args)
        assert_same(copy(*args), result)
        return result

    return both


def in_function(body: Callable[..., Any]) -> Callable[..., Any]:
    """The same body inside a `tf.function`."""
    return wraps(body)(lambda *args: tf.function(body, autograph=False)(*args))


places = pytest.mark.parametrize(
    "place", [lambda body: body, in_function], ids=["tf_computation", "tf.function"]
)


# ------------------------------------------------------------------------ dtypes


@places
@pytest.mark.parametrize(
    "dtype", [np.float16, np.float64, np.int8, np.uint8, np.int64, np.complex64]
)
def test_numbers_of_every_dtype_are_mapped_and_added_up(place: Any, dtype: Any) -> None:
    double = fl.tf_computation(lambda x: x + x, dtype)

    def body(d: Any) -> Any:
        return [fl.sequence_sum(fl.sequence_map(double, d)), fl.sequence_sum(d)]

    assert_same(run(place(body), fl.SequenceType(dtype))([1, 2]), [dtype(6), dtype(3)])


# ------------------------------------------------------------------------ states


@places
def test_a_state_may_grow(place: Any) -> None:
    row = fl.TensorType(np.float32, [None])
    append = fl.tf_computation(lambda s, x: tf.concat([s, [x]], 0), row, np.float32)

    def body(d: Any) -> Any:
        return fl.sequence_reduce(d, np.zeros([0], np.float32), append)

    program = run(place(body), FLOATS)
    assert_same(program([1, 2]), np.array([1, 2], np.float32))
    assert_same(program([]), np.zeros([0], np.float32))


@places
def test_a_state_may_be_a_nested_structure(place: Any) -> None:
    nested = OrderedDict(n=(np.int32, np.float32), a=OrderedDict(last=np.float32))
    state = fl.to_type(nested)
    zero = OrderedDict(n=(np.int32(0), np.float32(0)), a=OrderedDict(last=-1.0))

    @fl.tf_computation(state, np.float32)
    def note(s: Any, x: Any) -> Any:
        counted = (s["n"][0] + 1, s["n"][1] + x)
        return OrderedDict(n=counted, a=OrderedDict(last=x))

    program = run(place(lambda d: fl.sequence_reduce(d, zero, note)), FLOATS)
    assert_same(program([3, 5]), OrderedDict(n=(2, 8.0), a=OrderedDict(last=5.0)))
    assert_same(program([]), OrderedDict(n=(0, 0.0), a=OrderedDict(last=-1.0)))


# --------------------------------------------------------- what a function may use


@places
def test_a_function_may_have_variables(place: Any) -> None:
    @fl.tf_computation(np.float32)
    def counted(x: Any) -> Any:
        variable = tf.Variable(1.0)
        variable.assign_add(x)
        return variable.read_value()

    @fl.tf_computation(np.float32, np.float32)
    def added(s: Any, x: Any) -> Any:
        variable = tf.Variable(s)
        return variable.assign_add(x)

    def body(d: Any) -> Any:
        return fl.sequence_map(counted, d), fl.sequence_reduce(d, 10.0, added)

    assert_same(run(place(body), FLOATS)([1, 2]), ([2.0, 3.0], 13.0))


@places
def test_a_function_may_be_polymorphic(place: Any) -> None:
    double = fl.tf_computation(lambda x: x + x)
    add = fl.tf_computation(lambda a, b: a + b)

    def body(d: Any) -> Any:
        return fl.sequence_reduce(fl.sequence_map(double, d), 0, add)

    assert_same(run(place(body), NUMBERS)([1, 2]), np.int32(6))


# ----------------------------------------------------------------------- datasets


@places
def test_datasets_made_in_the_body_are_sequences(place: Any) -> None:
    def body() -> Any:
        fields = from_slices({"y": [1.0, 2.0], "x": [10.0, 20.0]})
        nested = from_slices(([1, 2], {"b": [1, 2], "a": [10, 20]}))
        return [fl.sequence_sum(d) for d in (tf.data.Dataset.range(4), fields, nested)]

    expected = [np.int64(6), {"x": 30.0, "y": 3.0}, (np.int32(3), {"a": 30, "b": 3})]
    assert_same(run(place(body))(), expected)
