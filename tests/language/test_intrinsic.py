# SPDX-License-Identifier: Apache-2.0
"""The registry: every intrinsic has a name, a signature and perhaps an expansion."""

from typing import Any

import pytest

from fedlearn_edu.language.application import define
from fedlearn_edu.language.intrinsic import all_intrinsics, intrinsic_named
from fedlearn_edu.types import FunctionType, parse_type

pytestmark = pytest.mark.usefixtures("intrinsics_as_before")


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
    for signature in intrinsic_named(uri).signatures:
        type_ = parse_type(signature)
        assert isinstance(type_, FunctionType)
        assert str(type_) == signature


@pytest.mark.parametrize(
    ("uri", "several"),
    [
        ("federated_sum", False),
        ("federated_map", True),
        ("federated_aggregate", True),
        ("federated_zip", False),
        ("federated_broadcast", False),
    ],
)
def test_a_signature_says_whether_there_are_several_arguments(
    uri: str, several: bool
) -> None:
    assert intrinsic_named(uri).takes_several_arguments is several


def test_defining_again_replaces() -> None:
    """As a notebook cell does that is run twice."""
    first = define("federated_test", "({T}@CLIENTS -> T@SERVER)")
    second = define("federated_test", "({T}@CLIENTS -> T*@SERVER)")
    assert intrinsic_named("federated_test") is second
    assert first is not second
    assert [d.uri for d in all_intrinsics()].count("federated_test") == 1


def test_a_definition_can_have_an_expansion() -> None:
    def twice(value: Any) -> Any:
        return value

    defined = define("federated_test", "(T -> T)", expand=twice)
    assert not defined.is_primitive
    assert defined.expand is not None
    assert str(defined.expand(parse_type("int32")).type) == "(int32 -> int32)"
