# SPDX-License-Identifier: Apache-2.0
"""The partition explorer: moved without a browser, trained without waiting."""

from typing import Any

import numpy as np
import pytest

from fedlearn_edu import viz
from fedlearn_edu.simulation import datasets, partitions
from fedlearn_edu.viz import style
from fedlearn_edu.viz.explorers.explorer import Explorer
from fedlearn_edu.viz.explorers.partitions import PARTITIONERS
from tests.patience import PATIENCE_S
from tests.viz.drawn_text import check_figure


@pytest.fixture(scope="module")
def explorer() -> Explorer:
    return viz.explore_partitions()


def visible(explorer: Explorer) -> set[str]:
    return {
        name
        for name, control in explorer.controls.items()
        if control.box.layout.display != "none"
    }


def counts(explorer: Explorer) -> Any:
    return explorer.figure.axes[1].images[0].get_array()


@pytest.mark.parametrize(
    ("name", "parameter", "value", "words"),
    [
        ("one_label_per_client", "examples", 7, "at most 7 examples"),
        ("shards", "shards", 4, "4 shards each"),
        ("dirichlet", "alpha", 100.0, "alpha 100"),
        ("log_normal_sizes", "sigma", 2.5, "sigma 2.5"),
        ("iid", None, None, "IID: "),
    ],
)
def test_every_partition_is_that_of_the_library(
    explorer: Explorer, name: str, parameter: str | None, value: Any, words: str
) -> None:
    explorer.actions.children[-1].click()
    explorer.set(partition=name, seed=3)
    before = explorer.shown.value
    if parameter:
        explorer.controls[parameter].source.value = value
        assert explorer.shown.value != before
    assert PARTITIONERS[name].title[1:] in explorer.sentence
    assert words in explorer.sentence
    labels = datasets.load_digits28().train[1]
    values = [value] if parameter else []
    shares = getattr(partitions, name)(labels, 10, *values, seed=3)
    skew = partitions.describe_skew(labels, shares)
    np.testing.assert_allclose(counts(explorer), skew.histogram / skew.sizes[:, None])
    assert f"variation {skew.total_variation.mean():.2f}" in explorer.sentence
    assert f"labels {skew.effective_labels.mean():.2f}" in explorer.sentence
    shown = {"partition", "clients", "seed", "train", parameter} - {None}
    assert visible(explorer) == shown


@pytest.mark.parametrize("clients", [1, 21, 100])
def test_every_number_of_clients_is_a_whole_picture(
    explorer: Explorer, clients: int
) -> None:
    explorer.set(partition="dirichlet", alpha=0.1, clients=clients, seed=0)
    check_figure(explorer.figure)
    assert explorer.sentence.startswith("Dirichlet, alpha 0.1: ")
    assert f" {clients} client" in explorer.sentence
    assert len(counts(explorer)) == min(clients, 20)


def test_a_partition_that_cannot_be_is_said(explorer: Explorer) -> None:
    explorer.set(partition="one_label_per_client", clients=10)
    before = explorer.shown.value
    explorer.set(clients=11)
    assert "a client would hold nothing" in explorer.said.value
    assert explorer.shown.value == before
    explorer.set(clients=9)
    assert "9 clients" in explorer.sentence


def test_the_first_images_are_those_a_client_holds(explorer: Explorer) -> None:
    explorer.set(partition="one_label_per_client", clients=10)
    images, labels = datasets.load_digits28().train
    picture = np.asarray(explorer.figure.axes[0].images[0].get_array())
    high = len(picture) // 10
    shares = partitions.one_label_per_client(labels, seed=explorer.values["seed"])
    for client in range(10):
        top = client * high + (high - 28) // 2
        first = images[shares[client][0]]
        np.testing.assert_array_equal(picture[top : top + 28, 1:29], first)


def test_it_begins_where_it_is_asked_to() -> None:
    explorer = viz.explore_partitions(clients=4, partition="shards", seed=5)
    assert explorer.sentence.startswith("Shards, 2 shards each: 4 clients")
    assert explorer.values["seed"] == 5


@pytest.mark.tensorflow
def test_five_rounds_are_drawn_beside_the_iid_ones_and_kept() -> None:
    """On images of any size, of any classes."""
    labels = np.arange(48) % 12
    images = np.eye(20, dtype=np.float32)[labels].reshape(-1, 4, 5)
    data = datasets.from_arrays(images, labels, images, labels)
    explorer = viz.explore_partitions(data, clients=3, partition="shards")
    explorer.set(shards=4)
    assert "Not trained yet." in explorer.sentence
    explorer.set(train=True)
    check_figure(explorer.figure)
    assert "This partition reads" in explorer.sentence
    assert "IID reads 100.0% of the test images after 5 of 5" in explorer.sentence
    drawn = [np.asarray(line.get_ydata()) for line in explorer.figure.axes[-1].lines]
    accuracy = [values for values in drawn if values.size > 2]
    assert [values.size for values in accuracy] == [6, 6]
    assert accuracy[0][0] == accuracy[1][0] == pytest.approx(1 / 12)
    trained = explorer.sentence
    explorer.set(seed=1, train=False)
    assert "Not trained yet." in explorer.sentence
    picture: Any = explorer.picture
    runs = [learner.run for learner in picture._learners.values()]
    explorer.set(seed=0, train=True)
    explorer.wait(PATIENCE_S)
    assert explorer.sentence == trained == style.said(explorer.figure)
    assert [learner.run for learner in picture._learners.values()] == runs
