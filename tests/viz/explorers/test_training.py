# SPDX-License-Identifier: Apache-2.0
"""The training explorer: run, stopped, resumed, and looked at round by round."""

from threading import Event
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fedlearn_edu import learning, viz
from fedlearn_edu.simulation import ClientData, datasets, partitions
from fedlearn_edu.viz.explorers.explorer import Explorer
from fedlearn_edu.viz.explorers.frames import explorers_context
from fedlearn_edu.viz.explorers.learner import Learner
from tests.patience import PATIENCE_S
from tests.viz.drawn_text import check_figure

pytestmark = pytest.mark.tensorflow

ROUNDS = 3


def federation(clients: int) -> tuple[ClientData, ClientData]:
    found = []
    for x, y in datasets.load_digits28():
        found.append(ClientData(x, y, partitions.iid(y, clients)))
    return found[0], found[1]


def process(rate: float = 0.1) -> learning.LearningProcess:
    return learning.build_fed_avg(learning.models.softmax_regression(), rate)


def trained(explorer: Explorer) -> Explorer:
    explorer.set(train=True)
    explorer.wait(PATIENCE_S)
    return explorer


@pytest.fixture(scope="module")
def explorer() -> Explorer:
    return trained(viz.explore_training(rounds=ROUNDS))


@pytest.fixture(scope="module")
def two() -> Explorer:
    data, test = federation(4)
    named: dict[str, Any] = {"FedAvg": process(), "too fast": lambda: process(1e38)}
    return trained(viz.explore_training(named, data, ROUNDS, test=test))


def test_it_runs_what_run_would_have_run(explorer: Explorer) -> None:
    x, y = datasets.load_digits28().train
    data = ClientData(x, y, partitions.one_label_per_client(y))
    expected = learning.run(process(), data, ROUNDS, batch_size=20)
    picture: Any = explorer.picture
    run = picture.runs["FedAvg"]
    np.testing.assert_allclose(
        run.weights["weights"], expected.weights["weights"], atol=1e-6
    )
    assert run.rounds == ROUNDS
    assert explorer.values["round_number"] == ROUNDS


def test_each_round_is_that_of_the_history(explorer: Explorer) -> None:
    picture: Any = explorer.picture
    shares = picture.runs["FedAvg"].history["test.accuracy_per_example"]
    for number in range(1, ROUNDS + 1):
        explorer.set(round_number=number)
        explorer.wait()
        after = f"after {number} round{'' if number == 1 else 's'}"
        assert f"FedAvg, {after}: {shares[number - 1]:.1%} of 360" in explorer.sentence
        texts = check_figure(explorer.figure)
        assert f"FedAvg, {after} (dotted line)" in texts
    explorer.set(round_number=0)
    explorer.wait()
    assert "before training: 10.0% of 360" in explorer.sentence


def test_panels_show_one_evaluation(explorer: Explorer) -> None:
    explorer.set(round_number=2)
    explorer.wait()
    picture: Any = explorer.picture
    seen = picture._learners["FedAvg"].snapshots[2]
    _, templates, matrix, clients = explorer.figure.axes
    strip = np.asarray(templates.images[0].get_array())
    weights = np.asarray(seen.weights["weights"])
    np.testing.assert_allclose(strip[:, 31:59], weights[:, 1].reshape(28, 28))
    shares = np.asarray(matrix.images[0].get_array())
    assert np.diag(shares) == pytest.approx(seen.evaluation.class_accuracies)
    widths = [patch.get_width() for patch in clients.patches]  # type: ignore[attr-defined]
    assert widths == pytest.approx(list(seen.evaluation.client_accuracies))


def test_a_stopped_run_keeps_its_state_and_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data, test = federation(2)
    begun, go = Event(), Event()

    def slow() -> learning.LearningProcess:
        begun.set()
        go.wait(PATIENCE_S)
        return process()

    monkeypatch.setattr("fedlearn_edu.viz.explorers.explorer._OPENS_S", 0.0)
    explorer = viz.explore_training({"FedAvg": slow}, data, 6, test=test)
    assert begun.wait(PATIENCE_S)
    assert "computing" in explorer.said.value
    explorer.set(train=False)
    go.set()
    explorer.wait(PATIENCE_S)
    assert explorer.sentence.startswith("Round 6 is not done; the newest is 0.")
    picture: Any = explorer.picture
    trained(explorer)
    run = picture.runs["FedAvg"]
    assert run.stopped is None
    assert run.history["round"].tolist() == [1, 2, 3, 4, 5, 6]
    at_once = learning.run(process(), data, 6, batch_size=20)
    np.testing.assert_array_equal(run.weights["weights"], at_once.weights["weights"])


def test_a_learner_that_is_closed_keeps_its_rounds_and_goes_on() -> None:
    data, test = federation(2)
    learner = Learner("FedAvg", process, data, test)
    with explorers_context():
        rounds = learner.train(6)
        said = [next(rounds) for _ in range(4)]
        rounds.close()  # type: ignore[attr-defined]
        assert said[-1].startswith("FedAvg: round 2 of 6")
        assert learner.run is not None
        assert (learner.rounds, learner.run.stopped) == (2, "by hand")
        assert len([*learner.train(6)]) == 4


def test_numbers_that_stop_being_numbers_are_drawn_and_said(two: Explorer) -> None:
    two.set(process="too fast", round_number=0)
    two.wait()
    assert "no longer made of numbers" in two.sentence
    assert "Others: FedAvg" in two.sentence
    check_figure(two.figure)
    crosses = [line for line in two.figure.axes[0].lines if line.get_marker() == "X"]
    assert np.size(crosses[0].get_xdata()) == 1


def test_processes_are_looked_at_one_by_one(two: Explorer) -> None:
    two.set(process="FedAvg", round_number=ROUNDS)
    two.wait()
    assert two.sentence.startswith(f"FedAvg, after {ROUNDS} rounds")
    texts = check_figure(two.figure)
    assert any(text.startswith("FedAvg") and text.endswith("%") for text in texts)
    assert any(text.startswith("too fast") and text.endswith("%") for text in texts)


def test_a_model_without_pictures_is_said() -> None:
    data, test = federation(100)
    model = learning.models.multilayer_perceptron([5])
    slow = learning.build_fed_avg(model, 0.1)
    explorer = trained(viz.explore_training(slow, data, 1, test=test))
    texts = check_figure(explorer.figure)
    assert any("no pictures" in text for text in texts)


def test_a_run_is_there_only_once_its_round_was_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nothing: Any = None
    learner = Learner("FedAvg", nothing, nothing, nothing)
    looked: list[tuple[int, int]] = []

    def look(self: Learner, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        if name == "run":
            looked.append((value.rounds, len(self.snapshots) - 1))

    monkeypatch.setattr(Learner, "__setattr__", look)
    for rounds in range(3):
        judged: Any = SimpleNamespace(accuracy_per_example=0.5)
        learner._latest = judged
        run: Any = SimpleNamespace(rounds=rounds, weights={})
        learner._remember(run)
        assert learner.rounds == rounds
    assert looked == [(0, 0), (1, 1), (2, 2)]
