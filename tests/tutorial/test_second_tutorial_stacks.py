# SPDX-License-Identifier: Apache-2.0
"""The second tutorial's program on every kind of stack: one meaning, one answer."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from benchmarks.in_numpy import losses_of
from benchmarks.workloads import Workload
from fedlearn_edu import framework
from fedlearn_edu.language.context_stack import Context
from fedlearn_edu.testing import assert_same
from tests.tutorial.conftest import Run

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

ALL_FORMS = [
    "as_published",
    "as_its_prose_tells",
    "in_tensorflow",
    "in_tensorflow_calling_computations",
]
Clients = list[list[dict[str, Any]]]


def local(**options: Any) -> Context:
    factory = framework.local_executor_factory(support_sequence_ops=True, **options)
    return framework.SyncExecutionContext(factory)


def sizing() -> Context:
    factory = framework.sizing_executor_factory(support_sequence_ops=True)
    return framework.SyncExecutionContext(factory)


# Stacks that compute in the same order give the same bits; groups of clients fold
# within themselves first, and one product for all clients rounds differently from one
# for each. All stacks meet in the conformance cases.
SAME_ORDER: dict[str, Callable[[], Context]] = {
    "one thread": lambda: local(use_threads=False)
}
OTHER_ORDER: dict[str, Callable[[], Context]] = {
    "sizing": sizing,
    "reference": framework.ReferenceContext,
    "groups of groups of two": lambda: local(max_fanout=2),
}


def two_rounds(form: str, run: Run, clients: Clients) -> tuple[Any, list[float]]:
    """Two rounds in the current context: the model, and the loss after each round."""
    from tests.tutorial.second_forms import FORMS

    ours, model, losses = FORMS[form](run.names), run.names.initial_model, []
    for learning_rate in (0.1, 0.09):
        model = ours.federated_train(model, learning_rate, clients)
        losses.append(ours.federated_eval(model, clients))
    return model, losses


@pytest.fixture(
    scope="module",
    params=[
        *ALL_FORMS[:1],
        *(pytest.param(form, marks=pytest.mark.thorough) for form in ALL_FORMS[1:]),
    ],
)
def expected(
    request: pytest.FixtureRequest, small_run: Run, small_clients: Clients
) -> tuple[str, Any, list[float]]:
    """A form, and what the plain local stack makes of it."""
    with local():
        return (request.param, *two_rounds(request.param, small_run, small_clients))


def test_local_stack_agrees_with_a_loop_in_numpy(
    expected: tuple[str, Any, list[float]], small_clients: Clients
) -> None:
    """The oracle of the oracle shares no code with the package."""
    clients: Any = tuple(
        tuple(np.concatenate([batch[name] for batch in client]) for name in "xy")
        for client in small_clients
    )
    workload = Workload("as in the tutorial", clients, 4, (0.1, 0.09))
    assert expected[2] == pytest.approx(losses_of(workload), 1e-5)


@pytest.mark.parametrize("stack", SAME_ORDER | OTHER_ORDER)
def test_stacks_agree_to_the_bit_in_the_same_order_of_clients(
    stack: str,
    expected: tuple[str, Any, list[float]],
    small_run: Run,
    small_clients: Clients,
) -> None:
    """But for rounding, in another order."""
    form, model, losses = expected
    with (SAME_ORDER | OTHER_ORDER)[stack]():
        found, found_losses = two_rounds(form, small_run, small_clients)
    rounding = 0.0 if stack in SAME_ORDER else 1e-7
    for name in ("weights", "bias"):
        np.testing.assert_allclose(
            found[name], model[name], rtol=rounding, atol=rounding
        )
    assert found_losses == pytest.approx(losses, rel=10 * rounding, abs=0)


@pytest.mark.parametrize(
    "processes", [False, pytest.param(True, marks=pytest.mark.thorough)]
)
def test_cluster_gives_the_bits_of_the_same_groups_here(
    processes: bool,
    expected: tuple[str, Any, list[float]],
    small_run: Run,
    small_clients: Clients,
) -> None:
    form = expected[0]
    with local(max_fanout=3):
        here = two_rounds(form, small_run, small_clients)
    with fl.remote.local(2, max_fanout=3, processes=processes):
        there = two_rounds(form, small_run, small_clients)
    assert_same(there, here, relative=0)
