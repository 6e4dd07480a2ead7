# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""The second tutorial's program, run as published: its printed output is ours."""

import math
import re
from collections import OrderedDict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fedlearn_edu as tff
from fedlearn_edu import tf
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


def test_zero_model_loses_log_of_ten_per_batch(mnist_run: Run) -> None:
    names = mnist_run.names
    loss = names.federated_eval(names.initial_model, names.federated_train_data)
    assert loss == pytest.approx(10 * math.log(10), rel=1e-6)
    batches = sum(map(len, names.federated_test_data))
    assert batches == 99
    loss = names.federated_eval(names.initial_model, names.federated_test_data)
    assert loss == pytest.approx(batches / 10 * math.log(10), rel=1e-6)


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


def test_step_is_plain_gradient_descent_however_often_its_cell_runs(
    small_run: Run,
) -> None:
    """A cell may be run again: its variables are new, and `forward_pass`, a
    `tf.function` of an earlier cell, has forgotten the old ones.
    """
    names = small_run.names
    arguments = (names.model, names.sample_batch, 0.1)
    expected = names.batch_train(*arguments)
    for found in (by_hand(names), by_hand(names)):
        for _ in range(2):
            ours = found(*arguments)
            np.testing.assert_array_equal(ours["weights"], expected["weights"])
            np.testing.assert_array_equal(ours["bias"], expected["bias"])


def by_hand(names: SimpleNamespace) -> Any:
    @tff.tf_computation(names.MODEL_TYPE, names.BATCH_TYPE, tf.float32)
    def batch_train(initial_model: Any, batch: Any, learning_rate: Any) -> Any:
        model_vars = OrderedDict(
            (name, tf.Variable(name=name, initial_value=value))
            for name, value in initial_model.items()
        )

        @tf.function
        def _train_on_batch(model_vars: Any, batch: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = names.forward_pass(model_vars, batch)
            grads = tape.gradient(loss, model_vars)
            for name, variable in model_vars.items():
                variable.assign_sub(learning_rate * grads[name])
            return model_vars

        return _train_on_batch(model_vars, batch)

    return batch_train
