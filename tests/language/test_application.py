# SPDX-License-Identifier: Apache-2.0
"""Using and defining intrinsics: where they may be called, what they convert."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.language.application import define
from fedlearn_edu.language.intrinsic import all_intrinsics, intrinsic_named
from fedlearn_edu.types import FunctionType, parse_type
from tests.programs import INT, INTS, add, same

pytestmark = pytest.mark.usefixtures("intrinsics_as_before")


@fl.np_computation(np.int32, [np.int32, np.int32])
def step(state: Any, item: Any) -> Any:
    return state + item[0] * item[1]


# What a message must name: the intrinsic, what it wants, what it found.


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


def test_functions_may_take_structures_with_or_without_names() -> None:
    named = fl.np_computation(lambda p: p["a"] + p["b"], OrderedDict(a=INT, b=INT))
    unnamed = fl.np_computation(lambda p: p[0] + p[1], [INT, INT])
    for fn in (named, unnamed, add):
        made = fl.federated_computation(
            lambda v, fn=fn: fl.federated_map(fn, [v, v]), INTS
        )
        assert str(made.type_signature.result) == "{int32}@CLIENTS"


# ----------------------------------------
# The registry: every intrinsic has a name, a signature and perhaps an expansion


PRIMITIVE = {
    "federated_aggregate",
    "federated_broadcast",
    "federated_eval",
    "federated_map",
    "federated_pairwise_masks",
    "federated_select",
    "federated_value",
    "federated_zip",
    "sequence_map",
    "sequence_reduce",
}
DERIVED = {
    "federated_apply",
    "federated_collect",
    "federated_map_aggregate",
    "federated_max",
    "federated_mean",
    "federated_min",
    "federated_reduce",
    "federated_secure_modular_sum",
    "federated_secure_sum",
    "federated_sum",
    "federated_weighted_mean",
    "sequence_sum",
}


def test_the_vocabulary_is_what_the_design_lists() -> None:
    # Other tests of the same process may have derived their own.
    ours = [
        d
        for d in all_intrinsics()
        if "tests" not in getattr(d.expand, "__module__", "")
    ]
    found = {d.uri: d.is_primitive for d in ours}
    assert {uri for uri, primitive in found.items() if primitive} == PRIMITIVE
    assert {uri for uri, primitive in found.items() if not primitive} == DERIVED


@pytest.mark.parametrize("uri", sorted(PRIMITIVE | DERIVED))
def test_every_signature_is_a_function_type_in_the_notation(uri: str) -> None:
    for written in intrinsic_named(uri).signatures:
        type_ = parse_type(written)
        assert isinstance(type_, FunctionType)
        assert str(type_) == written


def test_defining_again_replaces() -> None:
    """As a notebook cell does that is run twice."""
    first = define("federated_test", "({T}@CLIENTS -> T@SERVER)")
    second = define("federated_test", "({T}@CLIENTS -> T*@SERVER)")
    assert intrinsic_named("federated_test") is second
    assert first is not second
    assert [d.uri for d in all_intrinsics()].count("federated_test") == 1
