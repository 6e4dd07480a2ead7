# SPDX-License-Identifier: Apache-2.0
"""`Struct`: ordered fields, each named or not."""

import pytest

from fedlearn_edu.structure import Struct, leaves, tree_map, unflatten
from fedlearn_edu.types import parse_type

MIXED = Struct([("a", 1), (None, 2)])


@pytest.mark.parametrize(
    "picked", [MIXED.a, MIXED["a"], MIXED[0]], ids=["attribute", "name", "position"]
)
def test_a_field_has_a_name_and_a_position(picked: object) -> None:
    assert picked == 1


def test_a_struct_is_read_like_a_tuple() -> None:
    assert len(MIXED) == 2
    assert list(MIXED) == [1, 2]
    assert MIXED[:1] == (1,)
    assert MIXED[1:] == (2,)


def test_items_and_names_keep_the_order_of_the_fields() -> None:
    struct = Struct.named(b=1, a=2)
    assert struct.names() == ("b", "a")
    assert struct.items() == (("b", 1), ("a", 2))
    assert Struct.unnamed(1, 2).items() == ((None, 1), (None, 2))


def test_map_changes_the_values_and_nothing_else() -> None:
    assert MIXED.map(str) == Struct([("a", "1"), (None, "2")])


def test_other_values_may_stand_under_the_same_names() -> None:
    struct = Struct([("a", 1), (None, 2)])
    assert struct.with_values([3, "four"]) == Struct([("a", 3), (None, "four")])
    assert struct == Struct([("a", 1), (None, 2)])


def test_a_struct_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="cannot be changed"):
        MIXED.a = 5


def test_equality_includes_the_names() -> None:
    assert Struct.unnamed(1) == Struct.unnamed(1)
    assert Struct.unnamed(1) != Struct.named(a=1)
    assert Struct.unnamed(1) != (1,)
    assert len({Struct.named(a=1), Struct.named(a=1), Struct.unnamed(1)}) == 2


@pytest.mark.parametrize(
    ("struct", "text"),
    [
        (MIXED, "<a=1,2>"),
        (Struct([]), "<>"),
        (Struct([("a", Struct.unnamed(1))]), "<a=<1>>"),
    ],
)
def test_a_struct_prints_in_the_notation(struct: Struct, text: str) -> None:
    assert str(struct) == text


def test_the_repr_is_the_constructor() -> None:
    assert repr(MIXED) == "Struct([('a', 1), (None, 2)])"


def test_a_type_and_its_value_are_gone_through_side_by_side() -> None:
    type_ = parse_type("<a=int32,b=<bool,int32*>>")
    value = Struct.named(a=1, b=Struct.unnamed(True, (2, 3)))
    texts = tree_map(lambda t, v: f"{t}: {v}", type_, value)
    assert texts == Struct.named(
        a="int32: 1", b=Struct.unnamed("bool: True", "int32*: (2, 3)")
    )
    assert unflatten(type_, leaves(value)) == value
    assert leaves(5) == [5]
    with pytest.raises(ValueError, match="shorter"):
        tree_map(lambda t, v: v, type_, Struct.named(a=1))
