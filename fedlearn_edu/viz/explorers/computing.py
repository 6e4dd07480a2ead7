# SPDX-License-Identifier: Apache-2.0
"""Explorers of pictures that take seconds: what is missing is computed automatically.

The work runs in the background and is kept. A picture asks for it when it is to show
what is not there yet; meanwhile the controls can be moved.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar, final

import numpy as np
from matplotlib.figure import Figure

from fedlearn_edu.viz import style
from fedlearn_edu.viz.curves import LABEL_IN, CurvePanel
from fedlearn_edu.viz.explorers.background import Job, Step, Work, explorers_context
from fedlearn_edu.viz.explorers.controls import Control
from fedlearn_edu.viz.explorers.explorer import Explorer, Picture
from fedlearn_edu.viz.explorers.learner import Learner

Values = Mapping[str, Any]
"""What the controls say, by name."""


class ComputedPicture(Picture, Protocol):
    """A picture of what takes seconds.

    Attributes:
        ask: called by `show` if something to be shown is not computed yet.
    """

    ask: Callable[[], None]

    def has(self, values: Values) -> bool:
        """Whether all of it is computed."""

    def compute(self, values: Values) -> Iterator[Step]:
        """Computes it step by step."""


def computing_explorer(
    title: str, picture: ComputedPicture, controls: Mapping[str, Control]
) -> Explorer:
    """An explorer that begins to compute at once, and again whenever it is needed."""
    job = Job(
        "Compute",
        lambda: _compute(explorer, picture),
        "what the controls say, if it is not there yet",
        explorers_context,
    )
    explorer = Explorer(title, picture, controls, job=job)
    picture.ask = job.start
    job.start()
    return explorer


def _compute(explorer: Explorer, picture: ComputedPicture) -> Work:
    """Computes until all is there for the controls, also if they are moved."""
    yield 0, 1, "getting ready"
    while not picture.has(values := explorer.values):
        yield from picture.compute(values)
    return ""


S = TypeVar("S", bound=Hashable)


@final
class Trials(Generic[S]):
    """A learner for each setting that was tried."""

    def __init__(self, make: Callable[[S], Learner]) -> None:
        self._make, self._made = make, dict[S, Learner]()

    def __getitem__(self, setting: S) -> Learner:
        """The learner of this setting; a new one has no rounds yet."""
        if setting not in self._made:
            # Another thread may have been quicker.
            self._made.setdefault(setting, self._make(setting))
        return self._made[setting]

    def has(self, settings: Sequence[S], rounds: int) -> bool:
        """Whether all of them have learned so long, or diverged before."""
        tried = [self[each] for each in settings]
        return all(each.rounds >= rounds or each.diverged for each in tried)

    def train(self, settings: Sequence[S], rounds: int) -> Iterator[Step]:
        """Trains one after the other, up to this round."""
        total = rounds * len(settings)
        for number, setting in enumerate(settings):
            yield from self[setting].train(rounds, number * rounds, total)


_PANEL_IN, _HEAD_IN, _LEFT_IN, _FOOT_IN = 2.2, 0.42, 0.85, 0.7


@style.in_our_look
def curve_panels(titles: Mapping[str, bool]) -> tuple[Figure, list[CurvePanel]]:
    """Panels below each other: titles, each with whether its panel is of shares."""
    row_in, width_in = _HEAD_IN + _PANEL_IN + _FOOT_IN, style.EXPLORER_IN
    height_in = float(np.ceil(8 * len(titles) * row_in) / 8)
    figure, panels = Figure(figsize=(width_in, height_in), facecolor="white"), []
    for row, (title, is_share) in enumerate(titles.items(), 1):
        corner_in = _LEFT_IN, height_in - row * row_in + _FOOT_IN
        size_in = width_in - _LEFT_IN - LABEL_IN, _PANEL_IN
        axes = style.add_axes(figure, (*corner_in, *size_in))
        axes.set_title(title)
        panels.append(CurvePanel(axes, _PANEL_IN, is_share=is_share))
    return figure, panels
