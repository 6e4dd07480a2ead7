# SPDX-License-Identifier: Apache-2.0
"""A placed value by itself: what it shows, what it compares with, what changes it."""

import copy
import gc
import pickle
import weakref
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fedlearn_edu as fl
from fedlearn_edu import CLIENTS, SERVER
from fedlearn_edu.testing import assert_same
from tests.programs import Point
from tests.strategies import federated_types, same, value_of

F32 = np.float32
FLOATS = fl.type_at_clients(F32)
VECTORS = [np.array([1, 2], F32), np.array([3, 4], F32)]

# Annotated: for a type checker, an intrinsic gives a Value, as it does in a body.
three: Any = fl.place([1.0, 2.0, 4.0], CLIENTS)
one: Any = fl.place(2.5, SERVER)
everywhere: Any = fl.federated_value(F32(3), CLIENTS)
rows: Any = fl.place(VECTORS, CLIENTS)
pairs: Any = fl.place([(1, 2.0), (3, 4.0)], CLIENTS)
records: Any = fl.place(
    [OrderedDict(n=1, w=VECTORS[0]), OrderedDict(n=2, w=VECTORS[1])], CLIENTS
)
lists: Any = fl.place([[1, 2], [3]], CLIENTS)


@dataclass
class Record:
    count: Any


def test_members_are_what_python_gets() -> None:
    assert_same(three.members, [F32(1), F32(2), F32(4)])
    assert_same(rows.members, VECTORS)
    assert_same(pairs.members, [(np.int32(1), F32(2)), (np.int32(3), F32(4))])
    assert_same(lists.members, [[np.int32(1), np.int32(2)], [np.int32(3)]])
    points = fl.place([Point(1, Record(2.0))], CLIENTS)
    assert_same(points.members, [Point(np.int32(1), Record(F32(2)))])
    assert three.type_signature == FLOATS


@given(st.data())
def test_value_comes_back_as_it_was_given(data: st.DataObject) -> None:
    """Whatever the type: what was placed is what the members are."""
    type_ = data.draw(federated_types())
    value = data.draw(value_of(type_))
    placed = fl.FederatedValue(value, type_)
    assert same(placed.value if type_.all_equal else placed.members, value)


def test_one_value_stands_for_all() -> None:
    for placed, value in ((one, F32(2.5)), (everywhere, F32(3))):
        assert_same(placed.value, value)
        assert_same(placed.members, [value])


def test_iteration_goes_over_the_members() -> None:
    assert [float(x) for x in three] == [1.0, 2.0, 4.0]
    assert len(three) == 3
    assert sum(three) == 7.0
    assert 2.0 in three
    assert 3.0 not in three
    assert dict(zip("abc", three, strict=True))["c"] == 4.0
    assert max(three) == 4.0
    for pair, expected in zip(pairs, [(1, 2.0), (3, 4.0)], strict=True):
        assert pair == expected


def test_one_value_is_printed_as_the_number_it_is() -> None:
    assert float(one) == 2.5
    assert f"{one:.3f}" == "2.500"
    assert f"{one}" == str(one) == "<placed float32@SERVER>\n  server  2.5"


def test_arrays_of_the_members_are_stacked() -> None:
    assert_same(three.numpy(), np.array([1, 2, 4], F32))
    assert_same(rows.numpy(), np.array([[1, 2], [3, 4]], F32))
    assert_same(pairs.numpy(), (np.array([1, 3], np.int32), np.array([2, 4], F32)))
    assert_same(
        records.numpy(),
        OrderedDict(n=np.array([1, 2], np.int32), w=np.array([[1, 2], [3, 4]], F32)),
    )
    words = fl.place([["a", "b"], ["c", "d"]], CLIENTS, (np.str_, [2])).numpy()
    assert words.tolist() == [[b"a", b"b"], [b"c", b"d"]]
    assert np.mean(three) == F32(7) / F32(3)
    assert_same(np.asarray(three, np.float64), np.array([1, 2, 4], np.float64))


def test_arrays_of_one_value() -> None:
    assert_same(one.numpy(), F32(2.5))
    assert_same(everywhere.numpy(), F32(3))
    assert_same(fl.place([1.0, 2.0], SERVER).numpy(), np.array([1, 2], F32))
    collected: Any = fl.federated_collect(rows)
    assert_same(collected.numpy(), np.array([[1, 2], [3, 4]], F32))


def test_array_of_nobody_has_the_right_shape() -> None:
    for type_, shape in (
        (F32, (0,)),
        ((F32, [3, 2]), (0, 3, 2)),
        ((F32, [None]), (0, 0)),
    ):
        array = fl.place([], CLIENTS, type_).numpy()
        assert array.shape == shape
        assert array.dtype == F32
    empty = fl.place([], CLIENTS, [("a", F32), ("b", np.int32)]).numpy()
    assert_same(empty, OrderedDict(a=np.zeros(0, F32), b=np.zeros(0, np.int32)))


def test_equality_is_that_of_the_data() -> None:
    assert three == fl.place([1.0, 2.0, 4.0], CLIENTS)
    assert three != fl.place([1.0, 2.0], CLIENTS)
    assert three != fl.place([1.0, 2.0, 5.0], CLIENTS)
    assert three != fl.place([1.0, 2.0, 4.0], CLIENTS, np.float64)
    assert fl.place(3.0, SERVER) != everywhere
    assert records == fl.place(records.members, CLIENTS)
    assert lists == fl.place([np.array([1, 2], np.int32), [3]], CLIENTS)
    assert fl.place([], CLIENTS, F32) == fl.place([], CLIENTS, F32)


def test_equality_with_plain_data() -> None:
    assert three == [1, 2.0, F32(4)]
    assert np.array([1, 2, 4]).tolist() == three
    assert three != [1.0, 2.0]
    assert three != 1.0
    assert one == 2.5
    assert one != "text"
    assert one != None  # noqa: E711
    assert fl.federated_mean(three) == 2.3333335
    assert fl.federated_mean(three) == pytest.approx(2.3333, abs=1e-3)
    assert pytest.approx([1.0, 2.0, 4.0001], abs=1e-3) == three
    assert pairs == [(1, 2), (3, 4)]
    assert records == [{"w": [1.0, 2.0], "n": 1}, {"w": [3.0, 4.0], "n": 2}]
    assert lists == [[1, 2], [3]]
    assert lists != [[1, 2], [3, 4]]
    assert fl.place([float("nan")], CLIENTS) != [float("nan")]


def test_sequences_that_are_read_later_are_compared_by_reading() -> None:
    later = fl.place([lambda: iter([1, 2])], CLIENTS, fl.SequenceType(np.int32))
    assert later == [[1, 2]]
    assert later == fl.place([[1, 2]], CLIENTS)
    assert later != [[1, 3]]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (three + 1, [2, 3, 5]),
        (1 - three, [0, -1, -3]),
        (three * 2.5, [2.5, 5, 10]),
        (4 / three, [4, 2, 1]),
        (three / 2, [0.5, 1, 2]),
        (F32(2) * three, [2, 4, 8]),
        (three - F32(1), [0, 1, 3]),
        (three + three, [2, 4, 8]),
        (three + everywhere, [4, 5, 7]),
        (everywhere - three, [2, 1, -1]),
        (three * three - three, [0, 2, 12]),
        (rows * 2, [[2, 4], [6, 8]]),
        (rows + np.array([1, 2], F32), [[2, 4], [4, 6]]),
        (np.array([1, 2], F32) - rows, [[0, 0], [-2, -2]]),
        (one + 1, 3.5),
        (10 / one, 4),
        (one * one, 6.25),
    ],
)
def test_operators_work_member_by_member(result: Any, expected: Any) -> None:
    assert isinstance(result, fl.FederatedValue)
    assert result == expected


def test_fields_are_taken_at_every_participant() -> None:
    assert records.n == [1, 2]
    assert records["w"] == VECTORS
    assert records.n.type_signature == fl.type_at_clients(np.int32)
    assert (records.n * 2 + records["n"]) == [3, 6]
    assert pairs[1] == [2.0, 4.0]
    model: Any = fl.place(OrderedDict(w=[1.0], value=Point(1, 2)), SERVER)
    assert model.w.value == [1.0]
    assert model["value"].y == 2
    shared: Any = fl.federated_value(OrderedDict(a=1, b=2.5), CLIENTS)
    assert shared.b.type_signature == fl.type_at_clients(F32, all_equal=True)
    assert shared.b == 2.5


def test_python_asks_for_names_in_vain() -> None:
    assert not hasattr(three, "weight")
    assert not hasattr(three, "__tensor__")
    assert not hasattr(three, "_repr_html_")
    assert {"n", "w", "members", "numpy", "type_signature"} <= set(dir(records))
    assert None not in dir(pairs)


def test_changing_what_was_handed_out_changes_nothing() -> None:
    """Members, values and arrays are copies, every time."""
    vector: Any = fl.place(np.ones(2, F32), SERVER)
    nested: Any = fl.place([[np.ones(2, F32)]], CLIENTS)
    before = str(rows)
    rows.members[0][:] = 7
    rows.members.append(VECTORS[0])
    rows.numpy()[:] = 7
    np.asarray(rows)[:] = 7
    assert str(rows) == before
    vector.value[:] = 7
    vector.numpy()[:] = 7
    vector.members[0][:] = 7
    assert vector == [1.0, 1.0]
    nested.members[0][0][:] = 7
    nested.members[0].append(VECTORS[0])
    assert nested == [[[1.0, 1.0]]]
    records.members[0]["w"][:] = 7
    assert records == [{"w": [1.0, 2.0], "n": 1}, {"w": [3.0, 4.0], "n": 2}]


def test_copies_and_pickles_are_equal_values() -> None:
    fl.federated_sum(three)
    for value in (three, one, everywhere, records, lists, pairs):
        for other in (
            copy.copy(value),
            copy.deepcopy(value),
            pickle.loads(pickle.dumps(value)),
        ):
            assert other == value
            assert other.type_signature == value.type_signature
            assert str(other) == str(value)
    assert fl.federated_sum(pickle.loads(pickle.dumps(three))) == 7


def test_nothing_holds_on_to_a_value() -> None:
    """What was placed and used goes when its name goes."""
    data = fl.place([1.0, 2.0], CLIENTS)
    total = fl.federated_computation(fl.federated_sum, FLOATS)
    assert total(data) == fl.federated_sum(data) == 3
    gone = weakref.ref(data)
    del data
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    ("placed", "lines"),
    [
        (three, "{float32}@CLIENTS> | client 0  1.0 | client 1  2.0 | client 2  4.0"),
        (one, "float32@SERVER> | server  2.5"),
        (everywhere, "float32@CLIENTS> | every client  3.0"),
        (fl.place([], CLIENTS, F32), "{float32}@CLIENTS> | no client"),
        (pairs, "{<int32,float32>}@CLIENTS> | client 0  <1, 2.0> | client 1  <3, 4.0>"),
        (
            fl.place([[1, 2], [3], []], CLIENTS),
            "{int32*}@CLIENTS> | client 0  2 elements: 1, 2 | client 1  1 element: 3"
            " | client 2  0 elements",
        ),
        (
            fl.place([[[1.0], [2.0, 3.0]]], CLIENTS),
            "{float32[?]*}@CLIENTS> | client 0  2 elements: [1.0], [2.0, 3.0]",
        ),
        (
            fl.place([OrderedDict(w=np.ones([9, 9], F32), b=np.ones(9, F32))], CLIENTS),
            "{<w=float32[9,9],b=float32[9]>}@CLIENTS>"
            " | client 0  <w=float32[9,9], b=[1.0, 1.0, 1.0, 1.0, …]>",
        ),
        (
            fl.place([np.arange(6.0).reshape(2, 3)], CLIENTS),
            "{float64[2,3]}@CLIENTS> | client 0  float64[2,3]: 0.0, 1.0, 2.0, 3.0, …",
        ),
        (
            fl.place([np.zeros([0, 3])], CLIENTS),
            "{float64[0,3]}@CLIENTS> | client 0  float64[0,3]",
        ),
        (
            fl.place([[1 / 3, 1e-7, 1e9]], CLIENTS, (F32, [3])),
            "{float32[3]}@CLIENTS>"
            " | client 0  float32[3]: 0.333333, 1e-07, 1000000000.0",
        ),
        (
            fl.place(["two\nlines", "x" * 80], CLIENTS),
            r"{string}@CLIENTS> | client 0  b'two\nlines'"
            f" | client 1  b'{'x' * 57}…",
        ),
        (
            fl.place([lambda: iter([1])], CLIENTS, fl.SequenceType(np.int32)),
            "{int32*}@CLIENTS> | client 0  a sequence that is read when it is needed",
        ),
    ],
)
def test_text_shows_who_holds_what(placed: Any, lines: str) -> None:
    text = repr(placed)
    assert text == "<placed " + lines.replace(" | ", "\n  ")
    assert max(map(len, text.splitlines()[1:])) <= 80


def test_text_of_much_data_is_short() -> None:
    structure = fl.place([tuple(range(100, 130))], CLIENTS)
    assert repr(structure).endswith(", 109, 110, …")
    assert len(repr(structure).splitlines()[1]) <= 80
    lines = repr(fl.place(range(1000), CLIENTS)).splitlines()
    assert len(lines) == 11
    assert lines[8:] == [
        "  client 7    7",
        "  …           (991 more)",
        "  client 999  999",
    ]
    assert len(repr(fl.place(range(10), CLIENTS)).splitlines()) == 11
    assert "(2 more)" in repr(fl.place(range(11), CLIENTS))
