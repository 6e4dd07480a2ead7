# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""The second tutorial's program as published, in other forms, on other stacks."""

import re
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
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

PUBLISHED = Path(__file__).with_name("published_output.txt").read_text("utf-8")
NUMBER = re.compile(r"\d+\.\d+")


def test_text_between_the_numbers_is_as_published(mnist_run: Run) -> None:
    """Greeting, types, type signatures and captions, to the letter."""
    assert NUMBER.sub("#", mnist_run.printed) == NUMBER.sub("#", PUBLISHED)


def test_every_number_is_as_published(mnist_run: Run) -> None:
    """To 1e-5, relative: another order of additions makes no more difference."""
    published, ours = (
        [float(number) for number in NUMBER.findall(text)]
        for text in (PUBLISHED, mnist_run.printed)
    )
    assert len(published) == 1 + 5 + 4 + 2 + 5 + 2
    assert ours == pytest.approx(published, rel=1e-5)


def test_results_are_what_a_learner_would_have_written(small_run: Run) -> None:
    names = small_run.names
    model, loss = names.model, names.loss
    assert names.hello_world() == b"Hello, World!"
    assert type(model) is OrderedDict
    assert list(model) == ["weights", "bias"]
    assert {type(value) for value in model.values()} == {np.ndarray}
    assert (model["weights"].dtype, model["weights"].shape) == (np.float32, (784, 10))
    assert type(loss) is np.float32
    assert names.federated_train.type_signature.result == names.SERVER_MODEL_TYPE


# ----------------------------------------
# Other forms of the second tutorial's program: the same numbers, to the last of them
#
# The form its prose tells (the element function captures the learning rate, evaluation
# is a `sequence_sum` of a mapped sequence) could never run where it was told.


ROUNDS = (21.605522156, 20.365678787, 19.274801254, 18.311111450, 17.457254410)
OTHER_FORMS = [
    "as_its_prose_tells",
    "in_tensorflow",
    "in_tensorflow_calling_computations",
]
CLOSE: dict[str, Any] = {"rel": 1e-5}


def write(form: str, program: SimpleNamespace) -> Any:
    from tests.tutorial.second_forms import FORMS

    return FORMS[form](program)


def as_dataset(client: list[dict[str, Any]], batch_size: int = 100) -> Any:
    import tensorflow as tf

    columns = {name: np.concatenate([b[name] for b in client]) for name in ("x", "y")}
    return tf.data.Dataset.from_tensor_slices(columns).batch(batch_size)


@pytest.mark.parametrize("form", OTHER_FORMS)
def test_form_gives_the_published_numbers(form: str, mnist_run: Run) -> None:
    names = mnist_run.names
    train, test = names.federated_train_data, names.federated_test_data
    ours = write(form, names)

    lone = ours.local_train(names.initial_model, 0.1, train[5])
    assert ours.local_eval(names.initial_model, train[5]) == pytest.approx(
        23.025854, **CLOSE
    )
    assert ours.local_eval(lone, train[5]) == pytest.approx(0.43484688, **CLOSE)
    assert ours.local_eval(lone, train[0]) == pytest.approx(74.50075, **CLOSE)
    assert ours.federated_eval(lone, train) == pytest.approx(54.432625, **CLOSE)

    model, learning_rate, losses = names.initial_model, 0.1, []
    for _ in range(5):
        model = ours.federated_train(model, learning_rate, train)
        learning_rate *= 0.9
        losses.append(ours.federated_eval(model, train))
    assert losses == pytest.approx(ROUNDS, **CLOSE)
    assert ours.federated_eval(model, test) == pytest.approx(17.278767, **CLOSE)


@pytest.mark.parametrize("form", ["as_published", *OTHER_FORMS])
def test_clients_may_bring_datasets(form: str, mnist_run: Run) -> None:
    """One `tf.data.Dataset` per client in place of a list of batches."""
    names = mnist_run.names
    data = [as_dataset(client) for client in names.federated_train_data]
    ours = write(form, names)
    model = ours.federated_train(names.initial_model, 0.1, data)
    assert ours.federated_eval(model, data) == pytest.approx(ROUNDS[0], **CLOSE)


# ----------------------------------------
# The second tutorial's program on every kind of stack: one meaning, one answer


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
    ours, model, losses = write(form, run.names), run.names.initial_model, []
    for learning_rate in (0.1, 0.09):
        model = ours.federated_train(model, learning_rate, clients)
        losses.append(ours.federated_eval(model, clients))
    return model, losses


@pytest.fixture(
    scope="module",
    params=[
        "as_published",
        *(pytest.param(form, marks=pytest.mark.thorough) for form in OTHER_FORMS),
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


@pytest.mark.thorough
@pytest.mark.parametrize("processes", [False, True])
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
