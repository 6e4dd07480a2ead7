# SPDX-License-Identifier: Apache-2.0
"""Client drift: the paths are those of the library's training, and so is the mean."""

import math
from typing import Any

import numpy as np
import pytest

from fedlearn_edu import learning, viz
from fedlearn_edu.viz import style
from fedlearn_edu.viz.explorers.drift import DriftPicture, _checked
from fedlearn_edu.viz.explorers.drift_drawing import DriftDrawing
from fedlearn_edu.viz.explorers.drift_paths import (
    BATCH_SIZE,
    MOST_EPOCHS,
    Paths,
    WorkStopped,
    digits,
    find_paths,
    flat,
    model,
)
from fedlearn_edu.viz.explorers.drift_plane import DriftPlane, find_plane
from tests.viz.drawn_text import check_figure

pytestmark = pytest.mark.tensorflow

DATA, RATE, EPOCHS = "dirichlet_1", 0.3, 3


def go_on(done: int, total: int) -> bool:
    return False


@pytest.fixture(scope="module")
def paths() -> Paths:
    return find_paths(DATA, RATE, go_on)


@pytest.fixture(scope="module")
def plane(paths: Paths) -> DriftPlane:
    return find_plane(DATA, paths, 10)


@pytest.fixture(scope="module")
def one_round() -> Any:
    """The weights after one round of FedAvg over the same clients."""
    process = learning.build_fed_avg(model(), RATE, local_epochs=EPOCHS)
    placed = digits(DATA).place(batch_size=BATCH_SIZE)
    return process.next(process.initialize(), placed)[0].weights


def test_the_mean_of_the_updates_is_a_round_of_fed_avg(
    paths: Paths, one_round: Any
) -> None:
    mean = np.average(paths.updates[EPOCHS - 1], axis=0, weights=paths.examples)
    np.testing.assert_allclose(mean, flat(one_round), atol=2e-5)


@pytest.mark.slow
def test_the_losses_are_those_of_an_evaluation(
    plane: DriftPlane, one_round: Any
) -> None:
    evaluate = learning.build_federated_evaluation(model())
    judged = evaluate(one_round, digits(DATA).place(batch_size=1000))
    found = judged.metrics["loss_per_example"]
    assert plane.new_losses[EPOCHS] == pytest.approx(found, rel=1e-4)
    assert plane.new_losses[0] == pytest.approx(math.log(10), rel=1e-5)


def test_fewer_epochs_are_the_beginning_of_the_same_paths(paths: Paths) -> None:
    for client, steps in enumerate(paths.steps):
        batches = paths.batches[client]
        assert len(steps) == MOST_EPOCHS * batches + 1
        assert not steps[0].any()
        for epoch in (1, 4, MOST_EPOCHS):
            there = paths.updates[epoch - 1, client] @ paths.basis.T
            np.testing.assert_allclose(steps[epoch * batches], there, atol=1e-4)


def test_batches_are_counted_per_client(paths: Paths) -> None:
    sizes = digits(DATA).num_examples
    assert paths.examples.tolist() == sizes.tolist()
    assert paths.batches.tolist() == [math.ceil(n / BATCH_SIZE) for n in sizes]


def test_the_plane_holds_the_principal_components(
    plane: DriftPlane, paths: Paths
) -> None:
    last = paths.updates[-1].astype(float)
    values = np.linalg.svd(last, compute_uv=False) ** 2
    assert plane.shares[-1] == pytest.approx(values[:2].sum() / values.sum())
    ends = np.stack([steps[-1] for steps in plane.steps])
    np.testing.assert_allclose((ends**2).sum(axis=0), values[:2], rtol=1e-3)
    assert (plane.means[-1] >= 0).all()


def test_two_clients_and_the_server_are_a_plane(paths: Paths) -> None:
    plane = find_plane(DATA, paths, 2)
    assert plane.shares[-1] == pytest.approx(1.0)
    assert plane.cosines.shape == (MOST_EPOCHS, 2, 2)
    mean = np.average(
        [steps[-1] for steps in plane.steps], axis=0, weights=paths.examples[:2]
    )
    np.testing.assert_allclose(plane.means[-1], mean, atol=1e-3)


def test_cosines_are_of_the_full_updates(plane: DriftPlane, paths: Paths) -> None:
    first, second = paths.updates[2, :2].astype(float)
    cosine = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
    assert plane.cosines[2, 0, 1] == pytest.approx(cosine)
    np.testing.assert_allclose(np.diagonal(plane.cosines[2]), 1.0)


def test_contours_are_of_the_loss_of_everybody(plane: DriftPlane) -> None:
    """At the server's old model, the origin, all classes are alike."""
    x, y = (np.interp(0.0, c + plane.side, np.arange(23.0)) for c in plane.corner)
    near = plane.losses[int(y) : int(y) + 2, int(x) : int(x) + 2]
    assert near.min() <= math.log(10) <= near.max()
    assert plane.losses.min() < plane.new_losses[0]


def test_the_work_can_be_stopped() -> None:
    told = []

    def stop(done: int, total: int) -> bool:
        told.append((done, total))
        return done == 2

    with pytest.raises(WorkStopped):
        find_paths(DATA, RATE, stop)
    assert [done for done, _ in told] == [0, 1, 2]


@pytest.mark.parametrize("width", [4.5, 6.4, 10.0])
def test_the_picture_is_whole(width: float, plane: DriftPlane) -> None:
    picture = DriftPicture(width)
    values: dict[str, Any] = {"data": DATA, "rate": RATE, "clients": 10, "epochs": 5}
    check_waiting(picture, values)
    picture._planes[DATA, RATE, 10] = plane
    style.say(picture.figure, picture.show(**values))
    texts = check_figure(picture.figure)
    assert {"Cosines", "loss (nats)", "client", "new model"} <= set(texts)


def test_clients_that_stay_away_leave_the_picture(
    paths: Paths, plane: DriftPlane
) -> None:
    drawing = DriftDrawing(6.4)
    for clients in (10, 2, 10):
        shown = plane if clients == 10 else find_plane(DATA, paths, clients)
        drawing.show(shown, EPOCHS)
        lines = drawing.figure.axes[0].lines
        ends = [line for line in lines if str(line.get_marker()).startswith("$")]
        seen = [line for line in ends if np.isfinite(line.get_xydata()).all()]
        assert len(seen) == clients


def check_waiting(picture: DriftPicture, values: Any) -> None:
    asked: list[bool] = []
    picture.ask = lambda: asked.append(True)
    assert picture.show(**values).endswith("not computed yet.")
    style.say(picture.figure, "waiting")
    assert "computing …" in check_figure(picture.figure)
    assert asked == [True]


@pytest.mark.slow
@pytest.mark.parametrize("width", [4.5, 6.4])
@pytest.mark.parametrize(
    "options",
    [
        {"data": "one_label_per_client", "clients": 3},
        {"data": "iid", "clients": 2, "learning_rate": 1, "local_epochs": 1},
        {"data": "dirichlet_0.1", "learning_rate": 0.05, "local_epochs": 10},
    ],
    ids=["one digit", "two alike", "skewed"],
)
def test_static_pictures_say_what_they_show(options: Any, width: float) -> None:
    figure = viz.draw_drift(**options, width_in=width)
    check_figure(figure)
    assert "on everybody's digits, the old model 2.30" in style.said(figure)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"data": "nobody's"}, "data"),
        ({"data": 3}, "data"),
        ({"clients": 1}, "clients"),
        ({"clients": 100}, "clients"),
        ({"learning_rate": math.nan}, "learning_rate"),
        ({"learning_rate": 0}, "learning_rate"),
        ({"learning_rate": "fast"}, "learning_rate"),
        ({"local_epochs": 2.5}, "local_epochs"),
    ],
    ids=["unknown", "number", "one", "hundred", "nan", "zero", "text", "half"],
)
@pytest.mark.parametrize("make", ["draw_drift", "explore_drift"])
def test_bad_arguments_are_named(make: str, options: Any, name: str) -> None:
    with pytest.raises(style.FigureDataError, match=f"with this {name}"):
        getattr(viz, make)(**options)


@pytest.mark.slow
def test_the_explorer_computes_by_itself_and_follows() -> None:
    explorer = viz.explore_drift("iid", clients=4, learning_rate=0.3)
    job: Any = explorer.job
    job.wait()
    assert job.error is None
    assert explorer.sentence.startswith("IID, 4 clients, learning rate 0.3. After 5")
    first, shown = explorer.sentence, explorer.children[-1].value
    explorer.controls["epochs"].source.value = 8
    assert explorer.sentence.startswith("IID, 4 clients, learning rate 0.3. After 8")
    assert explorer.children[-1].value != shown
    explorer.set(rate=0.1, clients=5, epochs=5)
    job.wait()
    assert explorer.sentence.startswith("IID, 5 clients, learning rate 0.1. After 5")
    explorer.set(rate=0.3, clients=4)
    assert explorer.sentence == first


@pytest.mark.slow
def test_the_explorer_can_be_stopped_and_goes_on() -> None:
    explorer = viz.explore_drift("dirichlet_0.1", learning_rate=0.07)
    job: Any = explorer.job
    job.stop()
    job.wait()
    assert "stopped" in job.line
    assert explorer.sentence.endswith("not computed yet.")
    job.begin.click()
    job.wait()
    assert "learning rate 0.07. After 5 local epochs" in explorer.sentence


@pytest.mark.parametrize("name", ["clients", "epochs"])
def test_counts_may_be_those_of_numpy(name: str) -> None:
    found = _checked("iid", np.int64(3), 0.1, np.int32(2))
    assert found == {"data": "iid", "clients": 3, "rate": 0.1, "epochs": 2}
    assert type(found[name]) is int
