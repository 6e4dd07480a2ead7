# SPDX-License-Identifier: Apache-2.0
"""What `docs/pictures.md` shows: a function for each, whose last line is shown, too.

They return figures, or tables in HTML, of which a browser takes a picture.
"""

from collections import OrderedDict
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import fedlearn_edu as fl
import fedlearn_edu.viz  # (for mypy, which finds `fl.viz` by it)
from fedlearn_edu import learning, tf
from fedlearn_edu.remote.records import Message, Round
from fedlearn_edu.simulation import ClientData, datasets, partitions

MODEL = fl.to_type(
    OrderedDict(weights=(np.float32, [784, 10]), bias=(np.float32, [10]))
)
BATCHES = fl.SequenceType(
    OrderedDict(x=(np.float32, [None, 784]), y=(np.int32, [None]))
)


@fl.tf_computation(MODEL, np.float32, BATCHES)
def local_train(model: Any, learning_rate: Any, batches: Any) -> Any:
    """One step of gradient descent for each batch of one client."""

    @tf.function  # type: ignore[untyped-decorator]
    def step(model: Any, batch: Any) -> Any:
        scores = batch["x"] @ model["weights"] + model["bias"]
        chances = tf.nn.softmax(scores) - tf.one_hot(batch["y"], 10)
        slope = chances / tf.cast(tf.shape(scores)[0], tf.float32)
        return OrderedDict(
            weights=model["weights"] - learning_rate * tf.transpose(batch["x"]) @ slope,
            bias=model["bias"] - learning_rate * tf.reduce_sum(slope, 0),
        )

    return batches.reduce(model, step)


@fl.federated_computation(
    fl.type_at_server(MODEL), fl.type_at_server(np.float32), fl.type_at_clients(BATCHES)
)
def federated_train(model: Any, learning_rate: Any, data: Any) -> Any:
    """One round: the model goes to the clients, and the mean of theirs comes back."""
    everywhere = fl.federated_broadcast(model)
    rate = fl.federated_broadcast(learning_rate)
    return fl.federated_mean(fl.federated_map(local_train, (everywhere, rate, data)))


def what_travels() -> Figure:
    """What travels in a round of federated averaging."""
    return fl.viz.draw_graph(federated_train)


def what_the_server_sees() -> Figure:
    """Updates for a median, which are seen one by one, a mean, and a masked sum."""
    updates, losses = fl.type_at_clients(MODEL), fl.type_at_clients(np.float32)

    @fl.federated_computation(updates, losses, fl.type_at_clients(np.int32))
    def gather(update: Any, loss: Any, examples: Any) -> Any:
        total = fl.federated_secure_sum(examples, 1000)
        return fl.federated_collect(update), fl.federated_mean(loss), total

    return fl.viz.draw_server_view(gather)


def what_the_compiler_does() -> Figure:
    """A program before and after each pass of the compiler."""
    return fl.viz.draw_passes(federated_train)


def who_does_what_when() -> Figure:
    """Every call of one round, client by client, and the bytes on the way."""
    batch = {"x": np.ones([5, 784], np.float32), "y": np.zeros([5], np.int32)}
    model = [np.zeros([784, 10], np.float32), np.zeros([10], np.float32)]
    with fl.record() as tape:
        federated_train(model, 0.1, [[batch, batch]] * 5)
    return fl.viz.draw_tape(tape, at=200)


def who_takes_over() -> Figure:
    """A round on three worker processes, recorded as one of them was killed."""
    down, up = 34_933, 32_440
    done = Message("worker 0", 0, 30, 0.0015, 0.0054, 0.0830, 0.0863, down, up)
    lost = Message("worker 1", 30, 30, 0.0030, 0.0030, 0.0030, 0.1078, down, 0, True)
    also = Message("worker 2", 60, 30, 0.0095, 0.0171, 0.0899, 0.0924, down, up)
    again = Message("worker 2", 30, 30, 0.1078, 0.1107, 0.2997, 0.3025, down, up)
    messages = Round(4, "next_round", (done, lost, also, again))
    return fl.viz.draw_messages(messages)


def what_is_in_a_mean() -> str:
    """What clients send for a weighted mean, and what the server adds up."""
    return fl.viz.explore_mean([1.0, 2.0, 6.0], weights=[1.0, 1.0, 2.0]).html


def what_secure_sums_hide() -> str:
    """The same mean from secure sums: what each client sends looks random."""
    return fl.viz.explore_mean([1.0, 2.0, 6.0], secure=True).html


def why_grouping_matters() -> str:
    """An aggregation whose zero is not neutral: it counts once for each group."""
    return fl.viz.explore_aggregation([1, 2, 3, 4, 5], zero=1, fan_out=3).html


def who_has_which_digits() -> Figure:
    """Digits dealt out unevenly: a Dirichlet partition with alpha 0.3."""
    images, labels = datasets.load_digits28().train
    shares = partitions.dirichlet(labels, 10, alpha=0.3, seed=0)
    return fl.viz.draw_partition(labels, shares, images=images)


def which_algorithm_is_ahead() -> Figure:
    """Three algorithms on clients with unlike digits, one axis for all of them."""
    digits = datasets.load_digits28()
    shares = partitions.dirichlet(digits.train[1], 10, alpha=0.1, seed=0)
    clients = ClientData(*digits.train, shares)
    everybody = partitions.iid(digits.test[1], 10)
    test = ClientData(*digits.test, everybody)
    model = learning.models.softmax_regression()
    judge = learning.build_federated_evaluation(model).on(test)
    processes = {
        "FedAvg": learning.build_fed_avg(model, 0.1),
        "FedAdam": learning.build_fed_adam(model, 0.1, 0.03),
        "SCAFFOLD": learning.build_scaffold(model, 10, client_learning_rate=0.1),
    }
    quiet = learning.Options(progress=False)
    runs = {
        name: learning.run(
            process, clients, 15, batch_size=20, evaluate={"test": judge}, options=quiet
        )
        for name, process in processes.items()
    }
    return fl.viz.draw_curves(runs)


def what_a_model_looks_for() -> Figure:
    """The weights for each digit, after fifteen rounds on unlike clients."""
    model = learning.models.softmax_regression()
    weights = _weights_after_training(model)["weights"]
    return fl.viz.draw_digit_templates(weights)


def what_is_taken_for_what() -> Figure:
    """Fifteen rounds with one digit per client: accuracy, what the model looks for, and its mistakes."""  # noqa: E501 (a caption is one line)
    return fl.viz.explore_training(rounds=15).figure


def _weights_after_training(model: learning.models.Model) -> Any:
    x, y = datasets.load_digits28().train
    clients = ClientData(x, y, partitions.dirichlet(y, 10, alpha=0.5, seed=0))
    process = learning.build_fed_avg(model, 0.1)
    quiet = learning.Options(progress=False)
    return learning.run(process, clients, 15, batch_size=20, options=quiet).weights


def why_clients_drift() -> Figure:
    """How far ten clients go that train alone, and how much of it is in their mean."""
    return fl.viz.explore_drift().figure


def what_an_update_gives_away() -> Figure:
    """The digits of a client, and what the server recovers from its update."""
    return fl.viz.explore_inversion(batch_size=4).figure


def what_poison_does() -> Figure:
    """Four of twenty clients send the opposite: to a mean, and to a median."""
    return fl.viz.explore_poisoning("sign_flip", "median", attackers=4).figure


def what_privacy_costs() -> Figure:
    """Epsilon and accuracy of 300 clients, of which a tenth takes part in a round."""
    return fl.viz.explore_budget(300, probability=0.1, noise_multiplier=1.0).figure


def why_more_steps_do_not_help() -> Figure:
    """Two clients of one weight, where their rounds of one and of ten steps end."""
    clients, rounds = np.array([[1.0, 4.0], [3.0, 3.0]]), []
    x, y = clients.T
    for steps in (1, 10):
        weight = 0.0
        for _ in range(60):
            path = [np.full(2, weight)]
            for _ in range(steps):
                path.append(path[-1] - 0.05 * 2 * x * (x * path[-1] - y))
            weight = path[-1].mean()
        rounds.append(np.transpose(path))
    return fl.viz.draw_local_steps(clients, rounds)
