# SPDX-License-Identifier: Apache-2.0
"""What lessons 11a and 11b say of drift holds, on the embedded digits at least.

The numbers on MNIST are measured by whoever has it: the lesson prints them.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes

from fedlearn_edu import learning, viz
from fedlearn_edu.course.checks import exercise_named
from fedlearn_edu.course.lessons.drift import RATE, TWO, slope
from fedlearn_edu.learning import optimizers
from fedlearn_edu.simulation import ClientData, datasets, partitions

STEPS = 10
COMMON_OPTIMUM, WHERE_AVERAGING_STAYS = 1.3, 2.183

adam_step = exercise_named("adam_step").solution
build_my_prox = exercise_named("build_my_prox").solution
dissimilarity = exercise_named("dissimilarity").solution
mean_difference = exercise_named("mean_difference").solution
proximal_gradient = exercise_named("proximal_gradient").solution
scaffold_client = exercise_named("scaffold_client").solution
scaffold_server = exercise_named("scaffold_server").solution


def local_training(weight: float, steps: int, strength: float = 0.0) -> Any:
    """`[clients,steps + 1]`: the weights of each, with a pull back of this strength."""
    paths = []
    for client in TWO:
        path = [weight]
        for _ in range(steps):
            plain = slope(path[-1], client)
            pulled = proximal_gradient(plain, path[-1], weight, strength)
            path.append(path[-1] - RATE * pulled)
        paths.append(path)
    return np.array(paths)


def averaged(weight: float, strength: float = 0.0, steps: int = STEPS) -> float:
    """The mean of where both clients end."""
    return float(local_training(weight, steps, strength)[:, -1].mean())


def test_picture_of_local_steps_shows_where_rounds_end() -> None:
    ends = {1: COMMON_OPTIMUM, STEPS: WHERE_AVERAGING_STAYS}
    reached = dict.fromkeys(ends, 0.0)
    for steps in ends:
        for _ in range(60):
            reached[steps] = averaged(reached[steps], steps=steps)
    figure = viz.draw_local_steps(TWO, [local_training(reached[n], n) for n in ends])

    def marked(axes: Axes, *names: str) -> list[Any]:
        lines = [each for each in axes.lines if each.get_label() in names]
        return [np.asarray(each.get_xdata()) for each in lines]

    for axes, end in zip(figure.axes, ends.values(), strict=True):
        best, models = (
            marked(axes, "best weight"),
            marked(axes, "old model", "averaged model"),
        )
        assert np.ravel(best) == pytest.approx([4, 1, COMMON_OPTIMUM])
        assert np.ravel(models) == pytest.approx([end, end], abs=1e-3)
    (flat, steep), often = (marked(axes, "_steps") for axes in figure.axes)
    assert np.diff(flat) == pytest.approx(-np.diff(steep)), "both go equally far"
    flat, steep = np.abs(often[0] - 4), np.abs(often[1] - 1)
    assert steep[3] < 0.01, "soon at its optimum"
    assert 0.5 < flat[-1] < 0.4 * flat[0], "comes near its own"


@pytest.mark.parametrize(("strength", "end"), [(0, WHERE_AVERAGING_STAYS), (10, 1.618)])
def test_averaging_stays_away_and_pulling_back_stays_nearer(
    strength: float, end: float
) -> None:
    weight = 0.0
    for _ in range(60):
        weight = averaged(weight, strength)
    assert COMMON_OPTIMUM < weight == pytest.approx(end, abs=1e-3)


def test_better_server_settles_where_averaging_stays() -> None:
    weight = m = s = 0.0
    for _ in range(300):
        weight, m, s = adam_step(weight, m, s, averaged(weight) - weight, 0.1)
    assert weight == pytest.approx(WHERE_AVERAGING_STAYS, abs=1e-3)


def test_control_variates_reach_the_common_optimum() -> None:
    weight, common, variates = 0.0, 0.0, np.zeros(2)
    for _ in range(60):
        work = [
            scaffold_client(weight, client, own, common, STEPS)
            for client, own in zip(TWO, variates, strict=True)
        ]
        trained, renewed = np.transpose(work)
        weight, common = scaffold_server(common, trained, renewed - variates, len(TWO))
        variates = renewed
    assert weight == pytest.approx(COMMON_OPTIMUM, abs=1e-6)


@pytest.mark.tensorflow
def test_step_of_the_exercise_is_that_of_the_library() -> None:
    given = [[1.0, 2.0], [0.1, -0.3], [0.2, 0.0], [0.5, -1.0]]
    weights, m, s, update = np.array(given, np.float32)
    found = adam_step(weights, m, s, update, 0.03)
    adam = optimizers.build_adam(0.03)
    moments, moved = adam.next((m, s), weights, -update, 0)
    np.testing.assert_allclose(moved, found[0], rtol=1e-5)
    np.testing.assert_allclose(moments, found[1:], rtol=1e-5)


def updates_of(process: Any, mixed: bool) -> Any:
    """The update of each client in a first round, on the embedded digits."""
    images, labels = datasets.load("digits28").train
    shares: Any = partitions.one_label_per_client(labels, 10, 140, seed=0)
    if mixed:
        pile = np.random.default_rng(0).permutation(np.concatenate(list(shares)))
        shares = np.array_split(pile, 10)
    start, found = process.initialize(), []
    for client in ClientData(images, labels, shares):
        end, _ = process.next(start, [client.batches(20)])
        pairs = [(end.weights[n], start.weights[n]) for n in ("weights", "bias")]
        found.append(np.concatenate([np.ravel(new - old) for new, old in pairs]))
    return np.array(found)


@pytest.mark.slow
@pytest.mark.tensorflow
def test_pull_shortens_updates_and_leaves_them_as_different() -> None:
    model = learning.models.softmax_regression()
    plain, pulled = learning.build_fed_avg(model, 0.1), build_my_prox(model, 1.0)
    apart, held, together = (
        updates_of(process, mixed)
        for process, mixed in ((plain, False), (pulled, False), (plain, True))
    )
    for updates, lost, length in (
        (apart, 0.88, 0.84),
        (held, 0.88, 0.57),
        (together, 0.10, 0.66),
    ):
        assert dissimilarity(updates) == pytest.approx(lost, abs=0.006)
        lengths = np.linalg.norm(updates, axis=1)
        assert lengths.mean() == pytest.approx(length, abs=0.006)


def final_accuracies(build: Callable[[Any], Any], *hidden: int) -> Any:
    """In %, after the lesson's 15 rounds, one for each of its five seeds."""
    digits, m = datasets.load("digits28"), learning.models
    model = m.multilayer_perceptron(hidden) if hidden else m.softmax_regression()
    everybody = ClientData(*digits.test, [np.arange(len(digits.test[1]))])
    judge = learning.build_federated_evaluation(model).on(everybody)
    process, found = build(model), []
    for seed in range(5):
        shares = partitions.one_label_per_client(digits.train[1], 10, 140, seed=seed)
        clients, tests = ClientData(*digits.train, shares), {"test": judge}
        how: Any = {"options": learning.Options(progress=False, evaluate_every=15)}
        run = learning.run(process, clients, 15, batch_size=20, evaluate=tests, **how)
        found.append(100 * run.history.last["test.accuracy_per_example"])
    return np.array(found)


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.thorough
def test_differences_that_count_are_those_of_the_lesson() -> None:
    plain = final_accuracies(lambda model: learning.build_fed_avg(model, 0.1))
    pull: Any = partial(build_my_prox, strength=1.0)
    pulled = final_accuracies(pull)
    adaptive = final_accuracies(lambda m: learning.build_fed_adam(m, 0.1, 0.03))
    steered = final_accuracies(lambda model: learning.build_scaffold(model, 10, 0.1))
    lazy = final_accuracies(lambda model: learning.build_fed_sgd(model, 0.3))
    hard = final_accuracies(lambda m: learning.build_fed_avg(m, 0.1, local_epochs=5))
    fast = final_accuracies(lambda model: learning.build_fed_avg(model, 0.3))
    assert (lazy > hard).all(), "clients that hardly work win"
    work = (learning.build_fed_sgd, learning.build_fed_avg, pull)
    network = [final_accuracies(build, 32)[:3].mean() for build in work]
    assert network == pytest.approx([75.1, 78.2, 73.9], abs=0.6)
    for first, second, expected in (
        (lazy, plain, (4.1, 3.3)),
        (lazy, fast, (1.7, 2.5)),
        (pulled, plain, (0.2, 1.3)),
        (adaptive, plain, (6.2, 3.0)),
        (steered, plain, (4.3, 3.0)),
        (adaptive, steered, (1.9, 1.0)),
        (steered[:3], plain[:3], (5.5, 6.3)),
    ):
        mean, margin = found = mean_difference(first, second)
        assert found == pytest.approx(expected, abs=0.3)
        assert (mean > margin) == (expected[0] > expected[1])
