# SPDX-License-Identifier: Apache-2.0
"""The local steps of the clients in a round, for a model of a single weight."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from fedlearn_edu.errors import counted, describe, short_traceback
from fedlearn_edu.viz import style
from fedlearn_edu.viz.colors import CLIENTS, CLIENTS_EDGE, INK, SERVER

Floats = NDArray[np.float64]

_PANEL_IN, _NAME_IN = 3.2, 0.22
_MOST_CLIENTS, _MOST_ROUNDS = 4, 2
_LINES: Any = (("-", "o"), ((0, (5, 2)), "s"), ((0, (1, 1.2)), "^"), ("-.", "v"))
_BEST: Any = {"ls": "none", "color": INK, "marker": "D", "mfc": "none", "ms": 14}
_NAME: dict[str, Any] = {"textcoords": "offset points", "va": "top"}
_STEPS: dict[str, Any] = {"ls": "none", "zorder": 4, "label": "_steps"}  # no key
_BAND: dict[str, Any] = {"color": CLIENTS, "lw": 6, "alpha": 0.6, "zorder": 0}
_MODEL: dict[str, Any] = {"ls": "none", "color": SERVER, "zorder": 5}
_OLD = _MODEL | {"marker": "o", "ms": 18, "mfc": "w", "mew": 2}
_NEW = _MODEL | {"marker": "*", "ms": 13}


@short_traceback
@style.in_our_look
def draw_local_steps(
    clients: ArrayLike,
    rounds: Sequence[ArrayLike],
    *,
    width_in: float = style.WIDE_IN,
    figure: style.Paper | None = None,
) -> Figure:
    """Draws how clients descend their own losses in a round, in a panel per round.

    The model predicts x · weight. Each client has one example (x, y), so its loss is
    the parabola (x · weight - y)², with its minimum at y / x: a diamond.

    >>> figure = draw_local_steps([(1, 4), (3, 3)], [[[1.3, 1.57], [1.3, 1.03]]])
    >>> print(figure.get_label())
    The best weight is 4 for client 0, 1 for client 1, 1.3 for all. With 1 local step a
    round goes from 1.3 to 1.3.

    Args:
        clients: The example of each, `[clients,2]`, up to 4.
        rounds: One or two rounds, each `[clients,steps + 1]`: the weights of a client,
            starting with the server's.
        width_in: Width in inches; narrow figures have panels below each other.
        figure: A `Figure` or `SubFigure` to draw into; a new one by default.

    Raises:
        FigureDataError: if there is nothing to draw, or too much.
    """
    width_in = style.width_of(figure, width_in)
    examples, paths = _checked(clients, rounds)
    stacked = width_in < style.STACK_BELOW_IN
    rows, columns = (len(paths), 1) if stacked else (1, len(paths))
    height_in = rows * (_PANEL_IN + _NAME_IN * len(examples)) + 0.6
    paper, panels = style.new_figure(width_in, height_in, rows, columns, figure)
    losses = _losses(examples)
    for axes, path in zip(panels, paths, strict=True):
        _set_limits(axes, losses, paths)
        _draw(axes, losses, path)
    style.add_keys(paper, 2 if stacked else 5, handlelength=2.5)
    return style.say_of(paper, figure, _said(losses, paths))


@final
@dataclass(frozen=True, eq=False)
class _Loss:
    """The mean squared error over examples `[n,2]`: of a client, or of all."""

    name: str
    examples: Floats
    look: dict[str, Any]

    def at(self, weights: ArrayLike) -> Floats:
        x, y = self.examples.T[:, :, None]
        found: Floats = ((x * np.asarray(weights) - y) ** 2).mean(axis=0)
        return found

    @property
    def best(self) -> float:
        x, y = self.examples.T
        return float(x @ y / (x @ x))


def _losses(examples: Floats) -> list[_Loss]:
    """The loss of each client, and their mean."""
    look: dict[str, Any] = {"color": CLIENTS_EDGE, "mfc": CLIENTS, "mec": INK, "ms": 8}
    of_clients = [
        _Loss(f"client {k}", examples[[k]], look | {"ls": line, "marker": mark})
        for k, (line, mark) in enumerate(_LINES[: len(examples)])
    ]
    of_all = {"color": SERVER, "lw": 2.6, "label": "mean loss"}
    return [*of_clients, _Loss("all", examples, of_all)]


def _ways(path: Floats) -> list[Floats]:
    """Where each client goes, and where the server's model does."""
    return [*path, np.array([path[0, 0], path[:, -1].mean()])]


def _set_limits(axes: Axes, losses: list[_Loss], paths: Sequence[Floats]) -> None:
    """The same in all panels: around all steps, and the lowest points of all curves."""
    for path in paths:
        for loss, walked in zip(losses, _ways(path), strict=True):
            seen = np.append(walked, loss.best)
            axes.update_datalim(np.stack([seen, loss.at(seen)], axis=1))
    low, high = axes.dataLim.intervalx
    if low == high:
        axes.update_datalim([(low - 1, 0), (high + 1, 1)])
    axes.margins(0.08)
    axes.autoscale_view()
    axes.set_yticks([tick for tick in axes.get_yticks()[:-1] if tick >= 0])
    top = axes.get_ylim()[1]  # names are below zero
    axes.set_ylim(-top * _NAME_IN * len(losses) / (_PANEL_IN - 1), top)
    axes.autoscale(enable=False)


def _draw(axes: Axes, losses: list[_Loss], path: Floats) -> None:
    axes.set(xlabel="weight", ylabel="loss: squared error")
    low, high = axes.get_xlim()
    weights = np.linspace(low, high, 401)
    for loss in losses:
        axes.plot(weights, loss.at(weights), markevery=[], **loss.look)
        axes.plot([loss.best], loss.at([loss.best]), label="best weight", **_BEST)
    *walks, (old, new) = _ways(path)
    for row, (loss, walked) in enumerate(zip(losses, walks, strict=False)):
        said = f"{loss.name}: best at {_text(loss.best)}"
        below = 0, -72 * _NAME_IN * (row + 0.8)  # where no curve is
        look = _NAME | {"ha": "left" if 2 * loss.best < low + high else "right"}
        axes.annotate(said, (loss.best, 0), below, **look)
        along = np.linspace(walked[0], walked[-1], 101)
        axes.plot(along, loss.at(along), label="local steps", **_BAND)
        axes.plot(walked, loss.at(walked), **loss.look | _STEPS)
    mean = losses[-1]
    axes.plot([old], mean.at([old]), label="old model", **_OLD)
    axes.plot([new], mean.at([new]), label="averaged model", **_NEW)
    axes.set_title(f"{_steps(path)}: from {_text(old)} to {_text(new)}")


def _steps(path: Floats) -> str:
    return counted(path.shape[1] - 1, "local step")


def _text(weight: float) -> str:
    return f"{weight:.3g}".replace("-", "\N{MINUS SIGN}")


def _said(losses: list[_Loss], paths: Sequence[Floats]) -> str:
    best = ", ".join(f"{_text(loss.best)} for {loss.name}" for loss in losses)
    ends = [(_steps(path), *map(_text, _ways(path)[-1])) for path in paths]
    went = " ".join(f"With {n} a round goes from {a} to {b}." for n, a, b in ends)
    return f"The best weight is {best}. {went}"


def _checked(clients: Any, rounds: Any) -> tuple[Floats, list[Floats]]:
    expected = f"2 to {_MOST_CLIENTS} pairs (x, y) of finite numbers, x not 0"
    examples = style.check_numbers(clients, "clients", expected)
    is_pairs = examples.ndim == 2 and examples.shape[1] == 2
    has_optima = is_pairs and np.isfinite(examples).all() and examples[:, 0].all()
    if not has_optima or not 2 <= len(examples) <= _MOST_CLIENTS:
        raise _refused("clients", clients, expected)
    count = len(examples)
    expected = f"1 to {_MOST_ROUNDS} rounds [{count},steps + 1], each from one weight"
    if not isinstance(rounds, Sequence) or not 1 <= len(rounds) <= _MOST_ROUNDS:
        raise _refused("rounds", rounds, expected)
    paths = [style.check_numbers(each, "rounds", expected) for each in rounds]
    for path in paths:
        if path.ndim != 2 or len(path) != count or not _walks(path):
            raise _refused("rounds", rounds, expected)
    return examples, paths


def _walks(path: Floats) -> bool:
    is_finite = path.shape[1] > 1 and np.isfinite(path).all()
    return bool(is_finite and (path[:, 0] == path[0, 0]).all())


def _refused(where: str, found: Any, expected: str) -> style.FigureDataError:
    lines = {"expected": expected, "found": describe(found), "where": where}
    return style.FigureDataError("these are no steps of clients", **lines)
