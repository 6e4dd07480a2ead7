# SPDX-License-Identifier: Apache-2.0
"""The curves of a history: its losses in one panel, its accuracies in another."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fedlearn_edu.learning.history import History
from fedlearn_edu.viz import colors, style

_PANEL_IN, _HEIGHT_IN = 4.4, 3.0
_LINES = (
    (colors.SERVER, "-", "o"),
    (colors.TEST, "--", "s"),
    (colors.LONE, "-.", "^"),
    (colors.INK, ":", "D"),
)
_MAX_MARKERS = 20


@style.in_our_look
def draw_history_curves(history: History) -> Figure:
    """Draws every column with a loss or an accuracy against the rounds.

    At most four of each; a round in which one was not measured has no point.
    """
    kinds = {"loss": "loss", "accuracy": "accuracy (share, 0 to 1)"}
    found = {
        label: [name for name in history.columns if kind in name][: len(_LINES)]
        for kind, label in kinds.items()
    }
    panels = {label: names for label, names in found.items() if names}
    width = _PANEL_IN * max(len(panels), 1)
    figure, axes = style.new_figure(width, _HEIGHT_IN, columns=max(len(panels), 1))
    for each, (label, names) in zip(axes, panels.items(), strict=False):
        _draw_panel(each, history, label, names)
    said = [part for names in panels.values() for part in _said(history, names)]
    return style.say(figure, f"Curves: {'; '.join(said) or 'nothing was measured'}.")


def _draw_panel(axes: Axes, history: History, label: str, names: list[str]) -> None:
    rounds = history["round"]
    for name, (color, line, marker) in zip(names, _LINES, strict=False):
        every = max(1, len(rounds) // _MAX_MARKERS)
        axes.plot(
            rounds,
            history[name],
            line,
            color=color,
            marker=marker,
            markevery=every,
            label=name,
        )
    axes.set_xlabel("round")
    axes.set_ylabel(label)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1, nbins=6))
    axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0))


def _said(history: History, names: list[str]) -> list[str]:
    parts = []
    for name in names:
        values, rounds = history[name], history["round"]
        known = np.flatnonzero(np.isfinite(values))
        if not len(known):
            parts.append(f"{name} was never a number")
            continue
        first, last = known[0], known[-1]
        if first == last:
            parts.append(f"{name} is {values[last]:.3g} in round {rounds[last]:g}")
            continue
        parts.append(
            f"{name} goes from {values[first]:.3g} in round {rounds[first]:g} "
            f"to {values[last]:.3g} in round {rounds[last]:g}"
        )
    return parts
