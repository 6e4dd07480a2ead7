# SPDX-License-Identifier: Apache-2.0
"""Which steps become one, and which must not."""

import sys
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.compiler.map_fusion import fuse_maps
from fedlearn_edu.compiler.pipeline import compile_tree
from fedlearn_edu.framework import local_executor_factory
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import walk
from fedlearn_edu.language.computation import Computation
from tests.programs import FLOATS, INT, INTS, add, increment, local

NATIVE = local_executor_factory().native({})
PAIR = fl.to_type(OrderedDict(z=np.int32, a=np.int32))


@fl.np_computation(np.int32)
def split(x: Any) -> Any:
    return OrderedDict(z=x, a=x * np.int32(10))


@fl.np_computation(PAIR)
def take_apart(pair: Any) -> Any:
    return OrderedDict(a=pair["a"], z=pair["z"] * np.int32(100))


def steps(computation: Any) -> list[str]:
    """The intrinsics of the joined program, in the order they run."""
    tree = fuse_maps(compile_tree(computation.tree, NATIVE), NATIVE)
    assert tree.type == computation.type_signature
    return [node.uri for node in walk(tree) if isinstance(node, ir.Intrinsic)]


def check(program: Any, *arguments: Any) -> None:
    """Joined, the program gives what it gave."""
    with local():
        tree = fuse_maps(compile_tree(program.tree, NATIVE), NATIVE)
        joined = Computation(tree, "joined", None)
        assert joined(*arguments) == program(*arguments)


def twice(value: Any) -> Any:
    return fl.federated_map(increment, fl.federated_map(increment, value))


def a_chain_of_more_maps_than_the_stack_has_levels(x: Any) -> Any:
    for _ in range(sys.getrecursionlimit()):
        x = fl.federated_map(increment, x)
    return x


def an_aggregate_of_maps(x: Any) -> Any:
    return fl.federated_sum(twice(x))


def a_source_that_is_needed_twice(x: Any) -> Any:
    return fl.federated_map(add, (fl.federated_map(increment, x), x))


def what_two_steps_need(x: Any) -> Any:
    shared = fl.federated_map(increment, x)
    return fl.federated_map(increment, shared), fl.federated_sum(shared)


def a_part_of_the_result(x: Any) -> Any:
    shared = fl.federated_map(increment, x)
    return shared, fl.federated_map(increment, shared)


def a_constant(x: Any) -> Any:
    """As the 1 that `federated_mean` puts beside each client's value."""
    ten = fl.federated_value(10, fl.CLIENTS)
    return fl.federated_map(add, (fl.federated_map(increment, x), ten))


def a_capture_without_placement(x: Any, k: Any) -> Any:
    shift = fl.federated_computation(lambda y: add(y, k), INT)
    return fl.federated_sum(fl.federated_map(shift, fl.federated_map(shift, x)))


MAP = "federated_map"


@pytest.mark.parametrize(
    ("body", "types", "expected", "arguments"),
    [
        (twice, [INTS], [MAP], [[1, 2, 3]]),
        (twice, [fl.type_at_server(np.int32)], [MAP], [5]),
        (a_chain_of_more_maps_than_the_stack_has_levels, [INTS], [MAP], [[1, 2]]),
        (an_aggregate_of_maps, [INTS], ["federated_map_aggregate"], [[1, 2, 3]]),
        (an_aggregate_of_maps, [INTS], ["federated_map_aggregate"], [[]]),
        (a_source_that_is_needed_twice, [INTS], [MAP], [[1, 2]]),
        (what_two_steps_need, [INTS], [MAP, MAP, "federated_aggregate"], [[1, 2]]),
        (a_part_of_the_result, [INTS], [MAP, MAP], [[1, 2]]),
        (a_constant, [INTS], [MAP], [[1, 2]]),
        (
            a_capture_without_placement,
            [INTS, INT],
            ["federated_map_aggregate"],
            [[1, 2], 100],
        ),
    ],
)
def test_steps_that_only_each_other_need_become_one(
    body: Any, types: list[Any], expected: list[str], arguments: list[Any]
) -> None:
    program = fl.federated_computation(body, *types)
    assert steps(program) == expected
    check(program, *arguments)


def test_an_aggregate_of_data_is_left_alone() -> None:
    program = fl.federated_computation(fl.federated_mean, FLOATS)
    assert "federated_map_aggregate" not in steps(program)


def test_parts_of_a_zip_are_joined_over_their_sources() -> None:
    def body(x: Any, y: Any) -> Any:
        return fl.federated_map(add, (twice(x), fl.federated_map(increment, y)))

    program = fl.federated_computation(body, INTS, INTS)
    assert sorted(steps(program)) == ["federated_map", "federated_zip"]
    check(program, [1, 2], [30, 40])


def test_a_field_that_nothing_needs_does_not_keep_steps_apart() -> None:
    def body(x: Any) -> Any:
        pair = fl.federated_map(split, x)
        _ = fl.federated_map(increment, pair.a), pair.z
        return fl.federated_sum(pair.z)

    def with_unused_field(x: Any) -> Any:
        pair = fl.federated_map(split, x)
        _ = pair.a
        return fl.federated_sum(pair.z)

    program = fl.federated_computation(with_unused_field, INTS)
    assert steps(program) == ["federated_map_aggregate"]
    check(program, [1, 2])
    # A step with leaf code stays, as it was asked for.
    assert "federated_map" in steps(fl.federated_computation(body, INTS))


def test_fields_keep_their_names_and_order() -> None:
    def body(x: Any) -> Any:
        pair = fl.federated_map(split, x)
        swapped = fl.federated_zip(OrderedDict(z=pair.a, a=pair.z))
        return fl.federated_map(take_apart, swapped)

    program = fl.federated_computation(body, INTS)
    check(program, [1, 2])


def test_a_value_made_at_the_clients_is_a_source() -> None:
    one = fl.np_computation(lambda: np.int32(1))

    def body(x: Any) -> Any:
        made = fl.federated_eval(one, fl.CLIENTS)
        return fl.federated_sum(
            fl.federated_map(add, (fl.federated_map(increment, x), made))
        )

    program = fl.federated_computation(body, INTS)
    assert "federated_eval" in steps(program)
    check(program, [1, 2])


def test_aggregates_of_one_map_are_one_pass() -> None:
    def body(x: Any) -> Any:
        made = fl.federated_map(split, x)
        low = fl.federated_min(made.z)
        total = fl.federated_sum(fl.federated_map(increment, made.a))
        return total, low, fl.federated_max(made.z), low

    program = fl.federated_computation(body, INTS)
    assert steps(program).count("federated_map_aggregate") == 1
    assert "federated_aggregate" not in steps(program)
    check(program, [1, 5, 2])


def test_an_aggregate_that_needs_another_one_comes_after_it() -> None:
    def body(x: Any) -> Any:
        made = fl.federated_map(increment, x)
        least = fl.federated_broadcast(fl.federated_min(made))
        above = fl.federated_map(add, (made, least))
        return fl.federated_sum(above), fl.federated_max(made), least

    program = fl.federated_computation(body, INTS)
    found = [step for step in steps(program) if "aggregate" in step]
    assert len(found) == 2
    check(program, [1, 5, 2])


def test_what_not_all_can_fold_keeps_no_other_aggregate_from_being_folded() -> None:
    """A collected sequence, and a step that captured a value, come one by one."""

    def body(x: Any, k: Any) -> Any:
        made = fl.federated_map(increment, x)
        shifted = fl.federated_computation(lambda s, v: add(add(s, v), k), INT, INT)
        same = fl.federated_computation(lambda s: s, INT)
        return (
            fl.federated_sum(made),
            fl.federated_collect(made),
            fl.federated_aggregate(made, 0, shifted, add, same),
        )

    program = fl.federated_computation(body, INTS, INT)
    found = [step for step in steps(program) if "aggregate" in step]
    assert found == ["federated_aggregate"] * 3
    check(program, [1, 5, 2], 10)


def test_aggregates_of_data_are_left_apart() -> None:
    def body(x: Any, y: Any) -> Any:
        return fl.federated_sum(x), fl.federated_max(x), fl.federated_sum(twice(y))

    program = fl.federated_computation(body, INTS, INTS)
    found = [step for step in steps(program) if "aggregate" in step]
    assert sorted(found) == [
        "federated_aggregate",
        "federated_aggregate",
        "federated_map_aggregate",
    ]
    check(program, [1, 5, 2], [1, 2, 3])


@pytest.mark.parametrize("missing", [NATIVE - {"federated_map_aggregate"}, frozenset()])
def test_a_stack_without_the_means_gets_the_program_as_it_is(missing: Any) -> None:
    program = fl.federated_computation(lambda v: fl.federated_sum(twice(v)), INTS)
    assert fuse_maps(program.tree, missing) is program.tree
