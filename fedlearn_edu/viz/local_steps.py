# SPDX-License-Identifier: Apache-2.0
"""The local steps of the clients in a round, for a model of a single weight."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from fedlearn_edu.errors import counted, describe, short_traceback
from fedlearn_edu.viz import style
from fedlearn_edu.viz.colors import CLIENTS, INK, SERVER

Floats = NDArray[np.float64]

_PANEL_IN, _ROW_IN, _LEGEND_IN, _FRAME_IN = 2.6, 0.24, 0.26, 1.15
_MOST_CLIENTS, _MOST_ROUNDS = 4, 2
_LINES = ("-", (0, (5, 2)), (0, (1, 1.2)), "-.")
_SERVER = {"ls": "none", "color": SERVER}
_OLD: dict[str, Any] = {**_SERVER, "marker": "o", "ms": 11, "mfc": "w", "mew": 2}
_NEW: dict[str, Any] = {**_SERVER, "marker": "*", "ms": 14, "mec": "w", "mew": 0.8}
_STEPS: dict[str, Any] = {"color": CLIENTS, "marker": "o", "ms": 6, "mec": INK}
_BEST: dict[str, Any] = {"color": INK, "marker": "D", "ms": 9, "mec": "w"}
_LEGEND = {
    "loss of a client": Line2D([], [], color=CLIENTS, lw=1.2),
    "its steps": Line2D([], [], lw=3, **_STEPS),
    "mean of the losses": Line2D([], [], color=SERVER, lw=1.8),
    "best weight": Line2D([], [], ls="none", **_BEST),
    "old model": Line2D([], [], **_OLD),
    "mean: new model": Line2D([], [], **_NEW),
}


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
    the parabola (x · weight - y)², with its minimum at y / x.

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
    row_in = _FRAME_IN + _PANEL_IN + _ROW_IN * (len(examples) + 1)
    legend_in = _LEGEND_IN * (3 if stacked else 1)
    height_in = rows * row_in + legend_in
    paper, panels = style.new_figure(width_in, height_in, rows, columns, figure)
    for axes, path in zip(panels, paths, strict=True):
        _draw(axes, examples, path, _reach(examples, paths))
        _set_limits(axes, examples, paths)
    paper.legend(
        _LEGEND.values(),
        _LEGEND.keys(),
        loc="outside lower left",
        ncols=2 if stacked else len(_LEGEND),
        frameon=False,
        fontsize=style.FONT_PT,
        columnspacing=1.2,
    )
    return style.say_of(paper, figure, _said(examples, paths))


def losses(examples: Floats, weights: Floats) -> Floats:
    """`[clients,weights]`: the squared error of each client at each weight."""
    x, y = examples.T[:, :, None]
    found: Floats = (x * weights - y) ** 2
    return found


def optima(examples: Floats) -> dict[str, float]:
    """The best weight for each client, and for all of them together."""
    x, y = examples.T
    found = {f"client {k}": float(b / a) for k, (a, b) in enumerate(examples)}
    return {**found, "all": float(x @ y / (x @ x))}


def _draw(
    axes: Axes, examples: Floats, path: Floats, reach: tuple[float, float]
) -> None:
    old, new = path[0, 0], path[:, -1].mean()
    steps = _steps(path)
    axes.set_title(f"{steps}: from {old:.3g} to {new:.3g}")
    axes.set_xlabel("weight")
    axes.set_ylabel("squared error")
    low, high = reach
    wide = np.linspace(2 * low - high, 2 * high - low, 601)
    axes.plot(wide, losses(examples, wide).mean(axis=0), color=SERVER, lw=1.8)
    for client, walked in enumerate(path):
        own, dashes = examples[client : client + 1], _LINES[client]
        axes.plot(wide, losses(own, wide)[0], color=CLIENTS, lw=1.2, ls=dashes)
        along = np.linspace(walked[0], walked[-1], 101)
        axes.plot(along, losses(own, along)[0], color=CLIENTS, lw=4, alpha=0.6)
        name, heights = f"client {client}", losses(own, walked)[0]
        axes.plot(walked, heights, ls="none", label=name, zorder=4, **_STEPS)
    for name, weight, look in (("old", old, _OLD), ("new", new, _NEW)):
        height = losses(examples, np.array([weight])).mean()
        axes.plot([weight], [height], zorder=5, label=name, **look)


def _set_limits(axes: Axes, examples: Floats, paths: Sequence[Floats]) -> None:
    """The same in all panels; the best weights are in rows below the curves."""
    low, high = _reach(examples, paths)
    margin = 0.25 * (high - low)
    axes.set_xlim(low - margin, high + margin)
    servers = np.array([[p[0, 0], p[:, -1].mean()] for p in paths]).ravel()
    seen = [losses(examples, servers).max()]
    seen += [
        losses(examples[k : k + 1], p[k]).max() for p in paths for k in range(len(p))
    ]
    top = 1.2 * max(seen) or 1.0
    row = top * _ROW_IN / _PANEL_IN
    best = optima(examples)
    axes.set_ylim(-row * (len(best) + 0.6), top)
    ticks = MaxNLocator(5).tick_values(0, top)
    axes.set_yticks([each for each in ticks if 0 <= each <= top])
    for number, (name, weight) in enumerate(best.items(), start=1):
        color = SERVER if name == "all" else CLIENTS
        own = examples if name == "all" else examples[number - 1 : number]
        lowest = losses(own, np.array([weight])).mean()
        axes.plot([weight] * 2, [-row * (number - 0.4), lowest], c=color, lw=1, ls=":")
        look = _BEST | {"color": color}
        axes.plot([weight], [lowest], zorder=3, label=f"best for {name}", **look)
        over = {"facecolor": "w", "edgecolor": "none", "pad": 0.5}
        label = f"{name}: {weight:.3g}"
        axes.text(weight, -row * number, label, ha="center", va="center", bbox=over)


def _reach(examples: Floats, paths: Sequence[Floats]) -> tuple[float, float]:
    known = np.concatenate([*map(np.ravel, paths), list(optima(examples).values())])
    low, high = float(known.min()), float(known.max())
    return (low, high) if high > low else (low - 1, high + 1)


def _steps(path: Floats) -> str:
    count = path.shape[1] - 1
    return f"{counted(count, 'local step')}"


def _said(examples: Floats, paths: Sequence[Floats]) -> str:
    best = ", ".join(f"{w:.3g} for {name}" for name, w in optima(examples).items())
    went = (
        f"With {_steps(path)} a round goes from {path[0, 0]:.3g} to "
        f"{path[:, -1].mean():.3g}."
        for path in paths
    )
    return f"The best weight is {best}. {' '.join(went)}"


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
