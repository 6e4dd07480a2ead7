# SPDX-License-Identifier: Apache-2.0
"""A run in words and tables of at most 80 columns. Strings out, nothing printed."""

import math
from collections.abc import Sequence

from fedlearn_edu.demo.published import TOLERANCE, Comparison
from fedlearn_edu.demo.records import Baselines, Evaluation, Outcome, Round
from fedlearn_edu.demo.setting import (
    DECAY,
    LEARNING_RATE,
    LONE_CLIENT,
    NUM_CLIENTS,
    OTHER_CLIENT,
    FederatedData,
    Options,
)


def heading(data: FederatedData, options: Options) -> str:
    """What is about to run: data, clients, model, a round, and what a loss is."""
    train, test = data.total
    order = (
        "in the order of the file"
        if options.seed is None
        else f"drawn with seed {options.seed}"
    )
    source = {
        "mnist": "MNIST, the real one",
        "digits28": "digits28, embedded in the package",
    }
    return f"""\
Federated averaging: {NUM_CLIENTS} clients, one digit each

data      {source[data.name]}: {train:,} images to train, {test:,} to test
clients   client k holds only images of digit k: at most {data.examples_per_client:,},
          {order}, in batches of {data.batch_size}
model     softmax regression: 784 x 10 weights and 10 biases, all zero at first
a round   every client takes one gradient step per batch, the server averages;
          learning rate {LEARNING_RATE:g}, times {DECAY:g} after each round
loss      in nats, summed over a client's batches; mean over clients
"""


def baseline_lines(baselines: Baselines) -> str:
    """What the zero model does, and what one client alone learns."""
    own, other, lone = LONE_CLIENT, OTHER_CLIENT, baselines.lone
    steps = " ".join(f"{loss:.6f}" for loss in baselines.steps)
    return "\n".join(
        [
            "1. Nobody has learned: the zero model",
            f"{_line(f'one batch of client {own}', baselines.batch_loss)}"
            f"   (ln 10 = {math.log(10):.6f})",
            _evaluated("all clients", baselines.zero_train),
            _evaluated("all clients, test images", baselines.zero_test),
            "",
            f"2. Client {own} learns alone",
            "   five steps on one batch, the loss after each:",
            f"   {steps}",
            "   a pass over all its batches, the model evaluated on the data of",
            _at_client(own, lone),
            _at_client(other, lone),
            _evaluated("all clients", lone),
            "",
            "3. All learn together: federated averaging",
        ]
    )


def _evaluated(where: str, result: Evaluation) -> str:
    return f"{_line(where, result.loss)}   accuracy {result.accuracy:>6.1%}"


def _at_client(client: int, result: Evaluation) -> str:
    line = _line(f"client {client}", result.client_losses[client])
    return f"{line}   accuracy {result.client_accuracies[client]:>6.1%}"


def _line(where: str, loss: float) -> str:
    return f"   {where:<31} loss {loss:>10.6f}"


_COLUMNS = (
    ("round", 5),
    ("rate", 8),
    ("mean loss", 11),
    ("train", 8),
    ("test", 8),
    ("bytes down", 12),
    ("bytes up", 10),
    ("seconds", 9),
)


def table_head() -> str:
    """The names of the columns of `table_row`."""
    names = "".join(f"{name:>{width}}" for name, width in _COLUMNS)
    return f"{'accuracy':>{5 + 8 + 11 + 14}}\n{names}"


def table_row(step: Round) -> str:
    """One round in one line."""
    return _row(
        f"{step.number}",
        f"{step.learning_rate:.4f}",
        f"{step.train.loss:.6f}",
        f"{step.train.accuracy:.1%}",
        f"{step.test.accuracy:.1%}",
        f"{step.bytes_down:,}",
        f"{step.bytes_up:,}",
        f"{step.seconds:.2f}",
    )


def zero_row(baselines: Baselines) -> str:
    """Round 0: the state before training."""
    train, test = baselines.zero_train, baselines.zero_test
    shares = (f"{train.accuracy:.1%}", f"{test.accuracy:.1%}")
    return _row("0", "-", f"{train.loss:.6f}", *shares, "-", "-", "-")


def _row(*cells: str) -> str:
    pairs = zip(cells, _COLUMNS, strict=True)
    return "".join(f"{cell:>{width}}" for cell, (_, width) in pairs)


def comparison_table(rows: Sequence[Comparison]) -> str:
    """Published, ours, relative difference; and whether that is close enough."""
    worst = max(row.difference for row in rows)
    verdict = "reproduced" if all(row.is_reproduced for row in rows) else "NOT the same"
    head = f"{'loss in nats':<36}{'published':>12}{'ours':>12}{'rel. difference':>18}"
    lines = [
        f"{row.what:<36}{row.published:>12.6f}{row.ours:>12.6f}{row.difference:>18.1e}"
        for row in rows
    ]
    last = f"{verdict}: the largest difference is {worst:.1e}, {TOLERANCE:g} is allowed"
    return "\n".join([head, *lines, last])


def conclusion(outcome: Outcome) -> tuple[str, str, str]:
    """What happened, in three sentences."""
    baselines, last = outcome.baselines, outcome.rounds[-1]
    own, other, lone = LONE_CLIENT, OTHER_CLIENT, baselines.lone
    accuracies = last.test.client_accuracies
    hardest = min(range(NUM_CLIENTS), key=lambda client: accuracies[client])
    rounds = f"{last.number} round{'s' if last.number > 1 else ''}"
    return (
        f"Client {own} alone learned to call everything a {own}: its model reads "
        f"{lone.client_accuracies[own]:.1%} of its own images and "
        f"{lone.client_accuracies[other]:.1%} of client {other}'s.",
        f"After {rounds} of averaging, one model reads {last.test.accuracy:.1%} of the "
        f"test images ({baselines.zero_test.accuracy:.1%} before), from "
        f"{accuracies[hardest]:.1%} of the {hardest}s to {max(accuracies):.1%} of the "
        f"{accuracies.index(max(accuracies))}s.",
        "No image left its client: a round of training moved "
        f"{last.bytes_down / 1e6:.2f} MB of models to the clients and "
        f"{last.bytes_up / 1e6:.2f} MB back.",
    )
