# SPDX-License-Identifier: Apache-2.0
"""What may be added up; signatures with letters meet concrete types."""

import pytest
from hypothesis import given

from fedlearn_edu import types
from fedlearn_edu.types import Type, parse_type, substitute, unify
from tests.strategies import data_types

MAP = "<(T -> U),{T}@CLIENTS>"
AGGREGATE = "<{T}@CLIENTS,U,(<U,T> -> U),(<U,U> -> U),(U -> R)>"
REDUCE = "<T*,U,(<U,T> -> U)>"


@pytest.mark.parametrize(
    ("template", "concrete", "bindings"),
    [
        ("T", "<int32,bool>", {"T": "<int32,bool>"}),
        (MAP, "<(int32 -> bool),{int32}@CLIENTS>", {"T": "int32", "U": "bool"}),
        (MAP, "<(int32[?] -> bool),{int32[3]}@CLIENTS>", {"T": "int32[3]"}),
        (MAP, "<(int32 -> bool),int32@CLIENTS>", {"T": "int32"}),
        ("( -> T)", "( -> int32)", {"T": "int32"}),
        ("(T -> bool)", "(int32 -> bool)", {"T": "int32"}),
        (REDUCE, "<int32*,bool,(<bool,int32> -> bool)>", {"T": "int32", "U": "bool"}),
        (
            AGGREGATE,
            "<{int32}@CLIENTS,bool,(<bool,int32> -> bool),"
            "(<bool,bool> -> bool),(bool -> string)>",
            {"T": "int32", "U": "bool", "R": "string"},
        ),
        ("(T@CLIENTS -> U)", "({int32}@CLIENTS -> bool)", {"T": "int32"}),
        ("((T -> bool) -> bool)", "((int32[3] -> bool) -> bool)", {"T": "int32[3]"}),
        ("<int32[?]@SERVER,T>", "<int32[3]@SERVER,bool>", {"T": "bool"}),
    ],
)
def test_letters_stand_for_what_the_argument_has(
    template: str, concrete: str, bindings: dict[str, str]
) -> None:
    found = unify(parse_type(template), parse_type(concrete))
    assert {k: str(v) for k, v in found.items()}.items() >= bindings.items()


@given(data_types(), data_types())
def test_substituting_what_was_unified_gives_the_type_back(t: Type, u: Type) -> None:
    """Law: substitute(template, unify(template, concrete)) is the concrete type."""
    template = parse_type(MAP)
    concrete = substitute(template, {"T": t, "U": u})
    bindings = unify(template, concrete)
    assert bindings == {"T": t, "U": u}
    assert substitute(template, bindings) == concrete


def test_substitute_reaches_every_kind_of_type() -> None:
    template = parse_type("(<a=T*,placement,int32> -> ( -> <T@SERVER,{T}@CLIENTS>))")
    concrete = substitute(template, {"T": parse_type("bool")})
    assert str(concrete) == str(template).replace("T*", "bool*").replace(
        "<T@", "<bool@"
    ).replace("{T}", "{bool}")


# type | sum, average, integers, leaf code
TABLE = """
int32                          | sum int leaf
float32                        | sum avg leaf
complex64                      | sum avg leaf
bool                           | leaf
string                         | leaf
uint8[2]                       | sum int leaf
float32[2,3]                   | sum avg leaf
float32[?]                     | avg leaf
<>                             | sum avg int leaf
<a=int32,b=<int64>>            | sum int leaf
<a=float32,b=int32>            | sum leaf
<a=float32,b=bool>             | leaf
<a=float32[?]>                 | avg leaf
{float32}@CLIENTS              | sum avg
<a=int32>@SERVER               | sum int
<{float32}@CLIENTS,float32>    | sum avg
float32*                       | leaf
<a=int32*>                     | leaf
( -> float32)                  |
placement                      |
T                              |
"""
ROWS = [tuple(map(str.strip, row.split("|"))) for row in TABLE.strip().splitlines()]
PREDICATES = {
    "sum": types.is_sum_compatible,
    "avg": types.is_average_compatible,
    "int": types.is_structure_of_integers,
    "leaf": types.is_tensorflow_compatible,
}


@pytest.mark.parametrize(("text", "true"), ROWS)
def test_predicates_hold_as_in_the_table(text: str, true: str) -> None:
    type_ = types.parse_type(text)
    assert [k for k, holds in PREDICATES.items() if holds(type_)] == true.split()
