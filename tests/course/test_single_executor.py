# SPDX-License-Identifier: Apache-2.0
"""The strategy of lesson 7, two methods short; and its groups of groups."""

import pytest

import fedlearn_edu as fl
from fedlearn_edu.course.checks import exercise_named
from fedlearn_edu.course.single_executor import SingleExecutorStrategy
from fedlearn_edu.framework import (
    FederatingExecutor,
    SyncExecutionContext,
    local_executor_factory,
)
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


def test_room_with_both_methods_keeps_to_the_language() -> None:
    strategy = exercise_named("folds_in_order").solution
    refused = [case.name for case in cases() if primitives(case) & set(LACKS)]
    report = assert_conforms(context(strategy), lacks=LACKS)
    assert list(report.refused) == refused
    assert len(report.agreed) == len(cases()) - len(refused)
    assert len(report.agreed) > 200, "the lesson says so"


@pytest.mark.parametrize(("clients", "fan_out"), [(6, 3), (9, 2), (7, 3), (5, 5)])
def test_groups_are_made_as_the_lesson_counts_them(clients: int, fan_out: int) -> None:
    factory = local_executor_factory(max_fanout=fan_out)
    top = vars(factory.create_executor({fl.CLIENTS: clients}))["_target"]
    assert isinstance(top, FederatingExecutor)
    server_and_groups = top.strategy.targets
    count = exercise_named("messages_at_top").solution(clients, fan_out)
    assert len(server_and_groups) == 1 + count
