# SPDX-License-Identifier: Apache-2.0
"""What may be added up; signatures with letters meet concrete types."""

import pytest
from hypothesis import given

from fedlearn_edu import types
from fedlearn_edu.errors import SumIncompatibleError, TypeMismatchError
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
        ("<int32[?]@SERVER,T>", "<int32[3]@SERVER,bool>", {"T": "bool"}),
    ],
)
def test_letters_stand_for_what_the_argument_has(
    template: str, concrete: str, bindings: dict[str, str]
) -> None:
    found = unify(parse_type(template), parse_type(concrete))
    assert {k: str(v) for k, v in found.items()}.items() >= bindings.items()


@pytest.mark.parametrize(
    ("template", "concrete", "message"),
    [
        (
            MAP,
            "<(int32 -> bool),{int64}@CLIENTS>",
            r"letter T .*accepted as.*\n.*T = int64\n.*T = int32\n.*at \[0\]→parameter",
        ),
        (MAP, "<(int32[3] -> bool),{int32[?]}@CLIENTS>", "letter T .*accepted as"),
        (
            REDUCE,
            "<int32*,int32,(<int32,int32> -> float32)>",
            r"letter U .*two different[\s\S]*U = int32\n.*U = float32\n.*\[2\]→result",
        ),
        ("<T*,(<T,T> -> bool)>", "<int32*,(int32 -> bool)>", "does not have the form"),
        ("<T,U>", "<a=int32,b=bool>", "names may be added, not dropped"),
        ("<T,U>", "<int32>", r"2 fields: <T,U>\n.*1 field:"),
        ("{T}@CLIENTS", "int32@SERVER", r"{T}@CLIENTS\n.*int32@SERVER"),
        ("({T}@CLIENTS -> U)", "(int32@CLIENTS -> bool)", r": {T}.*\n.*: +int32@CLI"),
        ("T@CLIENTS", "{int32}@CLIENTS", "only a broadcast or constant"),
        ("T*", "int32[?]", "a tensor is one value, not a sequence"),
        ("( -> T)", "(int32 -> T)", "a concrete type is needed"),
        ("( -> T)", "(int32 -> int32)", r"no parameter\n.*int32"),
        ("<int32@SERVER,T>", "<bool@SERVER,int32>", r"expected: int32\n.*bool"),
        ("<T,((U -> U) -> U)>", "<int32,((bool -> bool) -> int32)>", "two different"),
        (
            "<(T -> bool),(T -> bool)>",
            "<(int32 -> bool),(int32 -> bool)>",
            "defines it",
        ),
    ],
)
def test_misfit_names_letter_types_and_place(
    template: str, concrete: str, message: str
) -> None:
    with pytest.raises(TypeMismatchError, match=message):
        unify(parse_type(template), parse_type(concrete))


def test_function_positions_alternate_between_defining_and_using() -> None:
    template = parse_type("<((T -> int32) -> int32)>")
    concrete = parse_type("<((int32[3] -> int32) -> int32)>")
    assert str(unify(template, concrete)["T"]) == "int32[3]"


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


def test_letter_without_meaning_is_refused() -> None:
    with pytest.raises(TypeMismatchError, match="stands for nothing"):
        substitute(parse_type("<T,U>"), {"T": parse_type("int32")})


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
float32[...]                   | avg leaf
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


@pytest.mark.parametrize(
    ("text", "part", "where", "cure"),
    [
        ("{<a=int32,b=<string>>}@CLIENTS", "string", r"\.b\[0\]", "leave"),
        ("<float32[?]>", r"float32\[\?\]", r"\[0\]", "declare every size"),
        ("<a=int32*>", r"int32\*", r"\.a", "sequence_sum"),
    ],
)
def test_what_cannot_be_added_is_pointed_at(
    text: str, part: str, where: str, cure: str
) -> None:
    match = rf"cannot be added up\n.*\n +found: +{part}\n.*at {where} of.*\n.*{cure}"
    with pytest.raises(SumIncompatibleError, match=match):
        types.check_sum_compatible(types.parse_type(text))


def test_what_cannot_be_added_as_a_whole_needs_no_place() -> None:
    with pytest.raises(SumIncompatibleError, match=r"found: +bool\n +do: +leave"):
        types.check_sum_compatible(types.parse_type("{bool}@CLIENTS"))
