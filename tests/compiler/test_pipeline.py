# SPDX-License-Identifier: Apache-2.0
"""Compiling for a stack: what it gets is what it implements, or an early refusal."""

from typing import Any

import pytest

import fedlearn_edu as fl
from fedlearn_edu.compiler.pipeline import compile_tree
from fedlearn_edu.errors import UnsupportedIntrinsicError
from fedlearn_edu.ir.traversal import intrinsics
from tests.programs import INTS, NUMBERS, increment

SUM = fl.federated_computation(lambda v: fl.federated_sum(v), INTS).tree
MAP = fl.federated_computation(lambda v: fl.federated_map(increment, v), INTS).tree
SEQUENCE_SUM = fl.federated_computation(lambda s: fl.sequence_sum(s), NUMBERS).tree


def test_a_tree_is_expanded_just_as_far_as_needed() -> None:
    assert compile_tree(SUM, {"federated_sum"}) == SUM
    compiled = compile_tree(SUM, {"federated_aggregate"})
    assert [i.uri for i in intrinsics(compiled)] == ["federated_aggregate"]


def test_an_intrinsic_nobody_implements_is_refused_with_a_cure() -> None:
    with pytest.raises(
        UnsupportedIntrinsicError, match="cannot run federated_map"
    ) as e:
        compile_tree(MAP, {"federated_value"}, "halve")
    assert e.value.where == "halve"
    assert "federated_value" in str(e.value.expected)
    assert '@implements("federated_map")' in str(e.value.do)


def test_a_derived_intrinsic_is_refused_by_the_name_you_wrote() -> None:
    with pytest.raises(UnsupportedIntrinsicError, match="cannot run sequence_sum") as e:
        compile_tree(SEQUENCE_SUM, {"federated_map"})
    assert "expands into sequence_reduce" in str(e.value.found)
    assert "support_sequence_ops=True" in str(e.value.do)


@pytest.mark.parametrize("uri", ["sequence_map", "sequence_reduce"])
def test_a_sequence_intrinsic_needs_the_sequence_layer(uri: str) -> None:
    def body(s: Any) -> Any:
        if uri == "sequence_map":
            return fl.sequence_map(increment, s)
        return fl.sequence_reduce(s, 0, fl.np_computation(lambda a, b: a + b))

    tree = fl.federated_computation(body, NUMBERS).tree
    with pytest.raises(UnsupportedIntrinsicError, match=f"cannot run {uri}") as caught:
        compile_tree(tree, {"federated_map"})
    assert "support_sequence_ops=True" in str(caught.value.do)
    assert compile_tree(tree, {uri}) == tree
