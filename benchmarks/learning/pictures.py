# SPDX-License-Identifier: Apache-2.0
"""The two pictures of `docs/results.md`."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from benchmarks.learning.algorithms import CENTRAL
from benchmarks.learning.paper import TARGET
from fedlearn_edu.viz import colors, style
from fedlearn_edu.viz.curves import spread

_PANEL_IN = 4.2
_PERCENT = FuncFormatter(lambda share, _: f"{100 * share:g} %")
# Colors that stay apart for color-blind readers; lines end in their labels.
_IN_WORDS = {":": " (dotted)", "--": " (dashed)"}
_LOOKS = {
    "SCAFFOLD": (colors.TEST, "-"),
    "FedAdam": (colors.LONE, "-"),
    "FedSGD": (colors.CLIENTS, "-"),
    "FedAvg, E = 1": (colors.SERVER, "-"),
    "FedAvg, E = 5": (colors.SERVER, ":"),
    "FedProx": (colors.ALARM, "--"),
    CENTRAL: (colors.QUIET, "-"),
}


@style.in_our_look
def draw_algorithms(
    found: dict[str, Any], *, width_in: float = style.WIDE_IN
) -> Figure:
    """Accuracy over rounds: a line for each algorithm, labelled where it ends."""
    figure, (axes,) = style.new_figure(width_in, _PANEL_IN)
    ends = {}
    for name, entry in found.items():
        curves = np.array(entry["accuracy"])
        rounds = np.arange(1, curves.shape[1] + 1)
        color, dash = _LOOKS[name]
        axes.fill_between(
            rounds, curves.min(axis=0), curves.max(axis=0), color=color, alpha=0.2, lw=0
        )
        axes.plot(rounds, curves.mean(axis=0), color=color, ls=dash)
        end = float(curves[:, -1].mean())
        ends[f"{name}{_IN_WORDS.get(dash, '')}  {100 * end:.1f} %"] = (end, color)
    axes.set_xlim(0, curves.shape[1])
    axes.set_ylim(0.74, 0.94)
    axes.set_xlabel("round")
    axes.set_ylabel("test images read correctly")
    axes.yaxis.set_major_formatter(_PERCENT)
    axes.set_title("Ten clients, one digit each, softmax regression")
    _label_ends(axes, ends)
    return figure


def _label_ends(axes: Axes, ends: dict[str, tuple[float, str]]) -> None:
    """A label and a square in the color of a line, where that ends; none touch."""
    low, high = axes.get_ylim()
    order = sorted(ends, key=lambda label: ends[label][0])
    gap = 1.4 * style.FONT_PT / 72 / (0.72 * _PANEL_IN)
    heights = spread([(ends[label][0] - low) / (high - low) for label in order], gap)
    for label, height in zip(order, heights, strict=True):
        for text, color, right_pt in (
            ("\N{BLACK SQUARE}", ends[label][1], 5),
            (label, colors.INK, 18),
        ):
            axes.annotate(
                text,
                xy=(1.0, height),
                xycoords="axes fraction",
                xytext=(right_pt, 0),
                textcoords="offset points",
                va="center",
                color=color,
            )


@style.in_our_look
def draw_paper(found: dict[str, Any], *, width_in: float = style.WIDE_IN) -> Figure:
    """Accuracy over rounds, one panel for each way to deal; the paper is a line."""
    stacked = width_in < style.STACK_BELOW_IN
    rows, columns = (len(found), 1) if stacked else (1, len(found))
    figure, panels = style.new_figure(width_in, _PANEL_IN * rows, rows, columns)
    titles = {
        "IID": "600 images each, at random",
        "non-IID": "two shards each, sorted by digit",
    }
    for axes, (kind, entry) in zip(panels, found.items(), strict=True):
        _draw_runs(axes, entry)
        axes.set_title(titles[kind])
    return figure


def _draw_runs(axes: Axes, entry: dict[str, Any]) -> None:
    for run in entry["runs"]:
        rounds = np.arange(1, len(run["accuracy"]) + 1)
        axes.plot(rounds, run["accuracy"], color=colors.SERVER, lw=1.2, alpha=0.8)
        if run["rounds"] is not None:
            axes.plot(run["rounds"], run["accuracy"][-1], "o", color=colors.SERVER)
    published = entry["published"]
    axes.axhline(TARGET, color=colors.QUIET, lw=1)
    axes.text(1.07 * published, TARGET - 0.003, f"{TARGET:.0%}", ha="right", va="top")
    axes.axvline(published, color=colors.ALARM, ls="--", lw=1.5)
    axes.set_xlim(0, 1.08 * published)
    axes.set_ylim(0.8, 1.0)
    axes.yaxis.set_major_formatter(_PERCENT)
    axes.set_xlabel("round")
    axes.set_ylabel("test images read correctly")
    words = f"published: {published} rounds "
    axes.text(published, 0.81, words, color=colors.ALARM, ha="right")
    reached = [run["rounds"] for run in entry["runs"] if run["rounds"] is not None]
    if reached:
        text = f"ours: {min(reached)} to {max(reached)} rounds"
        axes.text(min(reached), 0.982, text, color=colors.SERVER)
