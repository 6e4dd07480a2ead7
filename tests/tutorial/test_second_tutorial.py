# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="untyped-decorator"
"""The second tutorial's program, run as published: its printed output is ours."""

import math
import re
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

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


def test_computation_does_not_depend_on_its_data(small_run: Run) -> None:
    """The same text but for numbers, shapes and labels: tracing sees only types."""

    def signatures(printed: str) -> list[str]:
        return [line for line in printed.splitlines() if "->" in line]

    assert signatures(small_run.printed) == signatures(PUBLISHED)
    assert len(signatures(PUBLISHED)) == 4


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


@pytest.mark.parametrize(
    "container",
    [dict, OrderedDict, lambda batch: list(batch.values()), lambda b: (b["x"], b["y"])],
    ids=["dict", "OrderedDict", "list", "tuple"],
)
def test_batch_may_come_in_any_container(small_run: Run, container: Any) -> None:
    names = small_run.names
    batch = names.sample_batch
    assert type(batch) is dict
    loss = names.batch_loss(names.initial_model, container(batch))
    assert loss == names.batch_loss(names.initial_model, batch)


def test_arguments_go_by_position_or_by_name(small_run: Run) -> None:
    names = small_run.names
    model, batch = names.initial_model, names.sample_batch
    by_position = names.batch_train(model, batch, 0.1)
    by_name = names.batch_train(learning_rate=0.1, batch=batch, initial_model=model)
    np.testing.assert_array_equal(by_position["weights"], by_name["weights"])
    np.testing.assert_array_equal(by_position["bias"], by_name["bias"])


def test_same_run_gives_the_same_bits(small_run: Run) -> None:
    names = small_run.names
    arguments = (names.model, 0.1, names.federated_train_data)
    first, second = (names.federated_train(*arguments) for _ in range(2))
    np.testing.assert_array_equal(first["weights"], second["weights"])


@pytest.mark.parametrize("cell_run", ["first time", "again"])
def test_keras_optimizer_takes_the_rate_from_a_callable(
    cell_run: str, small_run: Run
) -> None:
    """The tutorial's optimizer line, with `lambda:` before the rate; run twice.

    A cell may be run again: its variables are new, and `forward_pass`, a `tf.function`
    of an earlier cell, has forgotten the old ones.
    """
    import tensorflow as tf

    names = small_run.names
    arguments = (names.model, names.sample_batch, 0.1)
    found = with_keras(names, lambda rate: tf.keras.optimizers.SGD(lambda: rate))
    for _ in range(2):  # every call makes a new optimizer
        expected, ours = names.batch_train(*arguments), found(*arguments)
        np.testing.assert_array_equal(ours["weights"], expected["weights"])
        np.testing.assert_array_equal(ours["bias"], expected["bias"])


def test_keras_itself_refuses_the_published_optimizer_line(small_run: Run) -> None:
    """Why that one line is changed: today's Keras takes no tensor for a rate."""
    import tensorflow as tf

    with pytest.raises(ValueError, match="`learning_rate` should be float"):
        with_keras(small_run.names, tf.keras.optimizers.SGD)


def with_keras(names: SimpleNamespace, optimizer_for: Callable[[Any], Any]) -> Any:
    import tensorflow as tf

    import fedlearn_edu as tff

    @tff.tf_computation(names.MODEL_TYPE, names.BATCH_TYPE, tf.float32)
    def batch_train(initial_model: Any, batch: Any, learning_rate: Any) -> Any:
        model_vars = OrderedDict(
            (name, tf.Variable(name=name, initial_value=value))
            for name, value in initial_model.items()
        )
        optimizer = optimizer_for(learning_rate)

        @tf.function
        def _train_on_batch(model_vars: Any, batch: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = names.forward_pass(model_vars, batch)
            grads = tape.gradient(loss, model_vars)
            flat = tf.nest.flatten(grads), tf.nest.flatten(model_vars)
            optimizer.apply_gradients(zip(*flat, strict=True))
            return model_vars

        return _train_on_batch(model_vars, batch)

    return batch_train
