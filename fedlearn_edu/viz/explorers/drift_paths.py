# SPDX-License-Identifier: Apache-2.0
"""Where clients go in one round, pass by pass, as the library's local training goes.

`local_training` is called with one batch at a time, for all clients in one
`federated_map`; what they have after a batch is what they begin the next one with, as
in a longer call. Epochs fewer than the most are the beginning of the same paths.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

import fedlearn_edu as fl
from fedlearn_edu import learning
from fedlearn_edu.learning.local_training import (
    LocalTrainingConfig,
    build_local_training,
)
from fedlearn_edu.learning.optimizers import build_sgd
from fedlearn_edu.simulation import ClientData, datasets, partitions
from fedlearn_edu.viz import style

CLIENTS = 10
MOST_EPOCHS = 10
BATCH_SIZE = 20
RATES = (0.01, 0.03, 0.1, 0.3, 1.0)
DATA = {
    "one_label_per_client": lambda y: partitions.one_label_per_client(
        y, CLIENTS, None, 0
    ),
    "dirichlet_0.1": lambda y: partitions.dirichlet(y, CLIENTS, 0.1, 0),
    "dirichlet_1": lambda y: partitions.dirichlet(y, CLIENTS, 1.0, 0),
    "iid": lambda y: partitions.iid(y, CLIENTS, 0),
}
"""How the embedded digits may be dealt out to the ten clients."""

Tell = Callable[[int, int], bool]
"""Is told how many of how many steps are done; `True` ends the work."""


@final
class WorkStopped(Exception):  # noqa: N818 (it is no error)
    """The work was stopped by hand."""


@final
@dataclass(frozen=True, eq=False)
class Paths:
    """Where each client went from the server's model, all weights in one row.

    Attributes:
        examples: `[clients]`, how many each client has.
        updates: `[epochs,clients,weights]`: how far each client is after each pass.
    """

    examples: NDArray[np.int64]
    updates: NDArray[np.float32]


@cache
def model() -> learning.models.Model:
    """The model that is trained; all its weights begin at zero."""
    return learning.models.softmax_regression()


@cache
def digits(data: str) -> ClientData:
    """The digits, dealt out in one of the ways of `DATA`."""
    (images, labels), _ = datasets.load_digits28()
    return ClientData(images, labels, DATA[data](labels))


def find_paths(data: str, rate: float, tell: Tell) -> Paths:
    """Trains all clients for `MOST_EPOCHS` passes, from the server's first model.

    Raises:
        WorkStopped: if `tell` says so.
    """
    clients = [client.batches(BATCH_SIZE) for client in digits(data)]
    batches = np.array([len(each) for each in clients])
    most = int(batches.max()) * MOST_EPOCHS
    rates = RATES if rate in RATES else (rate,)
    train, number = _one_step(rates), rates.index(rate)
    begin = begin_weights()
    now: Any = [begin] * len(clients)
    rows = [np.zeros([len(clients), len(flat(begin))], np.float32)]
    for step in range(most):
        if tell(step, most):
            raise WorkStopped
        turn = [
            [each[step % len(each)]] if step < len(each) * MOST_EPOCHS else []
            for each in clients
        ]
        now = train(now, number, turn)
        rows.append(np.stack([flat(each) for each in now]) - flat(begin))
    moved = np.stack(rows)
    if not np.isfinite(moved).all():
        raise style.FigureDataError(
            "the clients' weights are no numbers any more",
            expected="a learning rate at which training does not diverge",
            found=f"{rate:g}",
            do="take a smaller one",
        )
    ends = [batches * epoch for epoch in range(1, MOST_EPOCHS + 1)]
    everyone = np.arange(len(batches))
    updates = np.stack([moved[end, everyone] for end in ends])
    return Paths(digits(data).num_examples, updates)


def begin_weights() -> Any:
    """The server's model before the round."""
    weights = model().initialize(0)
    return OrderedDict((name, each.numpy()) for name, each in weights.items())


def flat(weights: Any) -> NDArray[np.float32]:
    """All weights in one row."""
    return np.concatenate([np.ravel(each) for each in weights.values()])


@cache
def _one_step(rates: tuple[float, ...]) -> Any:
    """All clients take one step, at the rate of this number.

    The rate is looked up as one that changes with rounds would be, so that another
    rate needs no other program.
    """

    def rate_of(number: Any) -> Any:
        return fl.tf.gather(fl.tf.constant(rates), fl.tf.cast(number, fl.tf.int32))

    train = build_local_training(model(), LocalTrainingConfig(build_sgd(rate_of)))
    weights, batches = model().weights_type, fl.SequenceType(model().batch_type)

    @fl.federated_computation(weights, np.int32, batches)
    def train_one(begin: Any, number: Any, batch: Any) -> Any:
        return train(begin, begin, number, batch).weights

    @fl.federated_computation(
        fl.type_at_clients(weights),
        fl.type_at_clients(np.int32, all_equal=True),
        fl.type_at_clients(batches),
    )
    def train_all(begin: Any, number: Any, batch: Any) -> Any:
        return fl.federated_map(train_one, [begin, number, batch])

    return train_all
