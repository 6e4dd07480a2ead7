# SPDX-License-Identifier: Apache-2.0
"""What may be mentioned in a federated body: the table of semantics 2.6."""

from collections import OrderedDict, defaultdict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import TracingError, TypeMismatchError, TypeNotAssignableError
from fedlearn_edu.language.value import to_value
from tests.programs import FLOAT, INT, NUMBERS, Data, Pair, add, increment


@pytest.mark.parametrize(
    ("thing", "type_"),
    [
        (5, "int32"),
        (2**31, "int64"),
        (1.5, "float32"),
        (True, "bool"),
        ("text", "string"),
        (b"text", "string"),
        (np.int64(5), "int64"),
        (np.arange(3), "int64[3]"),
        (fl.CLIENTS, "placement"),
        (increment, "(int32 -> int32)"),
        ([1, 2.5], "<int32,float32>"),
        ((1, "a"), "<int32,string>"),
        (OrderedDict(b=1, a=[2]), "<b=int32,a=<int32>>"),
        (fl.Struct([("a", 1), (None, 2)]), "<a=int32,int32>"),
        (Pair(1, 2.5), "<a=int32,b=float32>"),
        (Data(1, 2.5), "<a=int32,b=float32>"),
        ([add, 1], "<(<a=int32,b=int32> -> int32),int32>"),
        ([], "<>"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_thing_becomes_a_value(thing: Any, type_: str) -> None:
    """differs: there, a constant could not become one outside of a body."""
    assert str(to_value(thing).type_signature) == type_


@pytest.mark.parametrize("kind", [list, tuple, OrderedDict, Pair, Data])
def test_containers_are_remembered(kind: Any) -> None:
    value = kind(a=1, b=2) if kind in (OrderedDict, Pair, Data) else kind([1, 2])
    result = fl.federated_computation(lambda: value)()
    assert type(result) is kind
    assert result == value


@pytest.mark.parametrize(
    "thing",
    [
        {"a": 1},
        defaultdict(int, a=1),
        {1, 2},
        None,
        np.int32,
        range(3),
        object(),
        lambda x: x,
        fl.np_computation(lambda x: x),
        [1, {"a": 1}],
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_what_has_no_meaning_in_a_body_is_refused(thing: Any) -> None:
    with pytest.raises(TracingError):
        to_value(thing)


@pytest.mark.parametrize(
    ("thing", "cure"),
    [
        ({"a": 1}, "OrderedDict"),
        (lambda x: x, "decorate it"),
        (fl.np_computation(lambda x: x), "type of its parameter"),
    ],
    ids=["dict", "function", "polymorphic"],
)
def test_the_cure_is_named(thing: Any, cure: str) -> None:
    with pytest.raises(TracingError) as caught:
        to_value(thing)
    assert cure in str(caught.value.do)


def test_a_list_is_a_sequence_where_one_is_wanted() -> None:
    assert to_value([1, 2], NUMBERS).type_signature == NUMBERS
    with pytest.raises(TypeMismatchError, match=r"\[element 1\]"):
        to_value([1, "a"], NUMBERS)


def test_a_wanted_type_is_checked() -> None:
    with pytest.raises(TypeNotAssignableError, match=r"int32.*float32"):
        to_value(1, FLOAT)


def test_a_value_stays_itself() -> None:
    value = to_value(5)
    assert to_value(value) is value
    assert to_value(value, INT) is value
