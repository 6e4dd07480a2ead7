# SPDX-License-Identifier: Apache-2.0
"""What may be added up, averaged, run by leaf code."""

import pytest

from fedlearn_edu import types
from fedlearn_edu.errors import SumIncompatibleError

# type, sum, average, integers, floats, scalar, leaf code
TABLE = """
int32                          | sum int scalar leaf
float32                        | sum avg float scalar leaf
bfloat16                       | sum avg float scalar leaf
complex64                      | sum avg scalar leaf
bool                           | leaf
string                         | leaf
uint8[2]                       | sum int leaf
float32[2,3]                   | sum avg float leaf
float32[?]                     | avg float leaf
float32[...]                   | avg float leaf
<>                             | sum avg int float leaf
<a=int32,b=<int64>>            | sum int leaf
<a=float32,b=int32>            | sum leaf
<a=float32,b=bool>             | leaf
<a=float32[?]>                 | avg float leaf
{float32}@CLIENTS              | sum avg float
<a=int32>@SERVER               | sum int
<{float32}@CLIENTS,float32>    | sum avg float
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
    "float": types.is_structure_of_floats,
    "scalar": types.is_numeric_scalar,
    "leaf": types.is_tensorflow_compatible,
}


@pytest.mark.parametrize(("text", "true"), ROWS)
def test_predicates_hold_as_in_the_table(text: str, true: str) -> None:
    pytest.importorskip("ml_dtypes") if text == "bfloat16" else None
    type_ = types.parse_type(text)
    assert [k for k, holds in PREDICATES.items() if holds(type_)] == true.split()


@pytest.mark.parametrize(
    ("text", "part", "where", "cure"),
    [
        ("{<a=int32,b=<string>>}@CLIENTS", "string", r"\.b\[0\]", "leave"),
        ("<float32[?]>", r"float32\[\?\]", r"\[0\]", "declare every size"),
        ("<a=int32*>", r"int32\*", r"\.a", "leave"),
    ],
)
def test_what_cannot_be_added_is_pointed_at(
    text: str, part: str, where: str, cure: str
) -> None:
    match = rf"cannot be added up\n.*\n +found: +{part}\n.*at {where} of.*\n.*{cure}"
    with pytest.raises(SumIncompatibleError, match=match):
        types.check_sum_compatible(types.parse_type(text))


def test_what_cannot_be_added_as_a_whole_needs_no_place() -> None:
    with pytest.raises(SumIncompatibleError, match="found: +bool\n +do: +leave"):
        types.check_sum_compatible(types.parse_type("{bool}@CLIENTS"))


def test_numbers_of_static_shape_pass_the_check() -> None:
    types.check_sum_compatible(types.parse_type("{<a=int32,b=float32[2]>}@CLIENTS"))
