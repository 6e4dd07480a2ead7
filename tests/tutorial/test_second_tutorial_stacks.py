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
from fedlearn_edu.errors import UnsupportedIntrinsicError
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


def test_clients_that_go_alone_agree_to_the_bit(
    expected: tuple[str, Any, list[float]], small_run: Run, small_clients: Clients
) -> None:
    form = expected[0]
    with sizing():
        one_graph_each = two_rounds(form, small_run, small_clients)
    with local(fuse=False):
        step_by_step = two_rounds(form, small_run, small_clients)
    assert_same(one_graph_each, step_by_step, relative=0)


@pytest.mark.parametrize("form", ALL_FORMS)
def test_without_sequence_support_the_cure_is_named_before_anything_runs(
    form: str, small_run: Run, small_clients: Clients
) -> None:
    """Only the forms that keep to TensorFlow run on a stack without that layer."""
    from tests.tutorial.second_forms import FORMS

    names, ours = small_run.names, FORMS[form](small_run.names)
    tape = framework.Tape()
    factory = framework.local_executor_factory(tape=tape)
    with framework.SyncExecutionContext(factory):
        if form.startswith("in_tensorflow"):
            ours.federated_train(names.initial_model, 0.1, small_clients)
            return
        for train_or_eval, arguments, missing in (
            (ours.federated_train, (names.initial_model, 0.1), "sequence_reduce"),
            (ours.federated_eval, (names.initial_model,), "sequence_map"),
        ):
            with pytest.raises(
                UnsupportedIntrinsicError, match="support_sequence_ops=True"
            ) as refused:
                train_or_eval(*arguments, small_clients)
            assert missing in str(refused.value)
    assert len(tape) == 0


@pytest.mark.parametrize(
    ("fuse", "expected", "together"),
    [(False, [3, 3, 3, 3, 3, 3, 1], 0), (True, [0] * 7, 1)],
    ids=["step by step", "fused"],
)
def test_tape_shows_every_client_at_work(
    small_run: Run,
    small_clients: Clients,
    fuse: bool,
    expected: list[int],
    together: int,
) -> None:
    """One call of `batch_train` per batch, at the client that holds the batch.

    Or one for all clients, if all that they do is one graph.
    """
    tape = framework.Tape()
    names = small_run.names
    with local(tape=tape, fuse=fuse):
        names.federated_train(names.initial_model, 0.1, small_clients)
    steps = [
        event.participant
        for event in tape
        if (event.layer, event.what) == ("leaf", "create_call")
        and event.type == str(names.MODEL_TYPE)
        and event.participant.startswith("clients")
    ]
    held = [steps.count(f"clients[{i}]") for i in range(len(small_clients))]
    assert held == expected
    groups = [event.detail for event in tape if event.what == "batched_call"]
    assert len(groups) == together
    assert all("batch_train" in detail and "7 clients" in detail for detail in groups)


def test_meter_counts_a_model_down_and_up_per_client(
    small_run: Run, small_clients: Clients
) -> None:
    """Down: model and rate. Up: model, and that it is the model of one client."""
    model_bytes, number_bytes = 4 * (784 * 10 + 10), 4
    names, num_clients = small_run.names, len(small_clients)
    factory = framework.sizing_executor_factory(support_sequence_ops=True)
    with framework.SyncExecutionContext(factory):
        names.federated_train(names.initial_model, 0.1, small_clients)
    sizes = factory.get_size_info()
    assert sizes.down[str(names.MODEL_TYPE)] == num_clients * model_bytes
    assert sizes.down["float32"] == num_clients * number_bytes
    assert sizes.bytes_up == num_clients * (model_bytes + number_bytes)


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


@pytest.mark.thorough
def test_published_losses_on_two_processes(mnist_run: Run) -> None:
    """The last ones, after five rounds."""
    names = mnist_run.names
    model, rate = names.initial_model, 0.1
    with fl.remote.local(2, max_fanout=5):
        data = fl.place(names.federated_train_data, fl.CLIENTS)
        for _ in range(5):
            model = names.federated_train(model, rate, data)
            rate *= 0.9
        found = names.federated_eval(model, data)
    published = mnist_run.printed.split("round 4, loss=")[1].split()[0]
    assert found == pytest.approx(float(published), rel=1e-6)
