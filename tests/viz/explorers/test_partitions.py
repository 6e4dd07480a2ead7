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


LIBRARY: dict[str, Any] = {
    "one_label_per_client": lambda y: partitions.one_label_per_client(y, seed=3),
    "labels_per_client": lambda y: partitions.labels_per_client(y, 10, 2, seed=3),
    "shards": lambda y: partitions.shards(y, 10, 2, seed=3),
    "dirichlet": lambda y: partitions.dirichlet(y, 10, 0.5, seed=3),
    "log_normal_sizes": lambda y: partitions.log_normal_sizes(y, 10, 1.0, seed=3),
    "power_law_sizes": lambda y: partitions.power_law_sizes(y, 10, 1.0, seed=3),
    "iid": lambda y: partitions.iid(y, 10, seed=3),
}


@pytest.mark.parametrize("name", PARTITIONERS)
def test_every_partition_is_that_of_the_library(explorer: Explorer, name: str) -> None:
    explorer.children[1].children[-2].click()
    explorer.set(partition=name, seed=3)
    partitioner = PARTITIONERS[name]
    labels = datasets.load_digits28().train[1]
    skew = partitions.describe_skew(labels, LIBRARY[name](labels))
    np.testing.assert_allclose(counts(explorer), skew.histogram / skew.sizes[:, None])
    assert f"variation {skew.total_variation.mean():.2f}" in explorer.sentence
    assert f"labels {skew.effective_labels.mean():.2f}" in explorer.sentence
    assert explorer.sentence.startswith(partitioner.title)
    assert visible(explorer) == {
        "partition",
        "clients",
        "seed",
        *([partitioner.parameter] if partitioner.parameter else []),
    }


@pytest.mark.parametrize(
    ("partition", "parameter", "value", "words"),
    [
        ("one_label_per_client", "examples", 7, "at most 7 examples"),
        ("labels_per_client", "k", 5, "k = 5"),
        ("shards", "shards", 4, "4 shards each"),
        ("dirichlet", "alpha", 100.0, "alpha 100"),
        ("log_normal_sizes", "sigma", 2.5, "sigma 2.5"),
        ("power_law_sizes", "exponent", 0.5, "exponent 0.5"),
    ],
)
def test_a_moved_parameter_changes_picture_and_sentence(
    explorer: Explorer, partition: str, parameter: str, value: Any, words: str
) -> None:
    explorer.set(partition=partition, clients=10)
    before = explorer.children[-1].value
    explorer.controls[parameter].source.value = value
    assert words in explorer.sentence
    assert explorer.children[-1].value != before


@pytest.mark.parametrize("clients", [1, 2, 20, 21, 100])
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
    before = explorer.children[-1].value
    explorer.set(clients=11)
    assert "a client would hold nothing" in explorer.children[-2].value
    assert explorer.children[-1].value == before
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


@pytest.mark.parametrize(
    "wrong",
    [
        {"clients": 0},
        {"clients": 101},
        {"clients": 2.5},
        {"partition": "fair"},
        {"partition": []},
        {"seed": -1},
        {"dataset": 7},
        {"dataset": datasets.from_arrays([[1.0], [2.0]], [0, 1])},
    ],
    ids=["0", "101", "2.5", "name", "list", "seed", "int", "no-images"],
)
def test_what_makes_no_sense_is_refused(wrong: Any) -> None:
    with pytest.raises(viz.FigureDataError):
        viz.explore_partitions(**wrong)


IMAGES = np.zeros([12, 4, 5], np.float32)


@pytest.mark.parametrize(
    ("labels", "message", "found"),
    [
        ([1, 2] * 6, "not the numbers of classes", "1, 2"),
        ([0, 2] * 6, "not the numbers of classes", "0, 2"),
        ([-1, 0] * 6, "not the numbers of classes", "-1, 0"),
    ],
    ids=["from-1", "gap", "negative"],
)
def test_labels_that_name_no_classes_are_refused(
    labels: list[int], message: str, found: str
) -> None:
    with pytest.raises(viz.FigureDataError, match=message) as caught:
        viz.explore_partitions(datasets.from_arrays(IMAGES, labels))
    assert found in str(caught.value)


def test_classes_nobody_learns_are_refused() -> None:
    train, test = (IMAGES, np.arange(12) % 2), (IMAGES, np.arange(12) % 3)
    data = datasets.from_arrays(*train, *test)
    with pytest.raises(viz.FigureDataError, match="nobody learns"):
        viz.explore_partitions(data)


@pytest.mark.tensorflow
def test_it_trains_on_images_of_any_size_and_any_classes() -> None:
    labels = np.arange(48) % 12
    images = np.eye(20, dtype=np.float32)[labels].reshape(-1, 4, 5)
    data = datasets.from_arrays(images, labels, images, labels)
    explorer = viz.explore_partitions(data, clients=2, partition="iid")
    job = explorer.job
    assert job is not None
    job.start()
    job.wait(PATIENCE_S)
    assert job.error is None, job.line
    assert "IID reads 100.0% of the test images after 5 of 5" in explorer.sentence


def test_it_begins_where_it_is_asked_to() -> None:
    explorer = viz.explore_partitions(clients=4, partition="shards", seed=5)
    assert explorer.sentence.startswith("shards, 2 shards each: 4 clients")
    assert explorer.values["seed"] == 5


@pytest.mark.tensorflow
def test_five_rounds_are_drawn_beside_the_iid_ones_and_kept() -> None:
    explorer = viz.explore_partitions(clients=3, partition="labels_per_client")
    explorer.set(k=4)
    job = explorer.job
    assert job is not None
    assert "Not trained yet." in explorer.sentence
    job.start()
    job.wait(PATIENCE_S)
    assert job.error is None, job.line
    check_figure(explorer.figure)
    assert "This partition reads" in explorer.sentence
    assert "IID reads" in explorer.sentence
    lines = [
        line for line in explorer.figure.axes[-1].lines if np.size(line.get_xdata())
    ]
    assert [np.size(line.get_xdata()) for line in lines] == [6, 6]
    accuracy = [np.asarray(line.get_ydata()) for line in lines]
    assert accuracy[0][0] == accuracy[1][0] == pytest.approx(0.1)
    assert accuracy[1][-1] > 0.8
    trained = explorer.sentence
    explorer.set(seed=1)
    assert "Not trained yet." in explorer.sentence
    explorer.set(seed=0)
    assert explorer.sentence == trained
    picture: Any = explorer.picture
    runs = [learner.run for learner in picture._learners.values()]
    job.start()
    job.wait(PATIENCE_S)
    assert [learner.run for learner in picture._learners.values()] == runs
    assert style.said(explorer.figure) == trained
