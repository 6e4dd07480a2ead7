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


@places
def test_truth_values_and_text_are_mapped_and_reduced(place: Any) -> None:
    differ = fl.tf_computation(tf.math.logical_xor, np.bool_, np.bool_)
    negate = fl.tf_computation(tf.math.logical_not, np.bool_)
    join = fl.tf_computation(lambda s, x: s + b"," + x, np.str_, np.str_)

    def body(truths: Any, words: Any) -> Any:
        mapped = fl.sequence_map(negate, truths)
        return (
            fl.sequence_reduce(mapped, np.bool_(False), differ),
            mapped,
            fl.sequence_reduce(words, "", join),
        )

    program = run(place(body), fl.SequenceType(np.bool_), fl.SequenceType(np.str_))
    found = program([True, False, False], ["a", "b"])
    assert_same(found, (False, [False, True, True], b",a,b"))


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
def test_a_function_may_use_tensors_of_the_body_around(place: Any) -> None:
    outside = tf.constant(100.0)

    def body(d: Any, factor: Any, model: Any) -> Any:
        def change(x: Any) -> Any:
            return x * factor + tf.reduce_sum(model["w"]) + outside

        fn = fl.tf_computation(change, np.float32)
        fold = fl.tf_computation(lambda s, x: s * factor + x, np.float32, np.float32)
        mapped = fl.sequence_map(fn, d)
        return fl.sequence_reduce(mapped, model["b"], fold)

    model = OrderedDict(w=fl.TensorType(np.float32, [2]), b=np.float32)
    program = run(place(body), FLOATS, np.float32, model)
    found = program([1, 2], 3.0, OrderedDict(w=[1, 1], b=0.5))
    assert_same(found, 3 * (3 * 0.5 + 105.0) + 108.0)


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


@pytest.mark.parametrize("names", ["yx", "xy"])
@pytest.mark.parametrize("form", ["list", "generator function", "dataset"])
def test_fields_keep_their_names_whatever_their_order(names: str, form: str) -> None:
    """differs: TensorFlow puts what it packs into a dict in the order of its keys."""
    element = OrderedDict((name, np.float32) for name in names)
    values = [{"x": 1.0, "y": 2.0}, {"x": 3.0, "y": 4.0}]
    data: Any = [OrderedDict((name, v[name]) for name in names) for v in values]
    if form == "generator function":
        data = data.__iter__
    if form == "dataset":
        data = from_slices({n: [np.float32(v[n]) for v in values] for n in "yx"})
    both = fl.tf_computation(lambda e: 10 * e["y"] + e["x"], element)

    def body(d: Any) -> Any:
        swapped = d.map(lambda e: OrderedDict((n, e[n]) for n in names[::-1]))
        return [fl.sequence_map(both, d), swapped]

    found = run(body, fl.SequenceType(element))(data)
    assert_same(found[0], [21.0, 43.0])
    assert [{**e} for e in found[1]] == values


# ------------------------------------------------------------------------- misuse
