# SPDX-License-Identifier: Apache-2.0
"""A run in words and tables of at most 80 columns. Strings out, nothing printed."""

import math
from collections.abc import Sequence

from fedlearn_edu.demo.published import TOLERANCE, Comparison
from fedlearn_edu.demo.records import Outcome, Round
from fedlearn_edu.demo.setting import (
    DECAY,
    LEARNING_RATE,
    LONE_CLIENT,
    NUM_CLIENTS,
    OTHER_CLIENT,
    FederatedData,
    Options,
)
from fedlearn_edu.errors import counted
from fedlearn_edu.learning import Evaluation


def heading(data: FederatedData, options: Options) -> str:
    """What is about to run: data, clients, model, a round, and what a loss is."""
    train, test = data.total
    in_order, drawn = "in the order of the file", f"drawn with seed {options.seed}"
    order = in_order if options.seed is None else drawn
    embedded = "digits28, embedded in the package"
    source = "MNIST, the real one" if data.name == "mnist" else embedded
    return f"""\
Federated averaging: {NUM_CLIENTS} clients, one digit each

data      {source}: {train:,} images to train, {test:,} to test
clients   client k holds only images of digit k: at most {data.examples_per_client:,},
          {order}, in batches of {data.batch_size}
model     softmax regression: 784 x 10 weights and 10 biases, all zero at first
a round   every client takes one gradient step per batch, the server averages;
          learning rate {LEARNING_RATE:g}, times {DECAY:g} after each round
loss      in nats, summed over a client's batches; mean over clients
"""


def before_training(outcome: Outcome) -> str:
    """What the zero model does, what one client alone learns, and the table's head."""
    own, other, zero, lone = LONE_CLIENT, OTHER_CLIENT, outcome.rounds[0], outcome.lone
    first, *steps = outcome.losses
    return f"""\
1. Nobody has learned: the zero model
{_line(f"one batch of client {own}", first)}   (ln 10 = {math.log(10):.6f})
{_evaluated("all clients", zero.train)}
{_evaluated("all clients, test images", zero.test)}

2. Client {own} learns alone
   five steps on one batch, the loss after each:
   {" ".join(f"{loss:.6f}" for loss in steps)}
   a pass over all its batches, the model evaluated on the data of
{_at_client(own, lone)}
{_at_client(other, lone)}
{_evaluated("all clients", lone)}

3. All learn together: federated averaging
                              accuracy
round    rate  mean loss   train    test  bytes down  bytes up  seconds
{table_row(zero)}"""


def _evaluated(where: str, found: Evaluation) -> str:
    return _line(where, found.loss_summed_over_batches, found.accuracy_per_example)


def _at_client(client: int, found: Evaluation) -> str:
    loss = found.client_losses_summed_over_batches[client]
    return _line(f"client {client}", loss, found.client_accuracies[client])


def _line(where: str, loss: float, accuracy: float | None = None) -> str:
    line = f"   {where:<31} loss {loss:>10.6f}"
    return line if accuracy is None else f"{line}   accuracy {accuracy:>6.1%}"


def table_row(step: Round) -> str:
    """A round, as a line of the table."""
    number, rate, moved = step.number, "-", f"{'-':>12}{'-':>10}{'-':>9}"
    if number:
        rate = f"{LEARNING_RATE * DECAY ** (number - 1):.4f}"
        moved = f"{step.bytes_down:>12,}{step.bytes_up:>10,}{step.seconds:>9.2f}"
    loss, accuracy = (
        step.train.loss_summed_over_batches,
        step.train.accuracy_per_example,
    )
    found = f"{loss:>11.6f}{accuracy:>8.1%}{step.test.accuracy_per_example:>8.1%}"
    return f"{number:>5}{rate:>8}{found}{moved}"


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
    own, other, lone = LONE_CLIENT, OTHER_CLIENT, outcome.lone.client_accuracies
    first, last = outcome.rounds[0], outcome.rounds[-1]
    accuracies = last.test.client_accuracies
    hardest, easiest = accuracies.argmin(), accuracies.argmax()
    return (
        f"Client {own} alone learned to call everything a {own}: its model reads "
        f"{lone[own]:.1%} of its own images and {lone[other]:.1%} of client {other}'s.",
        f"After {counted(last.number, 'round')} of averaging, one model reads "
        f"{last.test.accuracy_per_example:.1%} of the test images "
        f"({first.test.accuracy_per_example:.1%} before), from "
        f"{accuracies[hardest]:.1%} of the {hardest}s to {accuracies[easiest]:.1%} of "
        f"the {easiest}s.",
        "No image left its client: a round of training moved "
        f"{last.bytes_down / 1e6:.2f} MB of models to the clients and "
        f"{last.bytes_up / 1e6:.2f} MB back.",
    )
