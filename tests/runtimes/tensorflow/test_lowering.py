# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Which bodies become loops, and that these mean what a pipeline means."""

import gc
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import tf
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.runtimes.tensorflow.graph import GraphCode
from fedlearn_edu.testing import assert_same

pytestmark = pytest.mark.tensorflow

F32, I32 = np.float32, np.int32
# In this order, which is not the one of `tf.nest`.
ROW = OrderedDict(y=(I32, [None]), x=(F32, [None, 2]), s=np.str_)
ROWS = fl.SequenceType(ROW)


class Pair(NamedTuple):
    """TensorFlow takes it apart, but does not spread it out."""

    first: Any
    second: Any


def rows(*sizes: int) -> list[Any]:
    numbers = np.arange(sum(sizes), dtype=I32)
    parts = np.split(numbers, np.cumsum(sizes)[:-1])
    return [
        OrderedDict(y=part, x=np.stack([part, part**2], 1).astype(F32), s=b"%d\0" % i)
        for i, part in enumerate(parts)
    ]


def summed(row: Any) -> Any:
    return tf.reduce_sum(row["x"]) + tf.cast(tf.size(row["y"]), tf.float32)


def told(data: Any, k: Any) -> Any:
    return data.reduce(tf.constant(""), lambda text, row: text + row["s"]), k


def twice_mapped(data: Any, k: Any) -> Any:
    pairs = data.map(lambda row: (summed(row), k)).map(lambda a, b: Pair(a * b, [b]))
    return pairs.reduce(
        (k, 1.0), lambda s, p: (s[0] * 0.5 + p.first, s[1] + p.second[0])
    )


def one_after_the_other(data: Any, k: Any) -> Any:
    total = data.prefetch(1).reduce(k, lambda s, row: s + summed(row))
    k = tf.while_loop(lambda v: v > 10.0, lambda v: v / 2.0, [total])[0]
    return data.reduce(k, lambda s, row: s * 0.5 + summed(row) * k), total


def a_growing_state(data: Any, k: Any) -> Any:
    start = tf.zeros([0], tf.int32)
    return data.reduce(start, lambda s, row: tf.concat([s, row["y"]], 0)), k


def a_variable(data: Any, k: Any) -> Any:
    total = tf.Variable(k)
    for _ in range(2):
        total.assign_add(data.reduce(0.0, lambda s, row: s + summed(row)) * total)
    return total.read_value()


def a_variable_of_nothing(data: Any, k: Any) -> Any:
    total = tf.Variable(0.0)
    total.assign_add(data.reduce(k, lambda s, row: s + summed(row)))
    return total.read_value()


def a_variable_in_a_step(data: Any, k: Any) -> Any:
    def step(state: Any, row: Any) -> Any:
        variable = tf.Variable(state)
        tf.function(lambda: variable.assign_add(summed(row) * k))()
        return variable.read_value()

    return data.reduce(0.0, step)


def a_check_in_a_step(data: Any, k: Any) -> Any:
    def step(state: Any, row: Any) -> Any:
        tf.debugging.assert_less(summed(row), 1e9)
        return state + summed(row) * k

    return data.reduce(0.0, step)


def handed_on(data: Any, k: Any) -> Any:
    pairs = data.map(lambda row: (k, row["y"], row["x"]))
    return pairs.reduce(
        (0.0, k), lambda s, p: (s[0] + p[0] * tf.reduce_sum(p[2]), p[0])
    )


LOWERED = [
    told,
    twice_mapped,
    one_after_the_other,
    a_growing_state,
    a_variable,
    a_variable_of_nothing,
    a_variable_in_a_step,
    a_check_in_a_step,
    handed_on,
]


def a_batch(data: Any, k: Any) -> Any:
    return data.map(summed).batch(2).reduce(k, lambda s, b: s * 0.5 + tf.reduce_sum(b))


def a_count(data: Any, k: Any) -> Any:
    return tf.cast(data.cardinality(), tf.float32) * k


def a_for(data: Any, k: Any) -> Any:
    @tf.function
    def folded(data: Any) -> Any:
        total = k
        for row in data:
            total = total * 0.5 + summed(row)
        return total

    return folded(data)


def a_check_outside(data: Any, k: Any) -> Any:
    tf.debugging.assert_less(k, 1e9)
    return data.reduce(k, lambda s, row: s + summed(row))


def a_draw_outside(data: Any, k: Any) -> Any:
    k = k + 0.0 * tf.random.uniform([])
    return data.reduce(k, lambda s, row: s + summed(row))


PIPED = [a_batch, a_count, a_for, a_check_outside, a_draw_outside]


def loops_of(computation: fl.Computation) -> Any:
    leaf = computation.tree
    assert isinstance(leaf, ir.Leaf)
    assert isinstance(leaf.code, GraphCode)
    return leaf.code.machine_fn


DATA = {"none": rows(), "even": rows(2, 2), "tail": rows(3, 3, 1), "any": rows(1, 3, 2)}


@pytest.mark.parametrize("body", [*LOWERED, *PIPED], ids=lambda body: body.__name__)
def test_a_loop_in_memory_means_what_the_pipeline_means(body: Any) -> None:
    computation = fl.tf_computation(body, ROWS, F32)
    assert (loops_of(computation) is not None) is (body in LOWERED)
    gc.collect()  # a graph has to keep the variables of its body
    of_all = fl.federated_computation(
        lambda data, k: fl.federated_map(computation, [data, k]),
        fl.type_at_clients(ROWS),
        fl.type_at_clients(F32),
    )
    several = [rows(3, 1), rows(), rows(2, 2, 2), rows(3), rows(3, 3, 1)]
    numbers = [0.5, 2.0, 1.0, 3.0, 0.25]

    def made(data: Any, k: float) -> Any:
        with fl.framework.ReferenceContext():  # which reads a pipeline
            return computation(data, k)

    for data in DATA.values():
        assert_same(computation(data, 1.5), made(data, 1.5), relative=1e-6)
    if body is not told:  # TensorFlow joins texts for one client at a time
        wanted = list(map(made, several, numbers))
        assert_same(of_all(several, numbers), wanted, relative=1e-5)


def test_a_mapped_sequence_is_a_result_too() -> None:
    doubled = fl.tf_computation(
        lambda data, k: data.map(
            lambda r: OrderedDict(x=r["x"] * k, n=tf.size(r["y"]))
        ),
        ROWS,
        F32,
    )
    assert loops_of(doubled) is not None
    assert str(doubled.type_signature.result) == "<x=float32[?,2],n=int32>*"
    found = list(doubled(rows(2, 1), 2.0))
    assert [int(part["n"]) for part in found] == [2, 1]
    assert_same(found[1]["x"], np.array([[4.0, 8.0]], F32))


@pytest.mark.parametrize(
    ("fold", "wanted"), [(tf.add, [3, 7]), (lambda n, _: n + 1.0, [2, 2])]
)
def test_a_check_of_what_is_handed_on_or_unread_names_its_client(
    fold: Any, wanted: list[int]
) -> None:
    def checked(x: Any) -> Any:
        tf.debugging.assert_less(x, 5.0)
        return x

    total = fl.tf_computation(
        lambda s: s.map(checked).reduce(0.0, fold), fl.SequenceType(F32)
    )
    program = fl.federated_computation(
        lambda v: fl.federated_map(total, v), fl.type_at_clients(fl.SequenceType(F32))
    )
    assert program([[1.0, 2.0], [3.0, 4.0]]) == wanted
    with pytest.raises(fl.FedLearnError, match="client 1"):
        program([[1.0, 2.0], [3.0, 6.0]])


def test_a_body_that_is_lowered_runs_once() -> None:
    ran = []

    def body(data: Any) -> Any:
        ran.append("body")
        return data.reduce(0.0, lambda s, x: s + x)

    total = fl.tf_computation(body, fl.SequenceType(F32))
    assert total([1.0, 2.0]) == 3
    assert ran == ["body"]


def test_clients_share_what_is_the_same_for_all() -> None:
    """A sequence, too; and a loop in a loop belongs to those who take that step."""
    numbers = fl.SequenceType(F32)
    add = fl.tf_computation(lambda a, b: a + b, F32, F32)

    @fl.federated_computation(numbers, numbers)
    def product_of_sums(own: Any, everybodys: Any) -> Any:
        @fl.federated_computation(F32, F32)
        def step(total: Any, x: Any) -> Any:
            return add(total, fl.sequence_reduce(everybodys, x, add))

        return fl.sequence_reduce(own, 0.0, step)

    @fl.federated_computation(fl.type_at_clients(numbers), fl.type_at_server(numbers))
    def program(own: Any, everybodys: Any) -> Any:
        sent = fl.federated_broadcast(everybodys)
        return fl.federated_map(product_of_sums, [own, sent])

    for own in ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0], []]):
        wanted = [sum(x + 30.0 for x in each) for each in own]
        assert program(own, [10.0, 20.0]) == wanted
