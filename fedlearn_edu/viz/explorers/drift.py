# SPDX-License-Identifier: Apache-2.0
"""`explore_drift`: how far clients go apart in one round, and what their mean is worth.

Training is the library's, and takes about a second for each way of dealing out the
digits and each learning rate; it runs in the background and is kept.
"""

from collections.abc import Callable
from typing import Any, final

import numpy as np
from matplotlib.figure import Figure

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.viz import style
from fedlearn_edu.viz.explorers.background import Job, explorers_context
from fedlearn_edu.viz.explorers.controls import choice, slider, stops
from fedlearn_edu.viz.explorers.drift_drawing import DriftDrawing
from fedlearn_edu.viz.explorers.drift_paths import (
    CLIENTS,
    DATA,
    MOST_EPOCHS,
    RATES,
    Paths,
    Tell,
    WorkStopped,
    find_paths,
)
from fedlearn_edu.viz.explorers.drift_plane import DriftPlane, find_plane
from fedlearn_edu.viz.explorers.explorer import Explorer

_TITLES = {
    "one_label_per_client": "one digit per client",
    "dirichlet_0.1": "Dirichlet, alpha 0.1",
    "dirichlet_1": "Dirichlet, alpha 1",
    "iid": "IID",
}
_HIGHEST_RATE = 100.0


@short_traceback
def draw_drift(
    data: str = "dirichlet_0.1",
    *,
    clients: int = CLIENTS,
    learning_rate: float = 0.1,
    local_epochs: int = 5,
    width_in: float = style.EXPLORER_IN,
) -> Figure:
    """Draws how far clients go in one round, and how far from where their mean goes.

    To the right is the way of the mean update, up and down is what of a client's update
    is away from it, in the length of all weights together. A softmax regression learns
    the embedded digits, in batches of 20.

    >>> from fedlearn_edu import viz
    >>> figure = viz.draw_drift("iid", clients=3, local_epochs=1)
    >>> print(figure.get_label()[:79])
    IID, 3 clients, learning rate 0.1. After 1 local epoch the clients are 0.80 fro

    Args:
        data: How the digits are dealt out to ten clients: `"one_label_per_client"`,
            `"dirichlet_0.1"`, `"dirichlet_1"` or `"iid"`.
        clients: The first so many take part, 2 to 10.
        learning_rate: Of the clients, per step.
        local_epochs: Passes over a client's examples, 1 to 10.
        width_in: Width in inches; narrow figures put the matrix of cosines below.

    Raises:
        FigureDataError: if an argument is none of these, or training diverges.

    Source: the drift is that of S. P. Karimireddy et al., "SCAFFOLD: Stochastic
    Controlled Averaging for Federated Learning", ICML 2020.
    """
    style.check_width(width_in)
    values = _checked(data, clients, learning_rate, local_epochs)
    picture = DriftPicture(width_in)
    picture.compute(values, lambda done, total: False)
    return style.say(picture.figure, picture.show(**values))


@short_traceback
def explore_drift(
    data: str = "dirichlet_0.1",
    *,
    clients: int = CLIENTS,
    learning_rate: float = 0.1,
    local_epochs: int = 5,
) -> Explorer:
    """Shows `draw_drift` under controls; what is not computed yet comes by itself.

    Args:
        data: As in `draw_drift`, at first.
        clients: How many take part, at first.
        learning_rate: Of the clients, per step, at first.
        local_epochs: Passes over a client's examples, at first.

    Raises:
        FigureDataError: if an argument is none of those `draw_drift` takes.
    """
    first = _checked(data, clients, learning_rate, local_epochs)
    rates = {f"{rate:g}": rate for rate in sorted({*RATES, first["rate"]})}
    controls = {
        "data": choice("digits", data, {name: key for key, name in _TITLES.items()}),
        "clients": slider("clients", first["clients"], 2, CLIENTS, live=False),
        "rate": stops("learning rate (per step)", first["rate"], rates),
        "epochs": slider("local epochs", first["epochs"], 1, MOST_EPOCHS),
    }
    picture = DriftPicture()
    job = Job(
        "Compute",
        lambda job: _compute(explorer, picture, job),
        "what the controls say, if it is not there yet",
        explorers_context,
    )
    explorer = Explorer("How clients drift apart", picture, controls, job=job)
    picture.ask = job.start
    job.start()
    return explorer


def _compute(explorer: Explorer, picture: "DriftPicture", job: Job) -> str:
    """Computes until what the controls say is there, whatever they say by then."""

    def tell(done: int, total: int) -> bool:
        job.report(done, total, f"step {done} of {total}")
        return job.is_stopping

    job.report(0, 1, "loading TensorFlow, getting ready")
    try:
        while not picture.has(values := explorer.values):
            picture.compute(values, tell)
    except WorkStopped:
        return "stopped; Compute goes on"
    return ""


@final
class DriftPicture:
    """Every round that was computed, one of them shown."""

    @style.in_our_look
    def __init__(self, width_in: float = style.EXPLORER_IN) -> None:
        self.ask: Callable[[], None] = lambda: None
        self._drawing = DriftDrawing(width_in)
        self.figure = self._drawing.figure
        self._paths: dict[tuple[str, float], Paths] = {}
        self._planes: dict[tuple[str, float, int], DriftPlane] = {}

    def has(self, values: Any) -> bool:
        """Whether these values can be shown."""
        return (values["data"], values["rate"], values["clients"]) in self._planes

    def compute(self, values: Any, tell: Tell) -> None:
        """Trains, and finds the plane; what is there already is not done again."""
        data, rate, clients = values["data"], values["rate"], values["clients"]
        with explorers_context():
            if (data, rate) not in self._paths:
                self._paths[data, rate] = find_paths(data, rate, tell)
            plane = find_plane(data, self._paths[data, rate], clients)
        self._planes[data, rate, clients] = plane

    @style.in_our_look
    def show(self, *, data: str, clients: int, rate: float, epochs: int) -> str:
        """Shows a round, or asks for it to be computed; says what is to be seen."""
        what = f"{_TITLES[data]}, {clients} clients, learning rate {rate:g}"
        plane = self._planes.get((data, rate, clients))
        if plane is None:
            self._drawing.say("computing …")
            self.ask()
            return f"{what}: not computed yet."
        self._drawing.show(plane, epochs)
        return f"{what}. {_words(plane, epochs)}"


def _words(plane: DriftPlane, epochs: int) -> str:
    others = ~np.eye(len(plane.examples), dtype=bool)
    walked, gone = plane.walked(epochs), plane.gone(epochs)
    passes = "1 local epoch" if epochs == 1 else f"{epochs} local epochs"
    return (
        f"After {passes} the clients are {walked:.2f} from the old model on average, "
        f"and their mean {gone:.2f}: {gone / walked:.0%} of the way is left. Between a "
        f"client's way and the mean's are {plane.angles(epochs).mean():.0f}° on "
        f"average, and the cosine between two clients' updates is "
        f"{plane.cosines(epochs)[others].mean():.2f}. The mean has a loss of "
        f"{plane.losses[epochs]:.2f} nats on everybody's digits, the old model "
        f"{plane.losses[0]:.2f}."
    )


def _checked(data: Any, clients: Any, rate: Any, epochs: Any) -> dict[str, Any]:
    """The values of the controls, or an error that says what is wrong."""
    is_rate = isinstance(rate, int | float) and not isinstance(rate, bool)
    most, fits_rate = MOST_EPOCHS, is_rate and 0 < rate <= _HIGHEST_RATE
    for name, found, fits, expected in (
        ("data", data, isinstance(data, str) and data in DATA, ", ".join(DATA)),
        ("clients", clients, _is_whole(clients, 2, CLIENTS), f"2 to {CLIENTS}"),
        ("learning_rate", rate, fits_rate, f"above 0, at most {_HIGHEST_RATE:g}"),
        ("local_epochs", epochs, _is_whole(epochs, 1, most), f"1 to {most}"),
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


def _is_whole(number: Any, least: int, most: int) -> bool:
    return style.is_whole(number) and least <= number <= most
