# SPDX-License-Identifier: Apache-2.0
"""`explore_drift`: how far clients drift apart in one round, and what is left of it.

Training is the library's. It takes about a second for each way of dealing out the
digits and each learning rate, runs in the background, and is kept.
"""

from collections import OrderedDict
from collections.abc import Callable, Generator
from functools import cache
from typing import Any, final

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import fedlearn_edu as fl
from fedlearn_edu import learning
from fedlearn_edu.errors import short_traceback
from fedlearn_edu.learning.local_training import (
    LocalTrainingConfig,
    build_local_training,
)
from fedlearn_edu.learning.optimizers import build_sgd
from fedlearn_edu.simulation import ClientData, datasets, partitions
from fedlearn_edu.viz import style
from fedlearn_edu.viz.explorers.controls import a_choice, a_count, a_stop, arguments
from fedlearn_edu.viz.explorers.drift_picture import Drift, DriftDrawing, words
from fedlearn_edu.viz.explorers.explorer import Explorer
from fedlearn_edu.viz.explorers.frames import Frames

CLIENTS = 10
MOST_EPOCHS = 10
BATCH_SIZE = 20
_RATES = (0.001, 0.01, 0.03, 0.1, 0.3, 1.0)

Deal = Callable[[Any], Any]
DATA: dict[str, tuple[str, Deal]] = {
    "one_label_per_client": (
        "one digit per client",
        lambda y: partitions.one_label_per_client(y, CLIENTS, None, 0),
    ),
    "dirichlet_0.1": (
        "Dirichlet, alpha 0.1",
        lambda y: partitions.dirichlet(y, CLIENTS, 0.1, 0),
    ),
    "dirichlet_1": (
        "Dirichlet, alpha 1",
        lambda y: partitions.dirichlet(y, CLIENTS, 1.0, 0),
    ),
    "iid": ("IID", lambda y: partitions.iid(y, CLIENTS, 0)),
}
"""Ways of dealing out the embedded digits to ten clients: a title, and how."""


@short_traceback
def explore_drift(
    data: str = "dirichlet_0.1",
    *,
    clients: int = CLIENTS,
    learning_rate: float = 0.1,
    local_epochs: int = 5,
) -> Explorer:
    """Shows how far clients go in one round, and how far from where their mean goes.

    Up is the direction of the mean update; to the side is the part of a client's
    update that is orthogonal to it, as a norm over all weights. A softmax
    regression learns the embedded digits, in batches of 20. The arguments are what the
    controls begin with; a missing round is computed automatically.

    Args:
        data: How the digits are dealt out to ten clients: `"one_label_per_client"`,
            `"dirichlet_0.1"`, `"dirichlet_1"` or `"iid"`.
        clients: How many of them take part, 2 to 10.
        learning_rate: Of the clients, per step.
        local_epochs: Passes over a client's examples, 1 to 10.

    Raises:
        FigureDataError: if an argument is none of these.

    Source: the drift is that of S. P. Karimireddy et al., "SCAFFOLD: Stochastic
    Controlled Averaging for Federated Learning", ICML 2020.
    """
    titles = {name: title for name, (title, _) in DATA.items()}
    rate = "learning rate (per step)"
    controls = arguments(
        data=a_choice(data, titles, label="digits"),
        clients=a_count(clients, 2, CLIENTS, live=False),
        learning_rate=a_stop(learning_rate, _RATES, most=100.0, label=rate),
        local_epochs=a_count(local_epochs, 1, MOST_EPOCHS, label="local epochs"),
    )
    return Explorer("How clients drift apart", DriftPicture(), controls)


@final
class DriftPicture:
    """One of the rounds; what was computed is kept."""

    @style.in_our_look
    def __init__(self) -> None:
        self._drawing = DriftDrawing()
        self._models: dict[tuple[str, float], list[Any]] = {}
        self._drifts: dict[tuple[str, float, int], Drift] = {}

    def show(
        self, data: str, clients: int, learning_rate: float, local_epochs: int
    ) -> Frames:
        """Trains and averages, unless that was done, and shows the round."""
        trains, key = (data, learning_rate), (data, learning_rate, clients)
        if trains not in self._models:
            self._models[trains] = yield from trained(*trains)
        if key not in self._drifts:
            self._drifts[key] = find_drift(data, self._models[trains], clients)
        drift, title = self._drifts[key], DATA[data][0]
        what = f"{title[0].upper()}{title[1:]}, {clients} clients"
        said = f"{what}, learning rate {learning_rate:g}. {words(drift, local_epochs)}"
        yield self._drawn(drift, local_epochs), said

    @style.in_our_look
    def _drawn(self, drift: Drift, epochs: int) -> Figure:
        self._drawing.show(drift, epochs)
        return self._drawing.figure


@cache
def model() -> learning.models.Model:
    """The model that is trained; all its weights begin at zero."""
    return learning.models.softmax_regression()


@cache
def digits(data: str) -> ClientData:
    """The digits, dealt out to ten clients in one of the ways in `DATA`."""
    (images, labels), _ = datasets.load_digits28()
    return ClientData(images, labels, DATA[data][1](labels))


def trained(data: str, rate: float) -> Generator[None, None, list[Any]]:
    """The weights of each client, `[epochs][clients]`, after each of its passes.

    A round of fewer passes is the beginning of this one.

    Args:
        data: How the digits are dealt out.
        rate: The learning rate.
    """
    train = local_training(rate)
    clients = [client.batches(BATCH_SIZE) for client in digits(data)]
    now, models = [model().initialize(0)] * len(clients), []
    for _ in range(MOST_EPOCHS):
        yield
        now = train(now, clients)
        models.append(now)
    if not all(np.isfinite(flat(weights)).all() for weights in now):
        raise style.FigureDataError(
            "the clients' weights are no numbers any more",
            expected="a learning rate at which training does not diverge",
            found=f"{rate:g}",
            do="take a smaller one",
        )
    return models


@cache
def local_training(rate: float) -> Any:
    """One pass of every client over its batches: models in, models out."""
    train = build_local_training(model(), LocalTrainingConfig(build_sgd(rate)))
    weights, batches = model().weights_type, fl.SequenceType(model().batch_type)

    @fl.federated_computation(weights, batches)
    def train_one(begin: Any, batches: Any) -> Any:
        return train(begin, begin, np.int32(0), batches).weights

    @fl.federated_computation(fl.type_at_clients(weights), fl.type_at_clients(batches))
    def train_all(begin: Any, batches: Any) -> Any:
        return fl.federated_map(train_one, [begin, batches])

    return train_all


def find_drift(data: str, models: list[Any], clients: int) -> Drift:
    """The round if only the first `clients` of them take part."""
    weigh, old = digits(data).num_examples[:clients], model().initialize(0)
    evaluate = _evaluation()
    everybody = digits(data).place(batch_size=1000)
    updates = [[flat(each) - flat(old) for each in now[:clients]] for now in models]
    losses = [evaluate(old, everybody).loss_per_example]
    for now in models:
        new = OrderedDict[str, Any]()
        for name in old:
            held = [weights[name] for weights in now[:clients]]
            new[name] = np.average(held, axis=0, weights=weigh).astype(np.float32)
        losses.append(evaluate(new, everybody).loss_per_example)
    return Drift(np.array(updates, dtype=np.float64), weigh, np.array(losses))


@cache
def _evaluation() -> Any:
    return learning.build_federated_evaluation(model())


def flat(weights: Any) -> NDArray[np.float32]:
    """All weights as one vector."""
    return np.concatenate([np.ravel(each) for each in weights.values()])
