# SPDX-License-Identifier: Apache-2.0
"""The pictures of the demo: from the records to three PNG files."""

from pathlib import Path

from fedlearn_edu import viz
from fedlearn_edu.demo.records import Outcome
from fedlearn_edu.errors import counted


def save_pictures(outcome: Outcome, out: Path) -> tuple[Path, Path, Path]:
    """Draws curves, clients and templates, and writes them into the folder `out`."""
    return (
        _save_curves(outcome, out),
        _save_clients(outcome, out),
        _save_templates(outcome, out),
    )


def _after(outcome: Outcome) -> str:
    count = len(outcome.rounds)
    return f"after {counted(count, 'round')}"


def _save_curves(outcome: Outcome, out: Path) -> Path:
    baselines, last = outcome.baselines, outcome.rounds[-1]
    train = [baselines.zero_train, *(each.train for each in outcome.rounds)]
    test = [baselines.zero_test, *(each.test for each in outcome.rounds)]
    figure = viz.draw_learning_curves(
        [result.client_losses for result in train],
        [result.accuracy for result in train],
        [result.accuracy for result in test],
        loss_unit="nats, sum over batches",
    )
    loss, accuracy = baselines.zero_train.loss, baselines.zero_test.accuracy
    description = (
        f"Mean loss falls from {loss:.2f} to {last.train.loss:.2f} nats; accuracy on "
        f"test images rises from {accuracy:.1%} to {last.test.accuracy:.1%} "
        f"{_after(outcome)}."
    )
    return viz.save_png(figure, out / "curves.png", description)


def _save_clients(outcome: Outcome, out: Path) -> Path:
    before = outcome.baselines.zero_test.client_accuracies
    after = outcome.rounds[-1].test.client_accuracies
    figure = viz.draw_client_accuracy(
        {"before training: calls everything 0": before, _after(outcome): after},
        title="Accuracy on the test images of each client's digit",
    )
    shares = ", ".join(f"{client} {share:.0%}" for client, share in enumerate(after))
    description = f"Test accuracy per client {_after(outcome)}: {shares}."
    return viz.save_png(figure, out / "clients.png", description)


def _save_templates(outcome: Outcome, out: Path) -> Path:
    title = f"What the model looks for in each digit, {_after(outcome)}"
    figure = viz.draw_digit_templates(outcome.rounds[-1].weights, title=title)
    description = (
        "Ten pictures of weights: each resembles its digit; ink that speaks for it is "
        "orange, ink that speaks against it is purple."
    )
    return viz.save_png(figure, out / "templates.png", description)
