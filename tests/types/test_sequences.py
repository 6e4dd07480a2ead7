# SPDX-License-Identifier: Apache-2.0
"""Data that are used again and again: each form of them is made once."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fedlearn_edu as fl
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    CLIENTS,
    Type,
    normalize,
    parse_type,
    restore,
    type_at_clients,
    type_at_server,
)
from fedlearn_edu.types.sequences import Cached, cache, unwrap
from tests.strategies import federated_types, same, value_of

F32 = np.float32


def plain(value: Any, notation: str) -> tuple[Any, Type]:
    type_ = parse_type(notation)
    return normalize(value, type_), type_


def test_form_is_made_once_for_each_key() -> None:
    one = Cached(F32(2))
    made = []

    def double(x: Any) -> Any:
        made.append(x)
        return x * 2

    assert [one.form("a", double) for _ in range(100)] == [4.0] * 100
    assert made == [2.0]
    assert one.form("b", lambda x: x + 1) == 3.0
    assert one.form("a", lambda x: x + 1) == 4.0


def test_form_that_fails_is_not_kept() -> None:
    one = Cached(F32(0))
    with pytest.raises(RuntimeError, match="not today"):
        one.form("a", lambda _: (_ for _ in ()).throw(RuntimeError("not today")))
    assert one.form("a", lambda x: x) == 0.0


def test_maker_sees_data_in_which_nothing_is_kept() -> None:
    value, type_ = plain([[1.0], [2.0, 3.0]], "float32[?]*")
    sequence = cache(value, type_)
    assert isinstance(sequence, Cached)
    assert all(isinstance(element, Cached) for element in sequence)
    seen: Any = sequence.form("key", lambda x: x)
    assert all(type(element) is np.ndarray for element in seen)


@given(st.data())
def test_keeping_changes_no_data(data: st.DataObject) -> None:
    """Keep, release and restore: the value is there again, whatever its type."""
    type_ = data.draw(federated_types())
    value = data.draw(value_of(type_))
    released = unwrap(cache(normalize(value, type_), type_))
    assert same(restore(released, type_), value)
    assert "Cached" not in repr(released)


def test_structures_stay_open_tensors_and_sequences_are_kept() -> None:
    value, type_ = plain([(1, [2, 3])], "{<a=int32,b=int32*>}@CLIENTS")
    (member,) = cache(value, type_)
    assert isinstance(member, Struct)
    assert member.names() == ("a", "b")
    assert all(isinstance(field, Cached) for field in member)


FLOATS = type_at_clients(F32)
PLACED = fl.place([1.0, 2.0], CLIENTS)
SHARED = fl.federated_value(F32(3), CLIENTS)
CENTRAL = fl.place(3.0, fl.SERVER)


def test_placed_value_fits_its_type_and_wider_ones() -> None:
    for value, type_ in (
        (PLACED, FLOATS),
        (fl.place([np.ones(2, F32)], CLIENTS), type_at_clients((F32, [None]))),
        (fl.place([(1, 2)], CLIENTS), parse_type("{<a=int32,b=int32>}@CLIENTS")),
        (SHARED, type_at_clients(F32, all_equal=True)),
        (CENTRAL, type_at_server(F32)),
    ):
        assert normalize(value, type_) is value._cached
