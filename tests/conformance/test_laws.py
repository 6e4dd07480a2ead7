# SPDX-License-Identifier: Apache-2.0
"""Laws: what holds for all values, all groupings of clients and all expansions."""

import dataclasses
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

# The language's own, before any test defines more.
PRIMITIVES = frozenset(d.uri for d in all_intrinsics() if d.is_primitive)
DERIVED = frozenset(d.uri for d in all_intrinsics()) - PRIMITIVES
INTS = fl.type_at_clients(np.int32)

TOTAL = fl.federated_computation(fl.federated_sum, INTS)
EXTREMES = fl.federated_computation(
    lambda v: (fl.federated_min(v), fl.federated_max(v)), INTS
)
COLLECTED = fl.federated_computation(fl.federated_collect, INTS)

REFERENCE = ReferenceContext()

int32s = st.integers(-(2**31), 2**31 - 1)


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


# ------------------------------------------------------------ the machine as a whole


@pytest.mark.parametrize("count", [2, 3, 5, 6])
def test_uneven_groups_agree_with_the_reference(count: int) -> None:
    """A hierarchy like no factory builds: nobody, one, nobody, the rest."""
    fitting = [case for case in cases() if count_clients(case) == count]
    context = context_over(grouped([0, 1, 0, count - 1]))
    report = assert_conforms(context, fitting)
    assert report.agreed == tuple(case.name for case in fitting) != ()
