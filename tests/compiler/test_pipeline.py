# SPDX-License-Identifier: Apache-2.0
"""Compiling for a stack: expansion, normal form, or an early refusal."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.compiler.expansion import expand_intrinsics
from fedlearn_edu.compiler.normal_form import to_normal_form
from fedlearn_edu.compiler.pipeline import compile_tree
from fedlearn_edu.errors import UnsupportedIntrinsicError
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.printing import to_text
from fedlearn_edu.ir.traversal import free_references, intrinsics, walk
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.language.intrinsic import all_intrinsics, expansion, intrinsic_named
from tests.ir.checking import check
from tests.programs import FLOATS, INT, INTS, NUMBERS, add, increment, local

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


# ----------------------------------------
# Derived intrinsics are written out, down to what a stack implements


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


# ----------------------------------------
# A program as a list of calls: what comes in which order, under which name


def straight(computation: Any) -> str:
    """The text of a normalized program."""
    assert isinstance(computation.tree, ir.Lambda)
    tree = to_normal_form(computation.tree)
    assert tree.type == computation.type_signature
    return to_text(tree)


@fl.federated_computation(np.int32)
def twice(x: Any) -> Any:
    return increment(increment(x))


def test_calls_of_lambdas_are_written_out() -> None:
    program = fl.federated_computation(lambda x: twice(twice(x)), INT)
    assert straight(program) == (
        "((argument) -> (let (0)=increment((argument)),(1)=increment((0)),"
        "(2)=increment((1)),(3)=increment((2)) in (3)))"
    )


def test_fields_are_taken_out_of_structures_that_are_written_down() -> None:
    pair = fl.federated_computation(lambda x: (increment(x), x), INT)
    program = fl.federated_computation(lambda x: add(pair(x)[1], pair(x)[0]), INT)
    assert straight(program) == (
        "((argument) -> (let (0)=increment((argument)),(1)=increment((argument)),"
        "(2)=add(<a=(argument),b=(1)>) in (2)))"
    )


def test_a_function_that_is_handed_on_keeps_its_body() -> None:
    program = fl.federated_computation(lambda v: fl.federated_map(twice, v), INTS)
    assert "federated_map(<(twice_arg -> (let " in straight(program) or (
        "federated_map(<(x -> (let " in straight(program)
    )


def test_a_captured_part_of_the_argument_is_captured_alone() -> None:
    """The other part is placed, and could not travel."""

    def body(value: Any, k: Any) -> Any:
        shift = fl.federated_computation(lambda x: add(x, k), INT)
        return fl.federated_map(shift, value)

    text = straight(fl.federated_computation(body, INTS, INT))
    assert "(0)=(argument).k" in text
    assert "add(<a=x,b=(0)>)" in text


def test_a_shadowed_name_is_not_captured() -> None:
    """The program's own parameter and an inner one may have the same name."""

    def body(x: Any) -> Any:
        plus = fl.federated_computation(lambda y: add(x, y), INT)
        return plus(increment(x))

    program = fl.federated_computation(body, INT)
    with local():
        normalized = Computation(to_normal_form(program.tree), "straight", None)  # type: ignore[arg-type]
        assert normalized(3) == program(3) == 7


def test_a_program_without_a_parameter_stays_one() -> None:
    program = fl.federated_computation(lambda: twice(np.int32(5)))
    assert straight(program).startswith("( -> (let (0)=increment(")
