# SPDX-License-Identifier: Apache-2.0
"""The picture of the training explorer: curves, and one round looked at closely."""

from collections.abc import Mapping
from typing import Any, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from fedlearn_edu.learning.result import Run
from fedlearn_edu.viz import colors, style
from fedlearn_edu.viz.artists import Bars, Stamps, blended
from fedlearn_edu.viz.confusion import ConfusionPanel, worst
from fedlearn_edu.viz.curves import LABEL_IN, Curve, CurvePanel
from fedlearn_edu.viz.explorers.learner import Learner, Seen
from fedlearn_edu.viz.templates import TemplateStrip, as_pictures

_HEIGHT_IN = 7.75
_CURVES_IN = 1.7
_SIDE_IN = 2.35
_MOST_NUMBERED = 10


@final
class TrainingPicture:
    """Curves of up to four runs above; below one round of one of them."""

    @style.in_our_look
    def __init__(self, learners: Mapping[str, Learner], rounds: int) -> None:
        """Lays it out once.

        Args:
            learners: By name, in the order of their lines.
            rounds: How many there are to be.
        """
        self._learners, self._rounds = learners, rounds
        self.figure = Figure(figsize=(style.EXPLORER_IN, _HEIGHT_IN))
        axes = self._add(0.35, _CURVES_IN, 0.85, style.EXPLORER_IN - 0.85 - LABEL_IN)
        axes.set_title("Examples read correctly; band: lowest to highest client")
        self._curves = CurvePanel(axes, _CURVES_IN, is_share=True)
        self._heading = self.figure.text(
            0.02, self._at(2.98), "", size=style.TITLE_PT, weight="bold", va="bottom"
        )
        self.figure.text(
            0.02,
            self._at(3.3),
            "What it looks for (orange: ink speaks for the digit, purple: against)",
            va="bottom",
        )
        self._templates = TemplateStrip(self._add(3.36, 0.62, 0.1, 6.2))
        axes = self._add(4.72, _SIDE_IN, 0.75, _SIDE_IN)
        axes.set_title("What was taken for what", size=style.FONT_PT)
        self._confusion = ConfusionPanel(axes, _SIDE_IN, Stamps)
        axes = self._add(4.72, _SIDE_IN, 4.05, _SIDE_IN - 0.35)
        axes.set_title("Accuracy of each client", size=style.FONT_PT)
        self._clients = _ClientBars(axes)

    @property
    def runs(self) -> dict[str, Run]:
        """The runs so far by name; those that have not begun are not among them."""
        return {
            name: learner.run for name, learner in self._learners.items() if learner.run
        }

    def show(self, round_number: int, process: str | None = None, **_: Any) -> str:
        """Shows a round of a process; one that is not done yet shows the newest."""
        name = process or next(iter(self._learners))
        chosen = self._learners[name]
        at = min(round_number, chosen.rounds) if chosen.seen else None
        seen = None if at is None else chosen.seen[at]
        self._show_curves(chosen, at)
        self._heading.set_text(
            f"{name}: not run yet" if at is None else f"{name}, {_after(at)}"
        )
        self._show_templates(seen)
        self._confusion.show(None if seen is None else seen.judged.confusion)
        self._clients.show(None if seen is None else seen.judged.client_accuracies)
        return self._said(chosen, at, round_number)

    def _show_curves(self, chosen: Learner, at: int | None) -> None:
        curves = [
            Curve(name, learner.accuracy, diverged=learner.diverged)
            for name, learner in self._learners.items()
        ]
        note = "" if chosen.seen else "not run yet: press the button"
        if any(len(curve.values) for curve in curves):
            note = ""
        band = chosen.spread if chosen.seen else None
        self._curves.show(curves, self._rounds, at=at, band=band, note=note)

    def _show_templates(self, seen: Seen | None) -> None:
        if seen is None:
            self._templates.show(None, "not run yet")
            return
        pictures = pictures_of(seen.weights)
        note = "no pictures: this is no softmax regression on square images"
        self._templates.show(pictures, "" if pictures is not None else note)

    def _said(self, chosen: Learner, at: int | None, asked: int) -> str:
        """All of it in words."""
        if at is None:
            others = self._others(chosen)
            return f"{chosen.name} has not run yet.{others}"
        judged = chosen.seen[at].judged
        first = ""
        if asked > at:
            first = f"Round {asked} is not done; the newest is {at}. "
        each = judged.client_accuracies
        spread = "no client has examples"
        if np.isfinite(each).any():
            low, high = int(np.nanargmin(each)), int(np.nanargmax(each))
            spread = (
                f"clients from {each[low]:.1%} (client {low}) "
                f"to {each[high]:.1%} (client {high})"
            )
        return (
            f"{first}{chosen.name}, {_after(at)}: {judged.accuracy_per_example:.1%} of "
            f"{int(judged.total['examples']):,} examples read correctly, {spread}. "
            f"{worst(judged.confusion)}{_ended(chosen)}{self._others(chosen)}"
        )

    def _others(self, chosen: Learner) -> str:
        parts = [
            f"{learner.name} {learner.accuracy[-1]:.1%}, {_after(learner.rounds)}"
            for learner in self._learners.values()
            if learner is not chosen and learner.seen
        ]
        return f" Others: {'; '.join(parts)}." if parts else ""

    def _at(self, below_top_in: float) -> float:
        return 1 - below_top_in / _HEIGHT_IN

    def _add(
        self, top_in: float, high_in: float, left_in: float, wide_in: float
    ) -> Axes:
        size_in = np.array([style.EXPLORER_IN, _HEIGHT_IN] * 2)
        sides_in = np.array([left_in, _HEIGHT_IN - top_in - high_in, wide_in, high_in])
        axes = self.figure.add_axes(sides_in / size_in)
        axes.tick_params(labelsize=style.FONT_PT)
        return axes


@final
class _ClientBars:
    """A bar per client, as high as a row of the matrix beside it if both have ten."""

    def __init__(self, axes: Axes) -> None:
        self._axes = axes
        self._bars = Bars(axes, colors.CLIENTS, lying=True)
        self._numbers = Stamps(axes, ha="left")
        self._names = Stamps(axes, transform=blended(axes, "y", -0.07), ha="right")
        axes.set(xlim=(0, 1), xticks=[0, 0.5, 1], yticks=[])
        axes.xaxis.set_major_formatter(PercentFormatter(1.0, symbol=" %"))
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xlabel("read correctly")
        axes.set_ylabel("client", labelpad=30)

    def show(self, shares: NDArray[np.float64] | None) -> None:
        found = np.zeros(0) if shares is None else shares
        count = len(found)
        self._axes.set_ylim(max(count, 2) - 0.5, -0.5)
        self._bars.show(np.arange(count), found, 0.8 if count <= 30 else 1.0)
        step = max(1, -(-count // _MOST_NUMBERED))
        self._names.show([(0.0, y, str(y)) for y in range(0, count, step)])
        numbered = enumerate(found) if count <= _MOST_NUMBERED else ()
        self._numbers.show([(0.03, y, _percent(share)) for y, share in numbered])


def _percent(share: float) -> str:
    return f"{100 * share:.0f}" if np.isfinite(share) else "none"


def pictures_of(weights: Any) -> NDArray[np.float64] | None:
    """The templates of a softmax regression; `None` where the model is another."""
    if not isinstance(weights, Mapping) or set(weights) != {"weights", "bias"}:
        return None
    try:
        pictures = as_pictures(weights["weights"])
    except style.FigureDataError:
        return None
    return pictures if len(pictures) <= _MOST_NUMBERED else None


def _after(rounds: int) -> str:
    if not rounds:
        return "before training"
    return f"after {rounds} round{'' if rounds == 1 else 's'}"


def _ended(learner: Learner) -> str:
    """Why there is no next round, if there is a reason."""
    if learner.diverged is None:
        return ""
    return f" After round {learner.diverged} it was no longer made of numbers."
