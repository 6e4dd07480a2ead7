# SPDX-License-Identifier: Apache-2.0
"""Client drift: the paths are those of the library's training, and so is the mean."""

import math
from typing import Any

import numpy as np
import pytest

from fedlearn_edu import learning, viz
from fedlearn_edu.viz import style
from fedlearn_edu.viz.explorers.drift import (
    BATCH_SIZE,
    MOST_EPOCHS,
    DriftPicture,
    digits,
    find_drift,
    flat,
    model,
    trained,
)
from fedlearn_edu.viz.explorers.drift_picture import Drift, DriftDrawing
from tests.viz.drawn_text import check_figure

pytestmark = pytest.mark.tensorflow

DATA, RATE, EPOCHS = "dirichlet_1", 0.3, 3


def all_models(data: str, rate: float) -> list[Any]:
    steps = trained(data, rate)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return list(end.value)


@pytest.fixture(scope="module")
def models() -> Any:
    return all_models(DATA, RATE)


@pytest.fixture(scope="module")
def drift(models: Any) -> Drift:
    return find_drift(DATA, models, 10)


@pytest.mark.thorough
def test_the_mean_of_the_updates_is_a_round_of_fed_avg(drift: Drift) -> None:
    process = learning.build_fed_avg(model(), RATE, local_epochs=EPOCHS)
    placed = digits(DATA).place(batch_size=BATCH_SIZE)
    one_round = process.next(process.initialize(), placed)[0].weights
    np.testing.assert_allclose(drift.means[EPOCHS - 1], flat(one_round), atol=2e-5)
    evaluate = learning.build_federated_evaluation(model())
    judged = evaluate(one_round, digits(DATA).place(batch_size=1000))
    assert drift.losses[EPOCHS] == pytest.approx(judged.loss_per_example, rel=1e-4)
    assert drift.losses[0] == pytest.approx(math.log(10), rel=1e-5)


def test_paths_keep_all_of_their_length(drift: Drift) -> None:
    """Unlike in a plane through the weights, where some of it would not be seen."""
    assert drift.updates.shape == (MOST_EPOCHS, 10, 7850)
    drawn = drift.paths(EPOCHS)
    assert drawn.shape == (10, EPOCHS + 1, 2)
    assert not drawn[:, 0].any()
    lengths = np.linalg.norm(drift.updates[:EPOCHS], axis=2).T
    np.testing.assert_allclose(np.linalg.norm(drawn[:, 1:], axis=2), lengths, rtol=1e-5)
    along = np.average(drawn[:, -1, 0], weights=drift.examples)
    assert along == pytest.approx(drift.norm_of_mean(EPOCHS), rel=1e-5)
    assert drift.norm_of_mean(EPOCHS) < drift.mean_norm(EPOCHS)


def test_cosines_are_of_the_full_updates(drift: Drift) -> None:
    first, second = drift.updates[2, :2]
    cosine = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
    assert drift.cosines(3)[0, 1] == pytest.approx(cosine)
    np.testing.assert_allclose(np.diagonal(drift.cosines(3)), 1.0)


@pytest.mark.slow
def test_paths_fan_out_and_only_alike_clients_get_anywhere() -> None:
    """What lesson 11a says of this picture, with one digit per client and with IID."""
    left, angles, gone = {}, {}, {}
    for data in ("one_label_per_client", "iid"):
        drift = find_drift(data, all_models(data, 0.1), 10)
        for epochs in (2, 9):
            gone[data, epochs] = drift.norm_of_mean(epochs)
            left[data, epochs] = gone[data, epochs] / drift.mean_norm(epochs)
            angles[data, epochs] = drift.angles(epochs)
    for epochs in (2, 9):
        assert angles["one_label_per_client", epochs].min() > 80
        assert angles["iid", epochs].max() < 30
        assert left["one_label_per_client", epochs] == pytest.approx(0.12, abs=0.005)
        assert left["iid", epochs] > 0.9
    assert gone["one_label_per_client", 9] - gone["one_label_per_client", 2] < 0.02
    assert gone["iid", 9] > 2.5 * gone["iid", 2]


def test_the_picture_is_whole(drift: Drift) -> None:
    picture = DriftPicture()
    texts = check_figure(style.say(picture._drawn(drift, 5), "a round"))
    assert {"cosine of two updates", "client", "mean: new model", "old model"} <= set(
        texts
    )
    assert {str(client) for client in range(10)} <= set(texts)


def test_clients_that_stay_away_leave_the_picture(models: Any, drift: Drift) -> None:
    drawing, two = DriftDrawing(), find_drift(DATA, models, 2)
    for shown in (drift, two, drift):
        drawing.show(shown, EPOCHS)
        texts = drawing.figure.axes[0].texts
        seen = [text.get_text() for text in texts if text.get_visible()]
        assert seen == [str(client) for client in range(len(shown.examples))]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"data": "one_label_per_client", "clients": 3},
        {"data": "iid", "clients": 2, "learning_rate": 0.3, "local_epochs": 1},
        {"local_epochs": 10},
    ],
    ids=["one digit", "two alike", "skewed"],
)
def test_the_figure_waits_for_what_it_shows(options: Any) -> None:
    figure = viz.explore_drift(**options).figure
    check_figure(figure)
    assert "on everybody's digits, the old model 2.30" in style.said(figure)


@pytest.mark.slow
def test_the_explorer_computes_by_itself_and_follows() -> None:
    explorer = viz.explore_drift("iid", clients=4, learning_rate=0.3)
    explorer.wait()
    assert explorer.sentence.startswith("IID, 4 clients, learning rate 0.3. After 5")
    first, shown = explorer.sentence, explorer.shown.value
    explorer.controls["local_epochs"].source.value = 8
    explorer.wait()
    assert explorer.sentence.startswith("IID, 4 clients, learning rate 0.3. After 8")
    assert explorer.shown.value != shown
    explorer.set(learning_rate=0.1, clients=5, local_epochs=5)
    explorer.wait()
    assert explorer.sentence.startswith("IID, 5 clients, learning rate 0.1. After 5")
    explorer.set(learning_rate=0.3, clients=4)
    explorer.wait()
    assert explorer.sentence == first


def test_counts_may_be_those_of_numpy() -> None:
    counts: Any = {"clients": np.int64(3), "local_epochs": np.int32(2)}
    explorer = viz.explore_drift("iid", **counts)
    assert {type(explorer.values[name]) for name in counts} == {int}
    explorer.wait()
