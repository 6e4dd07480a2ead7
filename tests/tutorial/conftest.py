# SPDX-License-Identifier: Apache-2.0
"""Runs the second tutorial's script on data of the test's choice.

TensorFlow is imported when a fixture is asked for, not when tests are collected.
"""

import contextlib
import io
import runpy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fedlearn_edu.simulation import datasets

SCRIPT = Path(__file__).with_name("second_tutorial.py")


@dataclass(frozen=True)
class Run:
    """What the script printed, and the names it defined."""

    printed: str
    names: SimpleNamespace


def run_script(train: datasets.dataset.Split, test: datasets.dataset.Split) -> Run:
    from fedlearn_edu import tf

    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        keras_mnist = tf.keras.datasets.mnist
        patch.setattr(keras_mnist, "load_data", lambda: (train, test))
        with contextlib.redirect_stdout(printed):
            names = runpy.run_path(str(SCRIPT))
    return Run(printed.getvalue(), SimpleNamespace(**names))


@contextlib.contextmanager
def default_context_restored() -> Iterator[None]:
    """The script replaces the default context, as its readers are told to."""
    from fedlearn_edu.framework import set_default_context
    from fedlearn_edu.language.context_stack import current_context

    before = current_context()
    yield
    set_default_context(before)


@pytest.fixture(scope="session")
def mnist_run(mnist_folder: Path) -> Iterator[Run]:
    """The script as published, on the real MNIST."""
    with default_context_restored():
        yield run_script(*datasets.read_mnist(mnist_folder / "mnist.npz"))


@pytest.fixture(scope="session")
def small_run() -> Iterator[Run]:
    """The same script on some of the embedded digits: one batch per client."""
    (x, y), (x_test, y_test) = datasets.load_digits28()
    with default_context_restored():
        yield run_script((x[:200], y[:200]), (x_test[:200], y_test[:200]))


@pytest.fixture(scope="session")
def small_clients() -> list[list[dict[str, Any]]]:
    """Seven clients with batches of 4, 4 and 2 embedded digits; the last has one."""
    from fedlearn_edu.simulation.partitions import batches, one_label_per_client

    images, labels = datasets.load_digits28().train
    dealt = one_label_per_client(labels, num_clients=7, examples_per_client=10)
    clients = [batches(images, labels, indices, 4) for indices in dealt]
    return [
        [dict(batch) for batch in client] for client in [*clients[:-1], clients[-1][:1]]
    ]
