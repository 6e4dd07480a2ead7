# SPDX-License-Identifier: Apache-2.0
"""The pictures of the demo: from the records to three PNG files."""

from pathlib import Path

from fedlearn_edu import viz
from fedlearn_edu.demo.records import Outcome
from fedlearn_edu.errors import counted
from fedlearn_edu.learning import History


def save_pictures(outcome: Outcome, out: Path) -> list[Path]:
    """Draws curves, clients and templates, and writes them into the folder `out`."""
    after = f"after {counted(outcome.rounds[-1].number, 'round')}"
    pictures = (_save_curves, _save_clients, _save_templates)
    return [save(outcome, after, out) for save in pictures]


def _save_curves(outcome: Outcome, after: str, out: Path) -> Path:
    rounds, first, last = outcome.rounds, outcome.rounds[0], outcome.rounds[-1]
    training = ({"round": each.number, **each.train.metrics} for each in rounds)
    test = ({"round": each.number, **each.test.metrics} for each in rounds)
    named = {"training": History.of(training), "test": History.of(test)}
    figure = viz.draw_curves(named)
    description = (
        f"Loss per training example falls from {first.train.loss_per_example:.2f} to "
        f"{last.train.loss_per_example:.2f} nats; accuracy on test images "
        f"rises from {first.test.accuracy_per_example:.1%} to "
        f"{last.test.accuracy_per_example:.1%} {after}."
    )
    return viz.save_png(figure, out / "curves.png", description)


def _save_clients(outcome: Outcome, after: str, out: Path) -> Path:
    ends = outcome.rounds[0], outcome.rounds[-1]
    first, last = (end.test.client_accuracies.tolist() for end in ends)
    figure = viz.draw_client_accuracy(
        {"before training: calls everything 0": first, after: last},
        title="Accuracy on the test images of each client's digit",
    )
    shares = ", ".join(f"{client} {share:.0%}" for client, share in enumerate(last))
    description = f"Test accuracy per client {after}: {shares}."
    return viz.save_png(figure, out / "clients.png", description)


def _save_templates(outcome: Outcome, after: str, out: Path) -> Path:
    weights = outcome.rounds[-1].weights["weights"]
    title = f"What the model looks for in each digit, {after}"
    figure = viz.draw_digit_templates(weights, title=title)
    description = (
        "Ten pictures of weights: each resembles its digit; ink that speaks for it is "
        "orange, ink that speaks against it is purple."
    )
    return viz.save_png(figure, out / "templates.png", description)
