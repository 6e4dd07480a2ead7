# SPDX-License-Identifier: Apache-2.0
"""Many Python arguments, one parameter: semantics 2.3 (definition) and 2.5 (call)."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from tests.programs import INT, Pair, add, increment, seven, signature

BOOL = np.bool_
Body = Callable[..., Any]


@pytest.mark.parametrize(
    ("body", "types", "type_"),
    [
        (lambda: 1, [], "( -> int32)"),
        (lambda: 1, [None], "( -> int32)"),
        (lambda x: x[0], [[("a", INT), ("b", BOOL)]], "(<a=int32,b=bool> -> int32)"),
        (lambda x: x[0], [INT, BOOL], "(<int32,bool> -> int32)"),
        (lambda a, b: a, [[INT, BOOL]], "(<a=int32,b=bool> -> int32)"),
        (lambda a, b: a, [INT, BOOL], "(<a=int32,b=bool> -> int32)"),
        # The order of the type counts, the names say who gets what.
        (lambda a, b: a, [[("b", INT), ("a", BOOL)]], "(<b=int32,a=bool> -> bool)"),
    ],
)
def test_the_types_of_a_decorator_become_one_parameter(
    body: Body, types: list[Any], type_: str
) -> None:
    assert signature(body, *types) == type_


@pytest.mark.parametrize(
    ("type_", "container"),
    [
        ([INT, BOOL], OrderedDict),
        (OrderedDict(a=INT, b=BOOL), OrderedDict),
        ([("a", INT), ("b", BOOL)], None),
    ],
    ids=["renamed", "named", "pairs"],
)
def test_a_type_that_is_already_named_keeps_its_container(
    type_: Any, container: type | None
) -> None:
    pair = fl.federated_computation(lambda a, b: a, type_)
    parameter = pair.type_signature.parameter
    assert isinstance(parameter, fl.StructType)
    assert parameter.python_container is container


def positional_only(x: Any, /) -> Any:
    return x


@pytest.mark.parametrize(
    "body",
    [lambda x, y=1: x, lambda x, *, y=1: x, positional_only],
    ids=["default", "keyword default", "positional-only"],
)
def test_parameters_with_a_default_keep_it(body: Body) -> None:
    """differs: the ancestor refused defaults, and positional-only parameters."""
    assert signature(body, INT) == "(int32 -> int32)"


# ------------------------------------------------------------- 2.5, the packing table


@fl.np_computation([np.int32, np.int32])
def difference(pair: Any) -> Any:
    return pair[0] - pair[1]


@fl.np_computation(fl.StructType([(None, INT), ("b", INT)]))
def half_named(pair: Any) -> Any:
    return pair[0] - pair[1]


@pytest.mark.parametrize(
    ("call", "result"),
    [
        (lambda: seven(), 7),
        (lambda: increment(1), 2),
        (lambda: add(5, 2), 7),
        (lambda: add(5, b=2), 7),
        (lambda: add(b=2, a=5), 7),
        (lambda: add([5, 2]), 7),
        (lambda: difference(5, 2), 3),
        (lambda: difference([5, 2]), 3),
        (lambda: half_named(5, b=2), 3),
        (lambda: half_named(5, 2), 3),
    ],
)
def test_arguments_fill_the_parameter(call: Callable[[], Any], result: int) -> None:
    assert call() == result


def test_an_unnamed_field_behind_a_named_one_goes_by_position() -> None:
    """differs: the ancestor refused such a structure as a list of arguments."""

    @fl.np_computation(fl.StructType([("a", INT), (None, INT)]))
    def pair(whole: Any) -> Any:
        return whole[0] - whole[1]

    assert pair(5, 2) == 3


# ----------------------------------------------------- 2.5, struct arguments at the top


@fl.np_computation(np.int32, np.int32)
def minus(a: Any, b: Any) -> Any:
    return a - b


@pytest.mark.parametrize(
    "argument",
    [
        (5, 2),
        [5, 2],
        Pair(5, 2),
        OrderedDict(a=5, b=2),
        fl.Struct.named(a=5, b=2),
        fl.Struct.unnamed(5, 2),
        {"b": 2, "a": 5},
        {"a": 5, "b": 2},
    ],
    ids=repr,
)
def test_a_structure_comes_in_any_container(argument: Any) -> None:
    assert minus(argument) == 3


# ------------------------------------- 2.5, tensors, sequences, functions at the top


@pytest.mark.parametrize(
    "elements",
    [[1, 2], (1, 2), np.array([1, 2]), range(1, 3), iter([1, 2]), lambda: iter([1, 2])],
    ids=["list", "tuple", "array", "range", "iterator", "generator function"],
)
def test_a_sequence_comes_in_any_form_that_can_be_read(elements: Any) -> None:
    """differs: the ancestor refused tuples and arrays."""
    count = fl.np_computation(lambda s: np.int32(sum(s)), fl.SequenceType(INT))
    assert count(elements) == 3


def test_the_elements_of_a_sequence_may_be_dicts_in_any_order() -> None:
    pairs = fl.SequenceType(OrderedDict(b=INT, a=INT))
    rest = fl.np_computation(lambda s: np.int32(sum(e["b"] - e["a"] for e in s)), pairs)
    assert rest([{"a": 1, "b": 3}, {"b": 5, "a": 1}]) == 6


@fl.federated_computation(fl.FunctionType(np.int32, np.int32), np.int32)
def twice(fn: Any, x: Any) -> Any:
    return fn(fn(x))


@pytest.mark.parametrize(
    "function",
    [
        increment,
        fl.federated_computation(lambda x: x + 1, INT),
        fl.np_computation(lambda x: x + 1),
    ],
    ids=["leaf", "federated", "polymorphic"],
)
def test_a_function_argument_is_a_computation(function: Any) -> None:
    """differs: the ancestor refused polymorphic ones here."""
    assert twice(function, 3) == 5
