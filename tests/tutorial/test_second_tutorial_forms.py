# SPDX-License-Identifier: Apache-2.0
"""Other forms of the second tutorial's program: the same numbers, to the last of them.

The form its prose tells (the element function captures the learning rate, evaluation
is a `sequence_sum` of a mapped sequence) could never run where it was told.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.tutorial.conftest import Run

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

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


def test_captured_rate_is_the_one_of_the_call(small_run: Run) -> None:
    """Nothing of one call stays behind in the next: a rate of zero changes nothing."""
    names = small_run.names
    ours = write("as_its_prose_tells", names)
    client = names.federated_train_data[5]
    trained = ours.local_train(names.initial_model, 0.1, client)
    assert np.abs(trained["weights"]).max() > 0
    unchanged = ours.local_train(names.initial_model, 0.0, client)
    assert np.abs(unchanged["weights"]).max() == 0
