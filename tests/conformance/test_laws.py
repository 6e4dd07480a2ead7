# SPDX-License-Identifier: Apache-2.0
"""Laws: what holds for all values, all groupings of clients and all expansions."""

import dataclasses
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fedlearn_edu as fl
from fedlearn_edu.framework import (
    Computation,
    Context,
    ReferenceContext,
    all_intrinsics,
    compile_tree,
    intrinsic_named,
)
from fedlearn_edu.ir.traversal import intrinsics
from fedlearn_edu.language.intrinsic import expansion
from fedlearn_edu.testing import assert_conforms, assert_same, cases, difference, run_in
from tests.conformance.by_hand import context_over, grouped
from tests.conformance.stacks import count_clients
from tests.ir.checking import check
from tests.programs import local

# The language's own, before any test defines more.
PRIMITIVES = frozenset(d.uri for d in all_intrinsics() if d.is_primitive)
DERIVED = frozenset(d.uri for d in all_intrinsics()) - PRIMITIVES
INTS = fl.type_at_clients(np.int32)
FLOATS = fl.type_at_clients(np.float32)

TOTAL = fl.federated_computation(fl.federated_sum, INTS)
MEAN = fl.federated_computation(fl.federated_mean, FLOATS)
WEIGHTED = fl.federated_computation(
    lambda v, w: fl.federated_mean(v, w), FLOATS, FLOATS
)
EXTREMES = fl.federated_computation(
    lambda v: (fl.federated_min(v), fl.federated_max(v)), INTS
)
COLLECTED = fl.federated_computation(fl.federated_collect, INTS)

REFERENCE = ReferenceContext()
FLAT = local(support_sequence_ops=True)
IN_GROUPS = [
    local(max_fanout=fanout, support_sequence_ops=True) for fanout in (2, 3, 4)
]
EVERYWHERE = [REFERENCE, FLAT, *IN_GROUPS]

int32s = st.integers(-(2**31), 2**31 - 1)
# Integers as floats: their sums are exact, so that every grouping gives the same bits.
exact_floats = st.integers(-1000, 1000).map(float)
# So is a product with one of these weights.
weights = st.sampled_from([0.25, 0.5, 1.0, 2.0, 4.0])


def _run(context: Context, computation: Any, *arguments: Any) -> Any:
    with context:
        return computation(*arguments)


def _wrapped(total: int) -> np.int32:
    return np.int64(total).astype(np.int32)


# ---------------------------------------------------------------- expansion


def test_expansion_preserves_type_and_meaning() -> None:
    """What is left after expansion is primitive, well typed, and means the same.

    The expansion of an intrinsic may stand wherever the intrinsic stood.
    """
    for case in cases():
        tree = case.computation.tree
        expanded = compile_tree(tree, PRIMITIVES)
        check(tree)
        check(expanded)
        assert expanded.type == tree.type, case
        assert {i.uri for i in intrinsics(expanded)} <= PRIMITIVES, case
        for intrinsic in intrinsics(tree):
            definition = intrinsic_named(intrinsic.uri)
            if not definition.is_primitive:
                assert expansion(definition, intrinsic.type).type == intrinsic.type
        written_out = dataclasses.replace(
            case, build=partial(Computation, expanded, case.name)
        )
        found = run_in(REFERENCE, written_out)
        assert difference(found, case.expected) is None, case


def test_cases_use_every_derived_intrinsic() -> None:
    used = {i.uri for case in cases() for i in intrinsics(case.computation.tree)}
    # `federated_apply` is recorded as the map it is.
    assert used >= DERIVED - {"federated_apply"}


# ---------------------------------------------------------------- grouping


@given(st.lists(st.lists(int32s, max_size=3), min_size=1, max_size=4))
def test_any_grouping_gives_what_one_group_gives(groups: list[list[int]]) -> None:
    """Groups may be of any size, even empty: this is what makes composing legal."""
    values = [value for group in groups for value in group]
    context = context_over(grouped([len(group) for group in groups]))
    assert_same(_run(context, TOTAL, values), _wrapped(sum(values)))
    assert_same(_run(context, COLLECTED, values), values)
    assert_same(_run(context, EXTREMES, values), _run(REFERENCE, EXTREMES, values))


@given(st.lists(st.tuples(exact_floats, weights), min_size=1, max_size=9))
def test_mean_over_any_fanout_is_the_flat_mean(
    pairs: list[tuple[float, float]],
) -> None:
    values, weight = [v for v, _ in pairs], [w for _, w in pairs]
    plain = _run(FLAT, MEAN, values)
    weighted = _run(FLAT, WEIGHTED, values, weight)
    assert_same(plain, np.float32(np.mean(values)))
    assert_same(weighted, np.float32(np.average(values, weights=weight)))
    for context in IN_GROUPS:
        assert _run(context, MEAN, values) == plain
        assert _run(context, WEIGHTED, values, weight) == weighted


# ---------------------------------------------------------------- order and equality


@given(st.permutations([0.1, 2.7, -1e3, 1e4, 3.3]))
def test_order_of_clients_hardly_matters_to_a_mean(values: Sequence[float]) -> None:
    """A mean depends on the order of clients by rounding only: 1e-6, relatively."""
    assert_same(_run(FLAT, MEAN, values), np.float32(1801.22), relative=1e-6)


@given(
    st.floats(-(2.0**90), 2.0**90, width=32, allow_subnormal=False), st.integers(1, 7)
)
def test_mean_of_equal_values_is_that_value(value: float, count: int) -> None:
    for context in EVERYWHERE:
        assert_same(_run(context, MEAN, [value] * count), np.float32(value))
        assert_same(
            _run(context, WEIGHTED, [value] * count, [0.5] * count), np.float32(value)
        )


@given(st.lists(int32s, max_size=6), st.lists(int32s, max_size=6))
def test_sum_is_linear(left: list[int], right: list[int]) -> None:
    """The sum of sums is the sum of all, also when it wraps around."""
    size = min(len(left), len(right))
    both = fl.federated_computation(
        lambda v, w: (
            fl.federated_sum(v + w),
            fl.federated_sum(v) + fl.federated_sum(w),
        ),
        INTS,
        INTS,
    )
    for context in EVERYWHERE:
        first, second = _run(context, both, left[:size], right[:size])
        assert first == second


# ---------------------------------------------------------------- sequences

DATA = fl.type_at_clients(fl.SequenceType(np.int32))
ADD = fl.federated_computation(lambda a, b: a + b, np.int32, np.int32)
TRIPLE = fl.federated_computation(lambda x: x * 3, np.int32)
LESS_ONE = fl.federated_computation(lambda x: x - 1, np.int32)


@given(st.lists(st.lists(st.integers(-99, 99), max_size=4), max_size=5))
def test_sum_of_a_sequence_is_its_reduction_by_addition(data: list[list[int]]) -> None:
    both = fl.federated_computation(
        lambda d: (fl.sequence_sum(d), fl.sequence_reduce(d, np.int32(0), ADD)), DATA
    )
    for context in EVERYWHERE:
        sums = [sum(own) for own in data]
        assert_same(_run(context, both, data), (sums, sums))


@given(st.lists(st.lists(st.integers(-99, 99), max_size=4), max_size=5))
def test_map_after_map_is_one_map(data: list[list[int]]) -> None:
    together = fl.federated_computation(lambda x: LESS_ONE(TRIPLE(x)), np.int32)
    both = fl.federated_computation(
        lambda d: (
            fl.sequence_map(LESS_ONE, fl.sequence_map(TRIPLE, d)),
            fl.sequence_map(together, d),
        ),
        DATA,
    )
    expected = [[x * 3 - 1 for x in own] for own in data]
    for context in EVERYWHERE:
        assert_same(_run(context, both, data), (expected, expected))


# ------------------------------------------------------------ the machine as a whole


@pytest.mark.parametrize("count", [2, 3, 5, 6])
def test_uneven_groups_agree_with_the_reference(count: int) -> None:
    """A hierarchy like no factory builds: nobody, one, nobody, the rest."""
    fitting = [case for case in cases() if count_clients(case) == count]
    context = context_over(grouped([0, 1, 0, count - 1]))
    report = assert_conforms(context, fitting)
    assert report.agreed == tuple(case.name for case in fitting) != ()
