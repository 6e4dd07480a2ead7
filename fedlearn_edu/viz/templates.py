# SPDX-License-Identifier: Apache-2.0
"""What a softmax regression looks for: its weights as one picture per class."""

from typing import Any, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.viz import colors, style
from fedlearn_edu.viz.artists import Texts, mosaic

_COLUMNS = 5
_FRAME_IN, _NAME_IN = 1.1, 0.26
_GAP = 0.07  # between pictures


@short_traceback
@style.in_our_look
def draw_digit_templates(
    weights: ArrayLike,
    *,
    title: str = "What the model looks for in each digit",
    width_in: float = style.WIDE_IN,
    figure: style.Paper | None = None,
) -> Figure:
    """Draws the weights of a softmax regression as one picture per class.

    Args:
        weights: `[pixels, classes]` of a square image. Ink on an orange pixel speaks
            for the class, on a purple one against it, elsewhere for nothing.
            The few strongest weights (0.5 %) share the ends of the color bar.
        title: The title of the figure.
        width_in: Width in inches.
        figure: A `Figure` or `SubFigure` to draw into; a new one by default.

    >>> print(draw_digit_templates([[0.5, 0], [0, 0], [0, 0], [0, -2]]).get_label())
    Weights of 2 classes as pictures of 2 by 2 pixels. The strongest for a class: 0.5
    (class 0, row 0, column 0); the strongest against one: -2 (class 1, row 1, column
    1).

    Raises:
        FigureDataError: if the weights are not pictures, or no finite numbers.
    """
    width_in = style.width_of(figure, width_in)
    pictures = as_pictures(weights)
    picture_in = width_in / _COLUMNS
    step = 1 + _NAME_IN / picture_in  # from row to row, in pictures
    rows = -(-len(pictures) // _COLUMNS)
    height_in = _FRAME_IN + rows * step * picture_in
    paper, (axes,) = style.new_figure(width_in, height_in, figure=figure)
    paper.suptitle(title, x=0.01, ha="left")
    limit = limit_of(pictures)
    for digit, picture in enumerate(pictures):
        row, left = divmod(digit, _COLUMNS)
        bottom = (row + 1) * step
        sides = left, left + 1 - _GAP, bottom, bottom - 1 + _GAP
        look: Any = {"cmap": colors.SIGNED_MAP, "vmin": -limit, "vmax": limit}
        image = axes.imshow(picture, extent=sides, **look)
        frame: Any = {"fill": False, "ec": colors.QUIET, "lw": 0.8, "clip_on": False}
        axes.add_patch(Rectangle((left, sides[-1]), 1 - _GAP, 1 - _GAP, **frame))
        axes.text(left, sides[-1] - _GAP, f"{digit}", size=style.TITLE_PT)
    axes.set(xlim=(0, _COLUMNS - _GAP), ylim=(rows * step, 0))
    axes.set_axis_off()
    below: Any = {"location": "bottom", "pad": 0.12 / height_in, "extend": "both"}
    below |= {"aspect": 5 * width_in, "ticks": MaxNLocator(5)}
    bar = paper.colorbar(image, ax=axes, **below)
    bar.ax.tick_params(labelsize=style.FONT_PT)
    bar.set_label("against ← ink on a pixel → for")
    return style.say_of(paper, figure, _said(pictures))


def _said(pictures: NDArray[np.float64]) -> str:
    """What speaks the most for a class, and what against one."""
    classes, side = pictures.shape[:2]
    of = f"{classes} class{'es' * (classes != 1)}"
    found = []
    for sign in (1, -1):
        place = np.unravel_index(int((sign * pictures).argmax()), pictures.shape)
        where = "class {}, row {}, column {}".format(*place)
        weight = pictures[place]
        found.append(f"{weight:.3g} ({where})" if sign * weight > 0 else "none")
    return (
        f"Weights of {of} as pictures of {side} by {side} pixels. The strongest for a "
        f"class: {found[0]}; the strongest against one: {found[1]}."
    )


def as_pictures(weights: ArrayLike) -> NDArray[np.float64]:
    """Weights `[pixels,classes]` as pictures `[classes,side,side]`.

    Raises:
        FigureDataError: if there is no square number of pixels, or no class, or some
            weight is no finite number.
    """
    values = style.check_numbers(weights, "weights", "[pixels, classes] of numbers")
    side = round(np.sqrt(len(values))) if values.ndim else 0
    if not np.isfinite(values).all():
        raise style.FigureDataError(
            "the weights are not pictures: some are no finite numbers",
            expected="finite weights",
            found=f"{int((~np.isfinite(values)).sum())} of {values.size} are not",
            where="weights",
            do="train with a lower learning rate",
        )
    if values.ndim != 2 or not values.size or side * side != len(values):
        raise style.FigureDataError(
            "the weights are not pictures",
            expected="[pixels, classes] with a square number of pixels",
            found=values.shape,
            do="pass the weights of a model on square images, for example [784, 10]",
        )
    return values.T.reshape(-1, side, side)


def limit_of(pictures: NDArray[np.float64]) -> float:
    """Where the color scale ends: but for the few strongest weights (0.5 %)."""
    return float(np.quantile(np.abs(pictures), 0.995)) or 1.0


@final
class TemplateStrip:
    """All templates in one row of one panel, to be moved from round to round."""

    def __init__(self, axes: Axes) -> None:
        self._axes = axes
        axes.set_axis_off()
        self._image = axes.imshow([[0.0]], colors.SIGNED_MAP, aspect="auto")
        self._names = Texts(axes)
        self._note = Texts(axes, transform=axes.transAxes)

    def show(self, pictures: NDArray[np.float64] | None, note: str = "") -> None:
        """Shows these pictures `[classes,side,side]`, or a note in their place."""
        self._note.show([(0.5, 0.5, note)] if note else [])
        self._image.set_visible(pictures is not None)
        if pictures is None:
            self._names.show([])
            return
        classes, side = pictures.shape[:2]
        limit = limit_of(pictures)
        self._image.set_data(mosaic(pictures[None], (0, 1), fill=np.nan))
        self._image.set_clim(-limit, limit)
        self._image.set_extent((0, classes, side, 0))
        self._axes.set(xlim=(0, classes), ylim=(side, 0))
        self._names.show([(x + 0.5, 1.2 * side, str(x)) for x in range(classes)])
