# SPDX-License-Identifier: Apache-2.0
"""Averages say of what they are, and each is what it says: worked out by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedlearn_edu.learning import build_fed_avg, build_federated_evaluation, models, run
from fedlearn_edu.learning.errors import RunError
from fedlearn_edu.learning.evaluation import Evaluation, EvaluationError
from fedlearn_edu.simulation import ClientData, datasets, partitions

pytestmark = pytest.mark.tensorflow

# A model that believes its input: x holds the scores of the three classes.
SCORES = {"weights": np.eye(3, dtype=np.float32), "bias": np.zeros(3, np.float32)}
TWO_TO_ONE = np.log([2.0, 1.0, 1.0])  # shares 1/2, 1/4, 1/4


def batch(*answers_and_labels: tuple[int, int]) -> dict[str, Any]:
    """One example each: the class the model takes it for, and the class it is of."""
    x = [np.roll(TWO_TO_ONE, answer) for answer, _ in answers_and_labels]
    y = [label for _, label in answers_and_labels]
    return {"x": np.array(x, np.float32), "y": np.array(y, np.int32)}


# Client 0: three of four right, in two unequal batches. Client 1: one, wrong.
DATA = [[batch((0, 0), (1, 1), (2, 2)), batch((0, 2))], [batch((1, 0))]]
RIGHT, WRONG = np.log(2), np.log(4)


@pytest.fixture(scope="module")
def found() -> Evaluation:
    model = models.softmax_regression(features=3, classes=3)
    return build_federated_evaluation(model)(SCORES, DATA)


def test_losses_are_averaged_as_their_names_say(found: Evaluation) -> None:
    approx = pytest.approx
    assert found.loss_per_example == approx((3 * RIGHT + 2 * WRONG) / 5)
    first, second = (3 * RIGHT + WRONG) / 4, WRONG
    assert found.client_losses.tolist() == approx([first, second])
    assert found.mean_loss_over_clients == approx((first + second) / 2)
    sums = [RIGHT + WRONG, WRONG]
    assert found.client_losses_summed_over_batches.tolist() == approx(sums)
    assert found.loss_summed_over_batches == approx(sum(sums) / 2)


def test_accuracies_are_averaged_as_their_names_say(found: Evaluation) -> None:
    assert found.accuracy_per_example == pytest.approx(3 / 5)
    assert found.client_accuracies.tolist() == pytest.approx([3 / 4, 0])
    assert found.mean_accuracy_over_clients == pytest.approx(3 / 8)


def test_confusion_has_a_row_for_each_class(found: Evaluation) -> None:
    # of class 0: one right, one taken for 1; of class 2: one right, one taken for 0
    assert found.confusion.tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 1]]
    assert found.class_accuracies.tolist() == pytest.approx([0.5, 1, 0.5])
    assert found.balanced_accuracy == pytest.approx(2 / 3)


def test_former_names_of_means_say_the_new_ones(found: Evaluation) -> None:
    with pytest.raises(EvaluationError, match=r"did you mean balanced_accuracy\?"):
        _ = found.accuracy_per_class
    assert not hasattr(found, "f1")
    with pytest.raises(EvaluationError, match=r"do: +softmax\(model.predict"):
        _ = found.calibration_error


def test_it_prints_what_each_average_is_over(found: Evaluation) -> None:
    assert str(found).splitlines() == [
        "5 examples, 2 clients",
        "  loss      0.970406   per example",
        "  loss      1.12636    mean over clients",
        "  accuracy  0.6        per example",
        "  accuracy  0.375      mean over clients",
    ]


def test_at_the_end_of_a_cell_it_shows_averages_and_no_arrays(
    found: Evaluation,
) -> None:
    assert repr(found) == f"Evaluation of {found}"


def test_there_is_no_average_without_a_name(found: Evaluation) -> None:
    assert not hasattr(found, "loss")
    assert not hasattr(found, "accuracy")


def test_class_that_nobody_holds_has_no_accuracy() -> None:
    model = models.softmax_regression(features=3, classes=3)
    found = build_federated_evaluation(model)(SCORES, [[batch((0, 0))]])
    assert np.isnan(found.class_accuracies[1:]).all()
    assert found.balanced_accuracy == 1.0


def test_client_without_examples_is_left_out_of_means_over_clients() -> None:
    model = models.softmax_regression(features=3, classes=3)
    found = build_federated_evaluation(model)(SCORES, [[batch((0, 0))], []])
    assert found.mean_loss_over_clients == pytest.approx(RIGHT)
    assert np.isnan(found.client_accuracies[1])


def test_nobody_has_no_averages() -> None:
    model = models.softmax_regression(features=3, classes=3)
    nobody: list[Any] = [[], [[], []]]
    for data in nobody:
        found = build_federated_evaluation(model)(SCORES, data)
        assert np.isnan([*found.metrics.values(), found.balanced_accuracy]).all()
        assert found.confusion.sum() == 0


def test_prediction_of_a_number_has_losses_and_no_accuracy() -> None:
    model = models.linear_regression(2)
    evaluate = build_federated_evaluation(model)
    weights = {"weights": np.ones(2, np.float32), "bias": np.float32(1)}
    found = evaluate(weights, [[{"x": [[1.0, 2.0]], "y": [2.0]}]])
    assert found.loss_per_example == pytest.approx(4)
    assert list(found.metrics) == ["loss_per_example", "mean_loss_over_clients"]
    with pytest.raises(EvaluationError, match="there is no confusion to count"):
        _ = found.confusion
    with pytest.raises(AttributeError, match="predicts a number"):
        _ = found.mean_accuracy_over_clients


def test_client_data_is_taken_as_it_is_and_placed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, y = datasets.load_digits28().test
    data = ClientData(x, y, partitions.iid(y, 3))
    model = models.softmax_regression()
    evaluate = build_federated_evaluation(model)
    zero = model.initialize(0)
    assert evaluate(zero, data).loss_per_example == pytest.approx(np.log(10))
    expected = evaluate(zero, data).metrics
    placed = []
    place = ClientData.place

    def place_and_count(*args: Any, **options: Any) -> Any:
        placed.append(args)
        return place(*args, **options)

    monkeypatch.setattr(ClientData, "place", place_and_count)
    on_test = evaluate.on(data)
    assert on_test(zero) == on_test(zero) == expected
    assert len(placed) == 1


@pytest.mark.parametrize("pick", [lambda data: data, lambda data: data.test])
def test_data_set_that_nobody_dealt_out_is_refused(pick: Any) -> None:
    undealt = pick(datasets.load_digits28())
    evaluate = build_federated_evaluation(models.softmax_regression())
    with pytest.raises(RunError, match=r"do: +one client .* \[range\(len\(y\)\)\]"):
        evaluate.on(undealt)
    with pytest.raises(RunError, match="nobody said which client holds which"):
        run(build_fed_avg(models.softmax_regression()), undealt, 1)


@pytest.mark.slow
def test_trap_of_the_tutorial(mnist_folder: Path) -> None:
    """Its test loss is lower than its training loss because of 99 batches, not 100."""
    splits = datasets.read_mnist(mnist_folder / "mnist.npz")
    model = models.softmax_regression()
    evaluate = build_federated_evaluation(model)
    results = []
    for x, y in splits:
        data = ClientData(x, y, partitions.one_label_per_client(y))
        results.append(evaluate(model.initialize(0), data.place(batch_size=100)))
    train, test = results
    assert (train.total["batches"], test.total["batches"]) == (100, 99)
    assert train.loss_summed_over_batches == pytest.approx(10.0 * np.log(10), rel=1e-6)
    assert test.loss_summed_over_batches == pytest.approx(9.9 * np.log(10), rel=1e-6)
    assert test.loss_summed_over_batches == pytest.approx(22.795593, rel=1e-6)
    assert train.loss_per_example == pytest.approx(test.loss_per_example, rel=1e-6)
