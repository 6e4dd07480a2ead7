# SPDX-License-Identifier: Apache-2.0
"""Derived intrinsics are written out, down to what a stack implements."""

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.compiler.expand_intrinsics import expand_intrinsics
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import free_references, intrinsics, walk
from fedlearn_edu.language.intrinsic import all_intrinsics, expansion, intrinsic_named
from tests.ir.checking import check
from tests.programs import FLOATS, INTS, NUMBERS, increment

PRIMITIVE = {d.uri for d in all_intrinsics() if d.is_primitive}
DERIVED = {
    "federated_sum": (lambda v: fl.federated_sum(v), INTS),
    "federated_mean": (lambda v: fl.federated_mean(v), FLOATS),
    "federated_weighted_mean": (lambda v: fl.federated_mean(v, v), FLOATS),
    "federated_min": (lambda v: fl.federated_min(v), INTS),
    "federated_max": (lambda v: fl.federated_max(v), INTS),
    "federated_collect": (lambda v: fl.federated_collect(v), INTS),
    "sequence_sum": (lambda v: fl.sequence_sum(v), NUMBERS),
    "federated_secure_sum": (lambda v: fl.federated_secure_sum(v, 9), INTS),
    "federated_secure_modular_sum": (
        lambda v: fl.federated_secure_modular_sum(v, 9),
        INTS,
    ),
}


def uris(node: ir.Node) -> set[str]:
    return {intrinsic.uri for intrinsic in intrinsics(node)}


@pytest.mark.parametrize("uri", DERIVED)
def test_a_derived_intrinsic_stays_or_ends_in_well_typed_primitives(uri: str) -> None:
    body, type_ = DERIVED[uri]
    tree = fl.federated_computation(body, type_).tree
    assert uri in uris(tree)
    assert expand_intrinsics(tree, {uri}) == tree
    expanded = expand_intrinsics(tree, frozenset())
    assert uris(expanded) <= PRIMITIVE
    assert expanded.type.is_equivalent_to(tree.type)
    check(expanded)
    assert not free_references(expanded)


def test_a_primitive_has_nothing_to_expand_into() -> None:
    tree = fl.federated_computation(lambda v: fl.federated_map(increment, v), INTS).tree
    assert expand_intrinsics(tree, frozenset()) == tree


def test_an_expansion_is_traced_once_for_each_type() -> None:
    tree = fl.federated_computation(lambda v: fl.federated_sum(v), INTS).tree
    (intrinsic,) = intrinsics(tree)
    definition = intrinsic_named("federated_sum")
    once = expansion(definition, intrinsic.type)
    assert expansion(definition, intrinsic.type) is once
    other = fl.FunctionType(FLOATS, fl.type_at_server(np.float32))
    assert expansion(definition, other) is not once


def test_intrinsics_inside_functions_are_expanded_too() -> None:
    inner = fl.federated_computation(lambda s: fl.sequence_sum(s), NUMBERS)
    at_clients = fl.type_at_clients(NUMBERS)
    tree = fl.federated_computation(
        lambda v: fl.federated_map(inner, v), at_clients
    ).tree
    expanded = expand_intrinsics(tree, {"federated_map", "sequence_reduce"})
    assert uris(expanded) == {"federated_map", "sequence_reduce"}


def test_a_mean_sends_values_and_counts_in_one_aggregation() -> None:
    tree = fl.federated_computation(
        lambda v, w: fl.federated_mean(v, w), FLOATS, INTS
    ).tree
    calls = [
        node
        for node in walk(expand_intrinsics(tree, frozenset()))
        if isinstance(node, ir.Intrinsic) and node.uri == "federated_aggregate"
    ]
    assert len(calls) == 1
