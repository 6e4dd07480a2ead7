# SPDX-License-Identifier: Apache-2.0
"""One round of drift: the paths of the clients, their mean, and a matrix of cosines.

Paths keep their lengths and their angles to the mean update, in the space of all
weights: up is the direction of that mean, to the side the rest of an update. The
first two principal components would show a fifth of ten updates that are almost
orthogonal.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from fedlearn_edu.viz import style
from fedlearn_edu.viz.artists import Texts
from fedlearn_edu.viz.colors import CLIENTS_EDGE, INK, QUIET, SERVER, SIGNED_MAP
from fedlearn_edu.viz.curves import spread
from fedlearn_edu.viz.partition import padded

_HEIGHTS_IN = (4.4, 3.0)
_NAMES, _NAME = 1.15, 0.06  # how far out they are, and how wide, by the longest path
_WIDE = 2.1  # room for the keys beside the names, by the longest path
_MOST = np.radians(97)  # from the mean to a name
_ARC = np.linspace(0, np.pi / 2, 61)
_GAP = 2 * _NAME / _NAMES / _MOST
_TINY = 1e-12
_PATH: Any = {"color": CLIENTS_EDGE, "lw": 1.8, "marker": "o", "ms": 4, "zorder": 3}
_LEADER: Any = {"color": QUIET, "lw": 0.8, "zorder": 2, "markevery": (1, 3)}
_RING: Any = {"marker": "o", "ms": 15, "mfc": "white", "mec": CLIENTS_EDGE}

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class Drift:
    """One round of some of the clients; norms are those of all weights together.

    Attributes:
        updates: `[epochs,clients,weights]`, how far each client is after each pass.
        examples: `[clients]`, what an update weighs in the mean.
        losses: `[epochs+1]`, in nats on everybody's examples, of the server's old model
            and of the new one after each number of passes.
    """

    updates: Floats
    examples: NDArray[np.int64]
    losses: Floats

    @cached_property
    def means(self) -> Floats:
        """`[epochs,weights]`: what the server adds, by examples as in FedAvg."""
        return np.asarray(np.average(self.updates, axis=1, weights=self.examples))

    def paths(self, epochs: int) -> Floats:
        """`[clients,epochs+1,2]`: along the mean update, and away from it."""
        start = np.zeros_like(self.updates[:1])
        walked = np.concatenate([start, self.updates[:epochs]])
        along = walked @ (self.means[epochs - 1] / self.norm_of_mean(epochs))
        away = np.sqrt(np.maximum((walked**2).sum(axis=2) - along**2, 0.0))
        return np.moveaxis(np.stack([along, away], axis=2), 0, 1)

    def norm_of_mean(self, epochs: int) -> float:
        """How far the mean of the clients' models is from the old model."""
        return max(float(np.linalg.norm(self.means[epochs - 1])), _TINY)

    def mean_norm(self, epochs: int) -> float:
        """How far the clients are from the old model, averaged by examples."""
        norms = np.linalg.norm(self.updates[epochs - 1], axis=1)
        return max(float(np.average(norms, weights=self.examples)), _TINY)

    def angles(self, epochs: int) -> Floats:
        """`[clients]`: degrees between a client's update and the mean of all."""
        ends = self.paths(epochs)[:, -1]
        return np.asarray(np.degrees(np.arctan2(ends[:, 1], ends[:, 0])))

    def cosines(self, epochs: int) -> Floats:
        """`[clients,clients]`: between the clients' updates."""
        update = self.updates[epochs - 1]
        norms = np.maximum(np.linalg.norm(update, axis=1, keepdims=True), _TINY)
        return np.asarray((update / norms) @ (update / norms).T)


def words(drift: Drift, epochs: int) -> str:
    """The round after this number of passes, in words."""
    others = ~np.eye(len(drift.examples), dtype=bool)
    walked, gone = drift.mean_norm(epochs), drift.norm_of_mean(epochs)
    passes = "1 local epoch" if epochs == 1 else f"{epochs} local epochs"
    return (
        f"After {passes} the clients are {walked:.2f} from the old model on average, "
        f"and their mean {gone:.2f}: {gone / walked:.0%} of the way is left. Between a "
        f"client's way and the mean's are {drift.angles(epochs).mean():.0f}° on "
        f"average, and the cosine between two clients' updates is "
        f"{drift.cosines(epochs)[others].mean():.2f}. The mean has a loss of "
        f"{drift.losses[epochs]:.2f} nats on everybody's digits, the old model "
        f"{drift.losses[0]:.2f}."
    ).replace("-", "\N{MINUS SIGN}")


@final
class DriftDrawing:
    """A figure of one round, which can be moved to another.

    The axes fit the longest paths, so that only the paths, the new model and the matrix
    move with the number of passes.
    """

    def __init__(self) -> None:
        size_in = style.EXPLORER_IN, sum(_HEIGHTS_IN)
        self.figure = Figure(figsize=size_in, layout="constrained")
        parts: Any = self.figure.subfigures(2, height_ratios=_HEIGHTS_IN)
        self._plane, self._matrix = (part.subplots() for part in parts)
        for axes in (self._plane, self._matrix):
            style.dress(axes)
            axes.grid(visible=False)
            axes.spines[:].set_visible(True)
        self._prepare_plane()
        self._prepare_matrix()
        self._shown: Drift | None = None
        self._names = Texts(self._plane)

    def _prepare_plane(self) -> None:
        axes = self._plane
        axes.set_title("How far clients go in a round")
        axes.set_xlabel("orthogonal to the mean (norm of weights)")
        axes.set_ylabel("along the mean (norm of weights)")
        axes.set_aspect("equal")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(4))
        axes.yaxis.set_major_formatter(lambda y, _: padded(f"{y:g}", 5))
        (self._paths,) = axes.plot([], [], label="client, epoch by epoch", **_PATH)
        (self._leaders,) = axes.plot([], [], **_LEADER, **_RING)
        (self._arc,) = axes.plot([], [], color=INK, lw=1.2, ls=(0, (4, 3)), zorder=2)
        self._arc.set_label("mean if all agreed")
        self._old, self._new = (
            axes.plot([], [], ls="none", color=SERVER, zorder=zorder)[0]
            for zorder in (7, 8)
        )
        self._old.set(label="old model", marker="o", ms=9, mfc="white", mew=2.2)
        self._new.set(label="mean: new model", marker="*", ms=18, mec="white", mew=0.8)
        axes.legend(loc="upper right")

    def _prepare_matrix(self) -> None:
        axes, norm = self._matrix, Normalize(-1, 1)
        self._image = axes.imshow(np.zeros((1, 1)), cmap=SIGNED_MAP, norm=norm)
        axes.set_title("Which updates agree")
        axes.set(xlabel="client", ylabel="client")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
        scale = ScalarMappable(norm, SIGNED_MAP)
        ends = ["\N{MINUS SIGN}1: opposite", "0: unrelated", "1: same way"]
        bar = self.figure.colorbar(scale, ax=axes, label="cosine of two updates")
        bar.set_ticks([-1, 0, 1], labels=ends)

    def show(self, drift: Drift, epochs: int) -> None:
        """Shows the round with this many passes over each client's examples."""
        if drift is not self._shown:
            self._fit(drift)
            self._shown = drift
        paths = drift.paths(epochs)[..., ::-1]
        places, apart = self._beside(paths[:, -1]), np.full((len(paths), 1, 2), np.nan)
        leaders = np.concatenate([paths[:, -1:], places[:, None], apart], axis=1)
        self._leaders.set_data(*leaders.reshape(-1, 2).T)
        walked = np.concatenate([paths, apart], axis=1)
        self._paths.set_data(*walked.reshape(-1, 2).T)
        self._names.show([(x, y, str(name)) for name, (x, y) in enumerate(places)])
        self._old.set_data([0.0], [0.0])
        self._new.set_data([0.0], [drift.norm_of_mean(epochs)])
        reach = drift.mean_norm(epochs)
        self._arc.set_data(reach * np.sin(_ARC), reach * np.cos(_ARC))
        self._image.set_data(drift.cosines(epochs))

    def _beside(self, ends: Floats) -> Floats:
        """Where the names go: around all paths, in the order of their ends."""
        angles = np.arctan2(*ends.T)
        order = np.argsort(angles)
        around = (angles[order] / _MOST).tolist()
        angles[order] = _MOST * np.array(spread(around, _GAP))
        return self._reach * _NAMES * np.array([np.sin(angles), np.cos(angles)]).T

    def _fit(self, drift: Drift) -> None:
        """Room for the paths of any number of passes, and for names of all clients."""
        counts = range(1, len(drift.means) + 1)
        ends = np.concatenate([drift.paths(each).reshape(-1, 2) for each in counts])
        self._reach = float(np.linalg.norm(ends, axis=1).max())
        least = min(ends[:, 0].min(), _NAMES * self._reach * np.cos(_MOST))
        beyond = 2 * _NAME * self._reach
        self._plane.set(xlim=(-beyond, _WIDE * self._reach))
        self._plane.set(ylim=(least - beyond, _NAMES * self._reach + beyond))
        edge = len(drift.examples) - 0.5
        self._image.set_extent((-0.5, edge, edge, -0.5))
