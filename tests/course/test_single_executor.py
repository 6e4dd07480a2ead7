# SPDX-License-Identifier: Apache-2.0
"""The strategy of lesson 7, two methods short, and as learners complete it."""

import pytest

from fedlearn_edu.course.checks import exercise_named
from fedlearn_edu.course.single_executor import SingleExecutorStrategy
from fedlearn_edu.framework import SyncExecutionContext, local_executor_factory
from fedlearn_edu.testing import assert_conforms, cases, primitives

LACKS = ("federated_select", "federated_pairwise_masks")


def context(strategy: type) -> SyncExecutionContext:
    return SyncExecutionContext(
        local_executor_factory(strategy=strategy, support_sequence_ops=True)
    )


def test_room_lacks_what_the_exercises_ask_for() -> None:
    needed = exercise_named("enough_for_a_mean").solution
    missing = set(needed) - set(SingleExecutorStrategy.implemented)
    assert missing == {"federated_map", "federated_aggregate"}


@pytest.mark.parametrize("name", ["folds_in_order", "folds_in_halves"])
def test_room_with_both_methods_keeps_to_the_language(name: str) -> None:
    strategy = exercise_named(name).solution
    refused = [case.name for case in cases() if primitives(case) & set(LACKS)]
    report = assert_conforms(context(strategy), lacks=LACKS)
    assert list(report.refused) == refused
    assert len(report.agreed) == len(cases()) - len(refused)
    assert len(report.agreed) > 200, "the lesson says so"
