# SPDX-License-Identifier: Apache-2.0
"""`place`: data come to the participants, with their type said or inferred."""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu import CLIENTS, SERVER
from fedlearn_edu.testing import assert_same
from tests.programs import Point

F32 = np.float32
FLOATS = fl.SequenceType(F32)


@pytest.mark.parametrize(
    ("values", "type_", "members"),
    [
        ([1, 2.5], "{float32}@CLIENTS", [F32(1), F32(2.5)]),
        (["a", b"b"], "{string}@CLIENTS", [b"a", b"b"]),
        (np.arange(2), "{int64}@CLIENTS", [np.int64(0), np.int64(1)]),
        (np.array(["a", "b"]), "{string}@CLIENTS", [b"a", b"b"]),
        (np.array([[1, 2]], F32), "{float32[2]}@CLIENTS", [np.array([1, 2], F32)]),
        (np.zeros([0, 2], F32), "{float32[2]}@CLIENTS", []),
        ([Point(1, "a")], "{<x=int32,y=string>}@CLIENTS", [Point(np.int32(1), b"a")]),
        (
            [OrderedDict(x=[1.0], y=(1,))],
            "{<x=float32*,y=<int32>>}@CLIENTS",
            [OrderedDict(x=[F32(1)], y=(np.int32(1),))],
        ),
    ],
)
def test_one_entry_per_client(values: Any, type_: str, members: list[Any]) -> None:
    placed = fl.place(values, CLIENTS)
    assert str(placed.type_signature) == type_
    assert_same(placed.members, members)


def test_iterator_of_clients_is_read() -> None:
    placed = fl.place((x * x for x in range(3)), CLIENTS)
    assert_same(placed.members, [np.int32(0), np.int32(1), np.int32(4)])
    assert len(fl.place(zip([1, 2], [3, 4], strict=True), CLIENTS)) == 2


def test_server_holds_one_value() -> None:
    assert str(fl.place(3.0, SERVER).type_signature) == "float32@SERVER"
    assert str(fl.place([1, 2], SERVER).type_signature) == "int32*@SERVER"
    assert str(fl.place((1, 2), SERVER).type_signature) == "<int32,int32>@SERVER"
    assert str(fl.place(iter([1, 2]), SERVER).type_signature) == "int32*@SERVER"
    assert_same(fl.place([1, 2.5], SERVER).value, [F32(1), F32(2.5)])


def test_clients_may_bring_their_data_in_any_form() -> None:
    """List, tuple, range, array, generator, generator function: one sequence each."""

    def elements() -> Iterator[float]:
        yield from (1.0, 2.0)

    forms = [[1.0, 2.0], range(1, 3), np.array([1, 2], F32), iter([1, 2]), elements]
    expected = [[F32(1), F32(2)]] * len(forms)
    placed = fl.place(forms, CLIENTS, FLOATS)
    assert_same(placed.members, expected)
    assert_same(placed.members, expected)  # also what can be read once only
    forms = [[1.0, 2.0], range(1, 3), np.array([1, 2], F32), iter([1, 2]), elements]
    inferred = fl.place(forms, CLIENTS)
    assert inferred.type_signature.member == FLOATS
    assert_same(inferred.members, expected)
    assert_same(fl.place([(1.0, 2.0)], CLIENTS, FLOATS).members, expected[:1])


def test_generator_function_is_read_anew_each_time() -> None:
    readings = []

    def elements() -> Iterator[int]:
        readings.append("start")
        yield 1

    placed = fl.place([elements], CLIENTS, fl.SequenceType(np.int32))
    assert readings == []
    assert placed.members == placed.members == [[1]]
    assert readings == ["start", "start"]


def test_declared_type_converts() -> None:
    placed = fl.place([1, 2], CLIENTS, F32)
    assert_same(placed.members, [F32(1), F32(2)])
    placed = fl.place([[1, 2], [3]], CLIENTS, fl.SequenceType(np.float64))
    assert_same(placed.members, [[np.float64(1), np.float64(2)], [np.float64(3)]])
    vector = fl.place([[1, 2]], CLIENTS, (F32, [2]))
    assert_same(vector.members, [np.array([1, 2], F32)])
    assert fl.place([True, 2], CLIENTS, np.int64).members == [1, 2]


@pytest.mark.parametrize(
    "type_", [F32, fl.type_at_clients(F32), fl.type_at_clients(F32, all_equal=True)]
)
def test_type_of_a_member_may_come_with_the_placement(type_: Any) -> None:
    placed = fl.place([1, 2], CLIENTS, type_)
    assert placed.type_signature == fl.type_at_clients(F32)
    at_server = fl.place(1, SERVER, fl.type_at_server(F32))
    assert at_server.type_signature == fl.type_at_server(F32)


def test_empty_group_has_the_declared_type() -> None:
    placed = fl.place([], CLIENTS, F32)
    assert placed.members == []
    assert str(placed) == "<placed {float32}@CLIENTS>\n  no client"
    assert fl.place(np.zeros([0], F32), CLIENTS).type_signature == placed.type_signature


def test_users_own_data_are_copied() -> None:
    """Whatever is done to them later, the placed value stays what it was."""
    array = np.ones([2, 3], F32)
    rows = [np.ones(2, F32), np.ones(2, F32)]
    lists = [[1, 2], [3]]
    record = {"a": np.zeros(1, F32)}
    placed = [
        fl.place(array, CLIENTS),
        fl.place(rows, CLIENTS),
        fl.place(lists, CLIENTS),
        fl.place([record], CLIENTS),
        fl.place(array, SERVER),
        fl.place([array], CLIENTS, fl.SequenceType((F32, [3]))),
    ]
    before = [str(value) for value in placed]
    array[:] = 7
    rows[0][:] = 7
    rows.append(np.zeros(2, F32))
    lists[0].append(7)
    lists.append([7])
    record["a"][:] = 7
    record["b"] = np.zeros(1, F32)
    assert [str(value) for value in placed] == before


@pytest.mark.tensorflow
def test_tensors_and_datasets_are_placed() -> None:
    tf = fl.tf
    tensor = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    rows = [np.array([1, 2], F32), np.array([3, 4], F32)]
    assert_same(fl.place(tensor, CLIENTS).members, rows)
    assert_same(fl.place([tensor[0], tensor[1]], CLIENTS).members, rows)
    assert_same(fl.place(tf.constant(["a"]), CLIENTS).members, [b"a"])
    assert_same(fl.place(tf.Variable(2.0), SERVER).value, F32(2))
    dataset = tf.data.Dataset.range(3)
    placed = fl.place([dataset, [5]], CLIENTS)
    assert str(placed.type_signature) == "{int64*}@CLIENTS"
    assert placed.members == placed.members == [[0, 1, 2], [5]]


@pytest.mark.tensorflow
def test_variable_that_changes_later_was_copied() -> None:
    variable = fl.tf.Variable([1.0, 2.0])
    placed = fl.place([variable], CLIENTS)
    variable.assign([7.0, 7.0])
    assert_same(placed.members, [np.array([1, 2], F32)])
