# SPDX-License-Identifier: Apache-2.0
"""Containers taken apart and put together."""

import dataclasses
from collections import OrderedDict, defaultdict
from typing import Any, NamedTuple

import attrs
import pytest

from fedlearn_edu.errors import StructureError, TypeMismatchError
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import CLIENTS, parse_type
from fedlearn_edu.types.python_fields import fields_of, rebuild


class Pair(NamedTuple):
    """A namedtuple."""

    a: int
    b: int


@dataclasses.dataclass(frozen=True)
class Data:
    """A dataclass with a field that nobody hands in."""

    a: int
    b: int
    total: int = dataclasses.field(init=False, default=3, compare=False)


@attrs.frozen
class Attrs:
    """An attrs class."""

    a: int
    b: int


CONTAINERS = [
    [1, 2],
    (1, 2),
    OrderedDict(b=1, a=2),
    {"b": 1, "a": 2},
    Pair(1, 2),
    Data(1, 2),
    Attrs(1, 2),
    [],
    (),
    {},
]


@pytest.mark.parametrize("container", CONTAINERS, ids=repr)
def test_rebuilding_undoes_taking_apart(container: Any) -> None:
    fields = fields_of(container)
    assert fields is not None
    assert fields.container is type(container)
    rebuilt = rebuild(fields.container, Struct(fields.pairs))
    assert type(rebuilt) is type(container)
    assert rebuilt == container


@pytest.mark.parametrize(
    "other", [1, "ab", {1}, None, Data, CLIENTS, parse_type("int32*"), object()]
)
def test_other_objects_have_no_fields(other: Any) -> None:
    assert fields_of(other) is None


def test_subclass_of_a_dict_counts_as_a_dict() -> None:
    fields = fields_of(defaultdict(int, a=1))
    assert fields is not None
    assert fields.container is dict


def test_keys_of_a_dict_are_strings() -> None:
    with pytest.raises(TypeMismatchError, match=r"names of fields\n.*strings\n.*3"):
        fields_of({3: 1})


def test_without_container_the_names_decide() -> None:
    assert rebuild(None, Struct.named(a=1)) == OrderedDict(a=1)
    assert type(rebuild(None, Struct.named(a=1))) is OrderedDict
    assert rebuild(None, Struct.unnamed(1, 2)) == (1, 2)
    mixed = Struct([("a", 1), (None, 2)])
    assert rebuild(None, mixed) is mixed


@pytest.mark.parametrize(
    ("container", "fields"),
    [(list, Struct.named(a=1)), (OrderedDict, Struct.unnamed(1))],
)
def test_container_that_cannot_hold_the_names_is_refused(
    container: type, fields: Struct
) -> None:
    with pytest.raises(StructureError, match=f"{container.__name__} cannot hold"):
        rebuild(container, fields)
