# SPDX-License-Identifier: Apache-2.0
"""What a body may mention, and what comes back: semantics 2.6 and 2.10."""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.language.value import to_value
from tests.programs import NUMBERS, Data, Pair, add, increment, local


@pytest.fixture(
    params=[fl.federated_computation, fl.np_computation],
    ids=lambda decorator: str(decorator.__name__),
)
def decorator(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (np.int32(3), np.int32),
        (3, np.int32),
        (1.5, np.float32),
        (np.float64(1.5), np.float64),
        (True, np.bool_),
        (1j, np.complex128),
        ("Hello, World!", bytes),
    ],
    ids=repr,
)
def test_a_scalar_is_a_numpy_scalar_and_a_string_is_bytes(
    decorator: Any, value: Any, kind: type
) -> None:
    result = decorator(lambda: value)()
    assert type(result) is kind
    assert result == (value.encode() if isinstance(value, str) else value)


def test_a_vector_of_strings_is_an_array_of_bytes(decorator: Any) -> None:
    result = decorator(lambda: np.array(["a", "bc"]))()
    assert result.dtype == object
    assert result.tolist() == [b"a", b"bc"]


@pytest.mark.parametrize(
    "value",
    [
        OrderedDict(b=1, a=2),
        [1, 2],
        (1, 2),
        Pair(1, 2),
        Data(1, 2),
        (),
        [],
        OrderedDict(x=[1, (2, Pair(3, [4]))]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_structure_is_the_container_that_was_written(
    decorator: Any, value: Any
) -> None:
    result = decorator(lambda: value)()
    assert type(result) is type(value)
    assert result == value


def test_a_struct_without_container_is_an_ordered_dict_or_a_tuple(
    decorator: Any,
) -> None:
    assert decorator(lambda: fl.Struct.named(b=1, a=2))() == OrderedDict(b=1, a=2)
    assert decorator(lambda: fl.Struct.unnamed(1, 2))() == (1, 2)


def test_a_struct_that_mixes_names_comes_back_as_a_struct(decorator: Any) -> None:
    """differs: the ancestor had no Python form for it and raised."""
    mixed = fl.Struct([("a", 1), (None, 2)])
    assert decorator(lambda: mixed)() == mixed


def test_pairs_in_a_list_are_not_fields(decorator: Any) -> None:
    assert decorator(lambda: [("a", 1)])() == [(b"a", 1)]


@pytest.mark.parametrize("elements", [[1, 2], (1, 2), np.array([1, 2]), range(1, 3)])
@pytest.mark.parametrize("support_sequence_ops", [True, False])
def test_a_sequence_is_a_list_on_every_stack(
    elements: Any, support_sequence_ops: bool
) -> None:
    """differs: the ancestor gave a dataset, or the very object that went in."""
    with local(support_sequence_ops=support_sequence_ops):
        result = fl.federated_computation(lambda s: s, NUMBERS)(elements)
    assert result == [1, 2]
    assert type(result) is list


# ------------------------------------------------------------------ mentioned


@pytest.mark.parametrize(
    ("thing", "type_"),
    [
        (5, "int32"),
        (fl.CLIENTS, "placement"),
        (increment, "(int32 -> int32)"),
        (OrderedDict(b=1, a=[2]), "<b=int32,a=<int32>>"),
        ([add, 1], "<(<a=int32,b=int32> -> int32),int32>"),
    ],
)
def test_a_thing_becomes_a_value(thing: Any, type_: str) -> None:
    """differs: there, a constant could not become one outside of a body."""
    assert str(to_value(thing).type_signature) == type_


def test_a_list_is_a_sequence_where_one_is_wanted() -> None:
    assert to_value([1, 2], NUMBERS).type_signature == NUMBERS


def test_a_value_stays_itself() -> None:
    value = to_value(5)
    assert to_value(value) is value
