# SPDX-License-Identifier: Apache-2.0
"""What `docs/learning.md` says of MNIST is what MNIST gives."""

from pathlib import Path

import pytest

from fedlearn_edu import learning
from fedlearn_edu.simulation import ClientData, datasets, partitions
from tests.docs.pages import DOCS, section, table

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

PAGE = DOCS / "learning.md"
HEADING = "### Better on test than in training?"


def _one_digit_each(split: datasets.dataset.Split) -> ClientData:
    x, y = split
    return ClientData(x, y, partitions.one_label_per_client(y))


def test_table_of_averages_after_five_rounds(mnist_folder: Path) -> None:
    digits = datasets.read_mnist(mnist_folder / "mnist.npz")
    train, test = map(_one_digit_each, digits)
    model = learning.models.softmax_regression()
    rate = learning.optimizers.exponential_decay(0.1, 0.9)
    process = learning.build_fed_avg(model, rate, weighting="uniform")
    learned = learning.run(process, train, 5, batch_size=100)
    evaluation = learning.build_federated_evaluation(model)
    found = [
        evaluation(learned.weights, data.place(batch_size=100))
        for data in (train, test)
    ]
    _, *rows = table(section(PAGE, HEADING))
    assert len(rows) == 5
    for name, *numbers in rows:
        measured = [getattr(each, name.strip("`")) for each in found]
        # The last digit may be another one on another processor.
        assert [*map(float, numbers)] == pytest.approx(measured, abs=1.5e-4), name
