# SPDX-License-Identifier: Apache-2.0
"""Using intrinsics: where they may be called, what their arguments convert to."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.errors import ArgumentsError, ContextError, TypeMismatchError
from fedlearn_edu.language.application import derived
from tests.ids import plain
from tests.programs import (
    FLOATS,
    INT,
    INT_AT_SERVER,
    INTS,
    NUMBERS,
    add,
    increment,
    same,
    seven,
    signature,
)

pytestmark = pytest.mark.usefixtures("intrinsics_as_before")


@fl.np_computation(np.int32, [np.int32, np.int32])
def step(state: Any, item: Any) -> Any:
    return state + item[0] * item[1]


@pytest.mark.parametrize(
    "use",
    [
        lambda: fl.federated_value(1, fl.CLIENTS),
        lambda: fl.federated_eval(seven, fl.CLIENTS),
        lambda: fl.federated_sum([1, 2]),
        lambda: fl.federated_map(increment, [1, 2]),
        lambda: fl.federated_mean([1.0]),
        lambda: fl.federated_broadcast(1),
    ],
)
def test_in_leaf_code_an_intrinsic_with_placements_is_refused(
    use: Callable[[], Any],
) -> None:
    with pytest.raises(ContextError, match="outside the body"):
        fl.np_computation(lambda x: use(), INT)


# What a message must name: the intrinsic, what it wants, what it found.
@pytest.mark.parametrize(
    "use",
    [
        lambda v: fl.federated_map(increment, v),
        lambda v: fl.federated_sum(v),
        lambda v: fl.federated_mean(v),
        lambda v: fl.federated_broadcast(v),
        lambda v: fl.federated_min(v),
        lambda v: fl.federated_collect(v),
        lambda v: fl.federated_aggregate(v, 0, add, add, same),
        lambda v: fl.federated_secure_sum(v, 5),
    ],
)
@pytest.mark.parametrize("unplaced", [INT, [INT, INT], []], ids=str)
def test_nothing_unplaced_becomes_federated_by_itself(
    use: Callable[[Any], Any], unplaced: Any
) -> None:
    with pytest.raises(TypeMismatchError, match="federated_"):
        fl.federated_computation(use, unplaced)


@pytest.mark.parametrize(
    ("use", "type_"),
    [
        (lambda v: fl.federated_sum(v), INT_AT_SERVER),
        (lambda v: fl.federated_mean(v), fl.type_at_server(np.float32)),
        (lambda v: fl.federated_collect(v), INT_AT_SERVER),
        (lambda v: fl.federated_aggregate(v, 0, add, add, same), INT_AT_SERVER),
        (lambda v: fl.federated_secure_sum(v, 5), INT_AT_SERVER),
        (lambda v: fl.federated_broadcast(v), INTS),
    ],
)
def test_the_wrong_placement_is_refused_with_the_way_there(
    use: Callable[[Any], Any], type_: Any
) -> None:
    with pytest.raises(TypeMismatchError, match="another placement") as caught:
        fl.federated_computation(use, type_)
    assert "federated_broadcast" in str(caught.value.do)


@pytest.mark.parametrize(
    ("use", "result"),
    [
        (lambda v, w: fl.federated_map(add, [v, w]), "{int32}@CLIENTS"),
        (lambda v, w: fl.federated_sum((v, [w])), "<int32,<int32>>@SERVER"),
        (
            lambda v, w: fl.federated_sum(OrderedDict(x=v, y=w)),
            "<x=int32,y=int32>@SERVER",
        ),
        (
            lambda v, w: fl.federated_aggregate([v, w], 0, step, add, same),
            "int32@SERVER",
        ),
    ],
)
def test_a_structure_of_federated_values_is_zipped(
    use: Callable[[Any, Any], Any], result: str
) -> None:
    found = fl.federated_computation(use, INTS, INTS).type_signature.result
    assert str(found) == result


@pytest.mark.parametrize(
    "arg",
    [lambda v, s: [v, s], lambda v, s: [v, 1], lambda v, s: [[v], [[s]]]],
    ids=["two placements", "unplaced part", "deep"],
)
def test_a_structure_that_cannot_be_zipped_is_refused(
    arg: Callable[[Any, Any], Any],
) -> None:
    with pytest.raises(TypeMismatchError, match="placement"):
        fl.federated_computation(
            lambda v, s: fl.federated_sum(arg(v, s)), INTS, INT_AT_SERVER
        )


def test_an_all_equal_value_may_stand_where_any_is_wanted() -> None:
    equal = fl.type_at_clients(INT, all_equal=True)
    assert signature(lambda v: fl.federated_sum(v), equal) == (
        "(int32@CLIENTS -> int32@SERVER)"
    )


@pytest.mark.parametrize("wrong", [lambda x: x, 5, "increment", {"a": 1}], ids=plain)
def test_only_a_computation_is_a_function_argument(wrong: Any) -> None:
    with pytest.raises(TypeError, match="computation"):
        fl.federated_computation(lambda v: fl.federated_map(wrong, v), INTS)


def test_functions_may_take_structures_with_or_without_names() -> None:
    named = fl.np_computation(lambda p: p["a"] + p["b"], OrderedDict(a=INT, b=INT))
    unnamed = fl.np_computation(lambda p: p[0] + p[1], [INT, INT])
    for fn in (named, unnamed, add):
        made = fl.federated_computation(
            lambda v, fn=fn: fl.federated_map(fn, [v, v]), INTS
        )
        assert str(made.type_signature.result) == "{int32}@CLIENTS"


# ------------------------------------------------------------------ derived


def test_a_derived_intrinsic_needs_only_its_expansion() -> None:
    @derived("({T}@CLIENTS -> T@SERVER)")
    def federated_spread(value: Any) -> Any:
        """The greatest value less the least."""
        return fl.federated_max(value) - fl.federated_min(value)

    made = fl.federated_computation(lambda v: federated_spread(v), INTS)
    assert made([3, 10, 5]) == 7
    assert federated_spread.__doc__ == "The greatest value less the least."


def test_a_derived_intrinsic_checks_its_arguments() -> None:
    @derived("({T}@CLIENTS -> T@SERVER)")
    def federated_spread(value: Any) -> Any:
        return fl.federated_max(value) - fl.federated_min(value)

    with pytest.raises(TypeMismatchError, match="federated_spread"):
        fl.federated_computation(lambda v: federated_spread(v), INT)
    with pytest.raises(ArgumentsError, match=r"federated_spread\(value\)"):
        fl.federated_computation(lambda v: federated_spread(v, v), INTS)


def test_a_derived_intrinsic_may_require_more() -> None:
    def floats_only(value: Any) -> None:
        if value.member.dtype != np.float32:
            raise TypeMismatchError("floats only")

    @derived("({T}@CLIENTS -> T@SERVER)", require=floats_only)
    def federated_float_sum(value: Any) -> Any:
        return fl.federated_sum(value)

    assert fl.federated_computation(federated_float_sum, FLOATS)([1.5, 2]) == 3.5
    with pytest.raises(TypeMismatchError, match="floats only"):
        fl.federated_computation(lambda v: federated_float_sum(v), INTS)


def test_a_derived_intrinsic_may_be_used_on_sequences() -> None:
    @derived("(T* -> T)")
    def sequence_double_sum(value: Any) -> Any:
        return fl.sequence_sum(value) * 2

    made = fl.federated_computation(lambda s: sequence_double_sum(s), NUMBERS)
    assert made([1, 2, 3]) == 12
