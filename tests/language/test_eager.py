# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""Outside of bodies every intrinsic runs at once, on placed values."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import CLIENTS, SERVER
from fedlearn_edu.framework import derived
from fedlearn_edu.testing import assert_same
from tests.programs import Point

F32, I32 = np.float32, np.int32

# Annotated: for a type checker, an intrinsic gives a Value, as it does in a body.
p: Any = fl.place([1.0, 2.0, 4.0], CLIENTS)
q: Any = fl.place([10.0, 20.0, 30.0], CLIENTS)
n: Any = fl.place([1, 2, 3], CLIENTS)
d: Any = fl.place([[1, 2], [], [3]], CLIENTS)
s: Any = fl.place(3.0, SERVER)
e: Any = fl.federated_value(F32(5), CLIENTS)

ADD = fl.np_computation(lambda a, b: a + b, F32, F32)
ADD_INTS = fl.np_computation(lambda a, b: a + b, I32, I32)
DOUBLE = fl.np_computation(lambda x: x * 2)
HALF = fl.np_computation(lambda x: x / F32(2), F32)
FOUR = fl.np_computation(lambda: I32(4))
PICK = fl.np_computation(lambda table, key: table[key], (F32, [3]), I32)
KEYS = fl.place([[0, 2], [1, 1], [2, 0]], CLIENTS, (I32, [2]))
LIMIT, TABLE = fl.place(3, SERVER), fl.place([1.0, 2.0, 3.0], SERVER, (F32, [3]))

INTRINSICS = {n for n in fl.__all__ if n.startswith(("federated_", "sequence_"))}


@pytest.mark.parametrize("name", sorted(INTRINSICS - {"federated_computation"}))
def test_every_intrinsic_names_itself_in_its_errors(name: str) -> None:
    with pytest.raises(TypeError, match=rf"{name}(\(\) got| was called with other)"):
        getattr(fl, name)(no_such_argument=1)


KEYWORDS: list[tuple[Callable[[], Any], Any]] = [
    (lambda: fl.federated_mean(value=p, weight=n), 17 / 6),
    (lambda: fl.federated_mean(weight=n, value=p), 17 / 6),
    (lambda: fl.federated_mean(p, weight=q), 170 / 60),
    (lambda: fl.federated_mean(p, None), 2.3333335),
    (
        lambda: fl.federated_aggregate(
            value=p, zero=0.0, accumulate=ADD, merge=ADD, report=HALF
        ),
        3.5,
    ),
    (lambda: fl.federated_reduce(value=p, zero=1.0, op=ADD), 8),
    (lambda: fl.federated_map(arg=p, fn=HALF), [0.5, 1, 2]),
    (lambda: fl.federated_value(placement=SERVER, value=3), 3),
    (lambda: fl.federated_eval(fn=FOUR, placement=SERVER), 4),
    (lambda: fl.federated_compute(placement=SERVER, fn=FOUR), 4),
    (lambda: fl.federated_secure_sum(value=n, max_input=3), 6),
    (lambda: fl.federated_secure_sum_bitwidth(value=n, bitwidth=2), 6),
    (lambda: fl.federated_secure_modular_sum(value=n, modulus=5), 1),
    (lambda: fl.sequence_reduce(value=d, zero=0, op=ADD_INTS), [3, 0, 3]),
    (lambda: fl.sequence_map(fn=DOUBLE, arg=d), [[2, 4], [], [6]]),
    (lambda: fl.sequence_sum(value=d), [3, 0, 3]),
    (lambda: fl.federated_max(value=p), 4),
    (lambda: fl.federated_min(value=p), 1),
    (lambda: fl.federated_weighted_mean(value=p, weight=n), 17 / 6),
    (lambda: fl.federated_select(KEYS, LIMIT, TABLE, PICK), [[1, 3], [2, 2], [3, 1]]),
]


@pytest.mark.parametrize(("use", "expected"), KEYWORDS)
def test_arguments_may_come_by_name(use: Callable[[], Any], expected: Any) -> None:
    assert use() == expected


@pytest.mark.parametrize(
    ("value", "type_", "expected"),
    [
        ((p, n), "<float32,int32>@SERVER", (7, 6)),
        ([p, n], "<float32,int32>@SERVER", [7, 6]),
        (OrderedDict(b=p, a=n), "<b=float32,a=int32>@SERVER", {"b": 7, "a": 6}),
        (Point(p, n), "<x=float32,y=int32>@SERVER", Point(7, 6)),
        ([p, [q, (n,)]], "<float32,<float32,<int32>>>@SERVER", [7, [60, (6,)]]),
        ([p], "<float32>@SERVER", [7]),
        ((p, p), "<float32,float32>@SERVER", (7, 7)),
        ((p, e), "<float32,float32>@SERVER", (7, 15)),
    ],
)
def test_structures_of_placed_values_are_zipped(
    value: Any, type_: str, expected: Any
) -> None:
    result: Any = fl.federated_sum(value)
    assert str(result.type_signature) == type_
    assert result == expected
    assert type(result.value) is type(value)


def test_results_go_into_further_intrinsics() -> None:
    centered: Any = p - fl.federated_broadcast(fl.federated_mean(p))
    variance: Any = fl.federated_mean(centered * centered)
    assert float(variance) == pytest.approx(np.var([1, 2, 4]), rel=1e-6)
    pairs: Any = fl.federated_zip(OrderedDict(x=p, n=n))
    assert fl.federated_sum(pairs.x + q) == 67
    assert fl.federated_sum(fl.sequence_sum(fl.sequence_map(DOUBLE, d))) == 12
    collected: Any = fl.federated_collect(fl.federated_map(HALF, p))
    assert (
        fl.federated_apply(fl.np_computation(lambda xs: F32(len(list(xs)))), collected)
        == 3
    )


def test_results_go_into_computations_beside_plain_data() -> None:
    floats = fl.type_at_clients(F32)

    @fl.federated_computation(
        floats, floats, fl.type_at_server(F32), F32, fl.type_at_clients(F32, True)
    )
    def total(v: Any, w: Any, at_server: Any, k: Any, shared: Any) -> Any:
        both = fl.federated_sum(v + w * shared)
        return both + fl.federated_value(k, SERVER) * at_server

    assert_same(total(p, [1.0, 1.0, 1.0], s, 2.0, e), F32(28))
    assert_same(total([1.0, 2.0, 4.0], p, 3.0, 2.0, 5.0), F32(48))
    assert_same(total(v=p + 0, w=HALF_OF(p), at_server=s, k=1.0, shared=e), F32(27.5))


def HALF_OF(value: Any) -> Any:  # noqa: N802
    return fl.federated_map(HALF, value)


def test_computations_take_structures_of_placed_values() -> None:
    floats, ints = fl.type_at_clients(F32), fl.type_at_clients(I32)

    @fl.federated_computation([("x", floats), ("y", (ints, fl.type_at_server(F32)))])
    def total(data: Any) -> Any:
        return fl.federated_sum(data.x) + data.y[1], fl.federated_sum(data.y[0])

    assert_same(total(OrderedDict(x=p, y=(n, s))), (F32(10), I32(6)))
    assert_same(total({"y": (n, 3.0), "x": [1.0, 2.0, 4.0]}), (F32(10), I32(6)))


def test_polymorphic_computations_take_placed_values() -> None:
    mean = fl.federated_computation(lambda v: fl.federated_mean(v))
    assert mean(p) == F32(2.3333335)
    assert mean(fl.place([1.0], CLIENTS, np.float64)) == 1.0
    both = fl.federated_computation(
        lambda v, w: fl.federated_sum(v) + fl.federated_sum(w)
    )
    assert both(p, w=q) == 67
    assert fl.federated_map(DOUBLE, p) == [2, 4, 8]
    assert fl.federated_map(DOUBLE, n) == [2, 4, 6]


def test_values_that_are_constants_need_no_place() -> None:
    """Zeros, moduli and what `federated_value` places stay plain arguments."""
    zero = OrderedDict(total=0.0, count=0)
    step = fl.np_computation(
        lambda state, x: OrderedDict(
            total=state["total"] + x, count=state["count"] + I32(1)
        )
    )
    assert fl.federated_reduce(p, zero, step) == {"total": 7, "count": 3}
    model: Any = fl.federated_value(OrderedDict(w=np.ones(2, F32)), SERVER)
    assert model.w == [1, 1]
    assert fl.federated_secure_sum((n, n), (3, 4)) == (6, 6)


PLAIN: list[tuple[Callable[[], Any], Any]] = [
    (lambda: fl.sequence_sum([1, 2, 3]), I32(6)),
    (lambda: fl.sequence_sum((1, 2.5)), F32(3.5)),
    (lambda: fl.sequence_sum(range(4)), I32(6)),
    (lambda: fl.sequence_sum(x for x in range(4)), I32(6)),
    (lambda: fl.sequence_sum(np.arange(4)), np.int64(6)),
    (lambda: fl.sequence_sum(np.zeros([0, 2], F32)), np.zeros(2, F32)),
    (lambda: fl.sequence_sum([(1, 2.0), (3, 4)]), (I32(4), F32(6))),
    (lambda: fl.sequence_sum([[1, 2], [3, 4]]), np.array([4, 6], I32)),
    (lambda: fl.sequence_map(DOUBLE, [1, 2]), [I32(2), I32(4)]),
    (lambda: fl.sequence_map(HALF, arg=(1.0,)), [F32(0.5)]),
    (lambda: fl.sequence_reduce([1, 2], 10, ADD_INTS), I32(13)),
    (lambda: fl.sequence_reduce(value=[], zero=1, op=ADD_INTS), I32(1)),
    (lambda: fl.sequence_map(HALF, []), []),
    (lambda: fl.sequence_map(HALF, [1, 2]), [F32(0.5), F32(1)]),
    (lambda: fl.sequence_reduce(np.zeros(0, I32), zero=1, op=ADD_INTS), I32(1)),
]


@pytest.mark.parametrize(("use", "expected"), PLAIN)
def test_sequence_intrinsics_take_plain_sequences(
    use: Callable[[], Any], expected: Any
) -> None:
    """What comes out is plain, too: there is no participant."""
    assert_same(use(), expected)


def test_generator_function_is_a_plain_sequence() -> None:
    def elements() -> Iterator[float]:
        yield from (1.0, 2.0)

    assert_same(fl.sequence_sum(elements), F32(3))
    assert_same(fl.sequence_map(DOUBLE, elements), [F32(2), F32(4)])


def test_sequence_at_the_server() -> None:
    at_server: Any = fl.place([1, 2, 3], SERVER)
    assert fl.sequence_sum(at_server) == 6
    assert fl.sequence_map(DOUBLE, at_server) == [2, 4, 6]
    start: Any = fl.place(5, SERVER)
    assert fl.sequence_reduce(at_server, start, ADD_INTS) == 11
    starts: Any = fl.place([10, 20, 30], CLIENTS)
    assert fl.sequence_reduce(d, starts, ADD_INTS) == [13, 20, 33]


def test_empty_group() -> None:
    nobody: Any = fl.place([], CLIENTS, F32)
    assert fl.federated_sum(nobody) == 0
    assert fl.federated_map(HALF, nobody) == []
    assert fl.federated_collect(nobody) == []
    assert nobody + 1 == []


@pytest.mark.usefixtures("intrinsics_as_before")
def test_own_derived_intrinsic_runs_at_once() -> None:
    @derived("({T}@CLIENTS -> T@SERVER)")
    def federated_range(value: Any) -> Any:
        """The spread of what the clients hold."""
        return fl.federated_max(value) - fl.federated_min(value)

    assert federated_range(p) == 3
    assert federated_range(value=p) == 3
    assert federated_range(fl.place([5], CLIENTS)) == 0
    assert federated_range((p, n)) == (3, 2)
    assert federated_range.__doc__ == "The spread of what the clients hold."
    program = fl.federated_computation(federated_range, fl.type_at_clients(F32))
    assert program(p) == 3


def test_placed_value_in_leaf_code() -> None:
    """Its plain data may be captured; as it is, it belongs to no leaf code."""
    outer: Any = fl.np_computation(lambda x: x + s.value, F32)
    assert_same(outer(1.0), F32(4))


@pytest.mark.tensorflow
def test_tensorflow_code_and_data_at_once() -> None:
    tf = fl.tf
    mean = fl.tf_computation(lambda xs: tf.reduce_mean(xs), (F32, [None]))
    data: Any = fl.place([[1.0, 2.0], [3.0]], CLIENTS, (F32, [None]))
    assert fl.federated_map(mean, data) == [1.5, 3]
    assert fl.federated_map(fl.tf_computation(lambda x: x * x), p) == [1, 4, 16]
    assert fl.federated_value(tf.constant([1.0, 2.0]), SERVER) == [1, 2]
    dataset = tf.data.Dataset.range(4)
    assert_same(fl.sequence_sum(dataset), np.int64(6))
    assert_same(fl.sequence_map(DOUBLE, dataset), [np.int64(2 * i) for i in range(4)])
    placed: Any = fl.place([dataset, dataset.take(1)], CLIENTS)
    assert fl.sequence_sum(placed) == [6, 0]
    assert p * tf.constant(2.0) == [2, 4, 8]
