# SPDX-License-Identifier: Apache-2.0
"""Averages say of what they are, and each is what it says: worked out by hand."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.learning import build_federated_evaluation, losses, models
from fedlearn_edu.learning.evaluation import Evaluation
from fedlearn_edu.learning.models import Model
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
def evaluate() -> Any:
    return build_federated_evaluation(models.softmax_regression(3, 3))


@pytest.fixture(scope="module")
def found(evaluate: Any) -> Evaluation:
    result: Evaluation = evaluate(SCORES, DATA)
    return result


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


def test_it_prints_what_each_average_is_over(found: Evaluation) -> None:
    assert str(found).splitlines() == [
        "5 examples, 2 clients",
        "  loss      0.970406   per example",
        "  loss      1.12636    mean over clients",
        "  accuracy  0.6        per example",
        "  accuracy  0.375      mean over clients",
    ]
    assert repr(found) == f"Evaluation of {found}"


def test_class_or_client_without_examples_is_left_out_of_means(evaluate: Any) -> None:
    found = evaluate(SCORES, [[batch((0, 0))], []])
    assert np.isnan(found.class_accuracies[1:]).all()
    assert found.balanced_accuracy == 1.0
    assert found.mean_loss_over_clients == pytest.approx(RIGHT)
    assert np.isnan(found.client_accuracies[1])


def test_client_with_a_loss_of_nan_is_not_left_out(evaluate: Any) -> None:
    spoilt = batch((0, 0), (0, 1))
    spoilt["x"][0] = np.nan
    found = evaluate(SCORES, [[batch((0, 0))], [spoilt], []])
    assert np.isnan(found.client_losses).tolist() == [False, True, True]
    assert np.isnan([found.loss_per_example, found.mean_loss_over_clients]).all()
    # No answer is a wrong one, which no column of the confusion matrix counts.
    assert found.client_accuracies[:2].tolist() == [1.0, 0.0]
    assert found.accuracy_per_example == pytest.approx(1 / 3)
    assert found.class_accuracies[:2].tolist() == [0.5, 0.0]
    assert found.confusion.tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 0]]


def test_model_of_nan_has_no_right_answer(evaluate: Any) -> None:
    lost = {name: np.nan * array for name, array in SCORES.items()}
    found = evaluate(lost, DATA)
    assert found.accuracy_per_example == found.balanced_accuracy == 0.0


def of_logits(score: Any, y: Any) -> Any:
    wanted = fl.tf.cast(y, fl.tf.float32)
    return fl.tf.nn.sigmoid_cross_entropy_with_logits(wanted, score)


def of_shares(share: Any, y: Any) -> Any:
    return -fl.tf.math.log(fl.tf.where(y == 1, share, 1.0 - share))


def hinge(score: Any, y: Any) -> Any:
    return fl.tf.nn.relu(1.0 - fl.tf.cast(y, fl.tf.float32) * score)


def one_score(loss: Any, classes: Any, targets: Any = None, axes: int = 1) -> Model:
    """A model that believes its input, in `[n]` or `[n,1]`."""
    return Model(
        loss.__name__,
        lambda seed: {"unused": fl.tf.zeros([1])},
        lambda weights, x: x[:, 0] if axes == 1 else x,
        lambda outputs, y: loss(fl.tf.reshape(outputs, [-1]), y),
        1,
        classes,
        targets=targets,
    )


@pytest.mark.parametrize("axes", [1, 2])
@pytest.mark.parametrize(
    ("loss", "labels", "scores"),
    [
        (of_logits, (0, 1), [-3.0, 0.4, 0.4, 9.0, np.nan]),
        (of_shares, (0, 1), [0.1, 0.6, 0.6, 0.9, np.nan]),
        (hinge, (-1, 1), [-0.2, 0.3, 1.2, 4.0, np.nan]),
    ],
)
def test_one_score_for_two_classes_answers_with_the_smaller_loss(
    loss: Any, labels: tuple[int, int], scores: list[float], axes: int
) -> None:
    model = one_score(loss, 2 if labels == (0, 1) else labels, axes=axes)
    answers = build_federated_evaluation(model)
    y = np.take(labels, [0, 0, 1, 1, 1])
    data = ClientData(np.reshape(scores, [-1, 1]), y, [range(5)])
    found = answers({"unused": np.zeros(1, np.float32)}, data)
    assert found.confusion.tolist() == [[1, 1], [0, 2]]
    assert found.accuracy_per_example == pytest.approx(3 / 5)
    assert found.class_accuracies.tolist() == pytest.approx([1 / 2, 2 / 3])


def test_counts_are_whole_numbers_and_no_classes() -> None:
    model = one_score(
        lambda score, y: score - fl.tf.cast(y, score.dtype), None, np.int32
    )
    data = ClientData([[2.0]], [7], [[0]])
    found = build_federated_evaluation(model)(model.initialize(0), data)
    assert list(found.metrics) == ["loss_per_example", "mean_loss_over_clients"]


def test_each_place_of_a_sequence_has_an_answer() -> None:
    types: Any = {"features": (np.float32, [None, 3]), "targets": (np.int32, [None])}
    model = Model(
        "believes its input",
        lambda seed: fl.tf.zeros([1]),
        lambda weights, x: x,
        losses.cross_entropy,
        classes=3,
        **types,
    )
    places = batch((0, 0), (1, 1), (2, 0))
    data = [[{name: array[None] for name, array in places.items()}]]
    found = build_federated_evaluation(model)(np.zeros(1, np.float32), data)
    assert found.total["examples"] == 1
    assert found.accuracy_per_example == pytest.approx(2 / 3)
    assert found.confusion.tolist() == [[1, 0, 1], [0, 1, 0], [0, 0, 0]]
    assert found.loss_per_example == pytest.approx((2 * RIGHT + WRONG) / 3)


def test_nobody_has_no_averages(evaluate: Any) -> None:
    nobody: list[Any] = [[], [[], []]]
    for data in nobody:
        found = evaluate(SCORES, data)
        assert np.isnan([*found.metrics.values(), found.balanced_accuracy]).all()
        assert found.confusion.sum() == 0


def test_prediction_of_a_number_has_losses_and_no_accuracy() -> None:
    model = models.linear_regression(2)
    evaluate = build_federated_evaluation(model)
    weights = {"weights": np.ones(2, np.float32), "bias": np.float32(1)}
    found = evaluate(weights, [[{"x": [[1.0, 2.0]], "y": [2.0]}]])
    assert found.loss_per_example == pytest.approx(4)
    assert list(found.metrics) == ["loss_per_example", "mean_loss_over_clients"]


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
