# SPDX-License-Identifier: Apache-2.0
"""`explore_drift`: how far clients drift apart in one round, and what is left of it.

Training is the library's. It takes about a second for each way of dealing out the
digits and each learning rate, runs in the background, and is kept.
"""

from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator
from functools import cache
from typing import Any, final

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import fedlearn_edu as fl
from fedlearn_edu import learning
from fedlearn_edu.errors import is_whole_number, short_traceback
from fedlearn_edu.learning.local_training import (
    LocalTrainingConfig,
    build_local_training,
)
from fedlearn_edu.learning.optimizers import build_sgd
from fedlearn_edu.simulation import ClientData, datasets, partitions
from fedlearn_edu.viz import style
from fedlearn_edu.viz.explorers.background import Step
from fedlearn_edu.viz.explorers.computing import computing_explorer
from fedlearn_edu.viz.explorers.controls import choice, slider, stops
from fedlearn_edu.viz.explorers.drift_picture import Drift, DriftDrawing, words
from fedlearn_edu.viz.explorers.explorer import Explorer

CLIENTS = 10
MOST_EPOCHS = 10
BATCH_SIZE = 20
_RATES = (0.01, 0.03, 0.1, 0.3, 1.0)
_HIGHEST_RATE = 100.0

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

    To the right is the direction of the mean update; up and down is the part of a
    client's update that is orthogonal to it, as a norm over all weights. A softmax
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
    first = _checked(data, clients, learning_rate, local_epochs)
    rates = {f"{rate:g}": rate for rate in sorted({*_RATES, first["rate"]})}
    titles = {title: name for name, (title, _) in DATA.items()}
    controls = {
        "data": choice("digits", data, titles),
        "clients": slider("clients", first["clients"], 2, CLIENTS, live=False),
        "rate": stops("learning rate (per step)", first["rate"], rates),
        "epochs": slider("local epochs", first["epochs"], 1, MOST_EPOCHS),
    }
    return computing_explorer("How clients drift apart", DriftPicture(), controls)


@final
class DriftPicture:
    """All rounds that were computed, one of them shown.

    Attributes:
        ask: called if the round to be shown is not computed yet.
    """

    @style.in_our_look
    def __init__(self) -> None:
        self.ask: Callable[[], None] = lambda: None
        self._drawing = DriftDrawing()
        self.figure = self._drawing.figure
        self._models: dict[tuple[str, float], list[Any]] = {}
        self._drifts: dict[tuple[str, float, int], Drift] = {}

    def has(self, values: Any) -> bool:
        """Whether the round for these values is computed."""
        return (values["data"], values["rate"], values["clients"]) in self._drifts

    def compute(self, values: Any) -> Iterator[Step]:
        """Trains, unless that was done, and averages, unless the job is stopped."""
        data, rate, clients = values["data"], values["rate"], values["clients"]

        if (data, rate) not in self._models:
            self._models[data, rate] = yield from trained(data, rate)
        drift = find_drift(data, self._models[data, rate], clients)
        self._drifts[data, rate, clients] = drift

    @style.in_our_look
    def show(
        self, *, data: str, clients: int, rate: float, epochs: int
    ) -> tuple[Figure, str]:
        """Shows a round, or asks for its computation; returns it in words."""
        what = f"{DATA[data][0]}, {clients} clients, learning rate {rate:g}"
        drift = self._drifts.get((data, rate, clients))
        if drift is None:
            self._drawing.say("computing …")
            self.ask()
            return self.figure, f"{what}: not computed yet."
        self._drawing.show(drift, epochs)
        return self.figure, f"{what}. {words(drift, epochs)}"


@cache
def model() -> learning.models.Model:
    """The model that is trained; all its weights begin at zero."""
    return learning.models.softmax_regression()


@cache
def digits(data: str) -> ClientData:
    """The digits, dealt out to ten clients in one of the ways in `DATA`."""
    (images, labels), _ = datasets.load_digits28()
    return ClientData(images, labels, DATA[data][1](labels))


def trained(data: str, rate: float) -> Generator[Step, None, list[Any]]:
    """The weights of each client, `[epochs][clients]`, after each of its passes.

    A round of fewer passes is the beginning of this one.

    Args:
        data: How the digits are dealt out.
        rate: The learning rate.
    """
    train = local_training(rate)
    clients = [client.batches(BATCH_SIZE) for client in digits(data)]
    now, models = [model().initialize(0)] * len(clients), []
    for epoch in range(MOST_EPOCHS):
        yield epoch, MOST_EPOCHS, f"pass {epoch} of {MOST_EPOCHS}"
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


def _checked(data: Any, clients: Any, rate: Any, epochs: Any) -> dict[str, Any]:
    """The values of the controls, or an error that says what is wrong."""
    is_rate = isinstance(rate, int | float) and not isinstance(rate, bool)
    most, fits_rate = MOST_EPOCHS, is_rate and 0 < rate <= _HIGHEST_RATE
    is_count = is_whole_number(clients, 2) and clients <= CLIENTS
    is_epochs = is_whole_number(epochs, 1) and epochs <= most
    for name, found, fits, expected in (
        ("data", data, isinstance(data, str) and data in DATA, ", ".join(DATA)),
        ("clients", clients, is_count, f"2 to {CLIENTS}"),
        ("learning_rate", rate, fits_rate, f"above 0, at most {_HIGHEST_RATE:g}"),
        ("local_epochs", epochs, is_epochs, f"1 to {most}"),
    ):
        if not fits:
            raise style.FigureDataError(
                f"there is no picture of drift with this {name}",
                expected=expected,
                found=repr(found)[:60],
                where=name,
            )
    whole = {"clients": int(clients), "epochs": int(epochs)}
    return {"data": data, "rate": float(rate), **whole}
