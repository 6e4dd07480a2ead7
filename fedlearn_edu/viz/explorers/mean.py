# SPDX-License-Identifier: Apache-2.0
"""A federated mean opened up: what each client sends, what the server makes of it."""

from collections.abc import Sequence
from typing import Any, final

from matplotlib.figure import Figure

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.viz import style
from fedlearn_edu.viz.explorers.canvas import Canvas
from fedlearn_edu.viz.explorers.controls import Control, limits_around, slider, toggle
from fedlearn_edu.viz.explorers.explorer import Explorer
from fedlearn_edu.viz.explorers.mean_drawing import MeanDrawing
from fedlearn_edu.viz.explorers.mean_run import BOUND, check_values, run_mean
from fedlearn_edu.viz.explorers.mean_texts import words

_MOST_CLIENTS = 8


@short_traceback
@style.in_our_look
def draw_mean(
    values: Sequence[float],
    weights: Sequence[float] | None = None,
    *,
    secure: bool = False,
    width_in: float = style.EXPLORER_IN,
) -> Figure:
    """Draws a `federated_mean` of these numbers, step by step, from a real run.

    >>> from fedlearn_edu import viz
    >>> figure = viz.draw_mean([1.0, 2.0, 6.0])
    >>> figure.get_label().split(". ")[-1]
    'The server adds up 9 and 3, and divides: the mean is 3.'

    Args:
        values: One number per client.
        weights: What each client counts, 0 or more; without them all count the same.
        secure: Whether the server adds up with secure sums: what a client sends then
            is hidden behind a random mask, and only the sum is right. Values and
            weights are rounded to hundredths for that.
        width_in: Width in inches.

    Raises:
        FigureDataError: if there are no values, or some are no finite numbers, or
            weights are negative or not as many as values.
    """
    style.check_width(width_in)
    run = run_mean(values, weights, secure=secure)
    drawing = MeanDrawing(width_in, run)
    canvas = Canvas(width_in, drawing.height)
    drawing.draw(canvas)
    return style.say(canvas.figure, words(run))


@short_traceback
def explore_mean(
    values: Sequence[float] = (1.0, 2.0, 6.0),
    weights: Sequence[float] | None = None,
    *,
    secure: bool = False,
) -> Explorer:
    """Shows `draw_mean` under sliders: a value for each client, and its weight.

    >>> explorer = explore_mean([1.0, 2.0])
    >>> explorer.set(weighted=True, weight_1=3.0)
    >>> print(explorer.sentence.split(". ")[-1])
    The server adds up 7 and 4, and divides: the mean is 1.75.

    Args:
        values: What the clients begin with, one number each, 1 to 8 of them.
        weights: What they count at first, 0 or more; without them all count the same
            until "weighted" is ticked.
        secure: Whether it begins with secure sums.

    Raises:
        FigureDataError: as `draw_mean`, or if there are more than 8 values.
    """
    held, weigh = check_values(values, weights)
    if len(held) > _MOST_CLIENTS:
        raise style.FigureDataError(
            "these are too many sliders",
            expected=f"1 to {_MOST_CLIENTS} values",
            found=f"{len(held)}",
            do="take fewer, or fl.viz.draw_mean",
        )
    controls = {
        "weighted": toggle("weighted", weigh is not None),
        "secure": toggle("secure sums", secure),
        **_sliders("value", held, -10.0),
        **_sliders("weight", weigh or (1.0,) * len(held), 0.0),
    }
    weight_boxes = [c.box for name, c in controls.items() if name[:7] == "weight_"]

    def hide(_: Any = None) -> None:
        is_shown = controls["weighted"].source.value
        for box in weight_boxes:
            box.layout.display = None if is_shown else "none"

    hide()
    controls["weighted"].source.observe(hide, "value")
    return Explorer("A federated mean, opened up", MeanPicture(len(held)), controls)


@final
class MeanPicture:
    """The drawing of a mean over a fixed number of clients."""

    def __init__(self, num_clients: int) -> None:
        self._num_clients = num_clients
        self._canvas = Canvas(style.EXPLORER_IN, 1.0, stamped=True)
        self.figure = self._canvas.figure

    @style.in_our_look
    def show(self, *, weighted: bool, secure: bool, **numbers: float) -> str:
        """Runs the mean and draws it; returns what happened, in words."""
        clients = range(self._num_clients)
        values = [numbers[f"value_{i}"] for i in clients]
        weights = [numbers[f"weight_{i}"] for i in clients] if weighted else None
        run = run_mean(values, weights, secure=secure)
        drawing = MeanDrawing(style.EXPLORER_IN, run)
        self._canvas.wipe(drawing.height)
        drawing.draw(self._canvas)
        return words(run)


def _sliders(name: str, numbers: Sequence[float], low: float) -> dict[str, Control]:
    limits = limits_around(numbers, low, BOUND)
    return {
        f"{name}_{i}": slider(f"client {i}, {name}", number, *limits, 0.5)
        for i, number in enumerate(numbers)
    }
