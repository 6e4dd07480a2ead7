# SPDX-License-Identifier: Apache-2.0
"""One look for all figures: sizes, panels, labels, and how to save and to show.

The colors are in `colors.py`. Once this module is imported, a figure that ends the cell
of a notebook appears below it.
"""

from collections.abc import Callable
from functools import partial, wraps
from inspect import signature
from pathlib import Path
from threading import RLock
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure, SubFigure
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from fedlearn_edu.errors import FedLearnError, describe, short_traceback
from fedlearn_edu.viz.colors import INK
from fedlearn_edu.viz.notebook import running_shell, show_figures

WIDE_IN = 10.0  #: The width of a page, in inches.
NARROW_IN = 4.5  #: The width of a column or a phone, in inches.

EXPLORER_IN = 6.0
"""The width of a picture beside controls; on a phone it shrinks and can be read."""

STACK_BELOW_IN = 8.0
"""Figures narrower than this put their panels below each other."""

LEAST_IN, MOST_IN = 3.0, 100.0
"""The limits of a width in inches; narrower figures have no room for their words."""

DPI = 150

FONT_PT = 11.0
DIGIT_IN = 0.0975  # the width of a digit, in inches
TITLE_PT = 12.5

_LOOK: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": FONT_PT,
    "axes.labelsize": FONT_PT,
    "axes.titlesize": TITLE_PT,
    "axes.titlelocation": "left",
    "figure.titlesize": TITLE_PT,
    "figure.facecolor": "white",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.fontsize": FONT_PT,
    "legend.frameon": False,
    "legend.title_fontsize": FONT_PT,
    "lines.linewidth": 2.2,
    # Names that people choose are written as they are: a $ is a dollar sign.
    "text.parse_math": False,
}

_OF_THE_PAPER = {"width_in", "figure", "ax"}

P = ParamSpec("P")
R = TypeVar("R")
one_at_a_time = RLock()
"""Held by what draws: settings and figures are not made for two threads."""


def in_our_look(draw: Callable[P, R]) -> Callable[P, R]:
    """Decorates every function that draws; leaves the settings of the caller alone."""
    form = signature(draw)

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> R:
        # Settings are those of the process: two threads that change them, and put back
        # what they found, would leave one's for good.
        with one_at_a_time, rc_context(_LOOK):
            made = draw(*args, **kwargs)
        is_given = form.bind(*args, **kwargs).arguments.keys() & _OF_THE_PAPER
        is_free = "width_in" in form.parameters and not is_given
        if is_free and isinstance(made, Figure):
            narrow: Any = {**kwargs, "width_in": NARROW_IN}
            _keep_twin(made, partial(drawn, *args, **narrow))
        return made

    return drawn


# From a figure to what draws it for a narrow page, until the figure is changed.
_narrow: "WeakKeyDictionary[Figure, Callable[[], Any]]" = WeakKeyDictionary()


def _keep_twin(figure: Figure, draw: Callable[[], Any]) -> None:
    def forget(*_: Any) -> None:
        _narrow.pop(figure, None)

    _narrow[figure] = draw
    figure.stale_callback = forget


def narrow_twin(figure: Figure) -> Figure | None:
    """The same figure for a narrow page.

    `None` if it was drawn for a width of its own, or was changed since, or if what was
    drawn has changed: a list may have grown, an iterator is at its end.
    """
    if (draw := _narrow.get(figure)) is None:
        return None
    try:
        twin: Figure = draw()
    except FedLearnError:
        return None
    return twin if said(twin) == said(figure) else None


class FigureDataError(FedLearnError, ValueError):
    """The numbers handed to a figure do not have the shape it draws."""


Paper = Figure | SubFigure
"""What can be drawn into: a figure, or a part of one."""


def size_in(paper: Paper) -> tuple[float, float]:
    """Width and height in inches."""
    figure: Any = paper
    width, height = figure.bbox.size / figure.dpi
    return float(width), float(height)


def width_of(paper: Paper | None, width_in: Any) -> float:
    """How wide to draw: as wide as the figure that is given, or else `width_in`."""
    if paper is not None:
        check_figure(paper)
        return size_in(paper)[0]
    check_width(width_in)
    return float(width_in)


def check_width(width_in: Any) -> None:
    """Refuses anything but a number of inches within the limits."""
    is_number = isinstance(width_in, int | float | np.integer | np.floating)
    if not is_number or not LEAST_IN <= width_in <= MOST_IN:
        raise FigureDataError(
            "a figure cannot be as wide as this",
            expected=f"a number of inches from {LEAST_IN:g} to {MOST_IN:g}",
            found=describe(width_in),
            where="width_in",
            do=f"viz.NARROW_IN is {NARROW_IN:g}, viz.WIDE_IN is {WIDE_IN:g}",
        )


def check_figure(figure: Any) -> None:
    """Refuses anything but a figure or a part of one."""
    if not isinstance(figure, Figure | SubFigure):
        raise FigureDataError(
            "this cannot be drawn into",
            expected="a figure, or a part of one made by figure.subfigures()",
            found=describe(figure),
            where="figure",
            do="pass figure=plt.figure(), or leave it out",
        )


def check_numbers(found: Any, where: str, expected: str) -> NDArray[np.float64]:
    """The same as an array; refuses text, and rows of different lengths."""
    try:
        return np.asarray(found, dtype=float)
    except (TypeError, ValueError):
        raise FigureDataError(
            "these are no numbers to draw",
            expected=expected,
            found=describe(found),
            where=where,
        ) from None


def new_figure(
    width_in: float,
    height_in: float,
    rows: int = 1,
    columns: int = 1,
    figure: Paper | None = None,
) -> tuple[Figure, list[Axes]]:
    """Returns an empty figure, or the one that is given, and its axes, row by row.

    A new one belongs to the caller alone: no window, no global state.

    >>> figure, axes = new_figure(6.0, 3.0, columns=2)
    >>> figure.get_size_inches().tolist(), len(axes)
    ([6.0, 3.0], 2)
    """
    if figure is not None:
        check_figure(figure)
    paper: Any = figure or Figure(figsize=(width_in, height_in))
    if paper.figure.get_layout_engine() is None:
        paper.figure.set_layout_engine("constrained")
    axes = list(np.ravel(paper.subplots(rows, columns, squeeze=False)))
    for each in axes:
        dress(each)
    return paper, axes


def add_keys(paper: Paper, columns: int, **look: Any) -> None:
    """A legend below all panels, with each label once."""
    keys: dict[Any, Any] = {}
    for axes in paper.axes:
        handles, labels = axes.get_legend_handles_labels()
        keys |= dict(zip(labels, handles, strict=True))
    at: Any = {"loc": "outside lower left", "ncols": columns}
    paper.legend(keys.values(), keys.keys(), **at, **look)


def tint(color: str, share: float) -> tuple[float, float, float]:
    """A color mixed with the paper's, so that nothing shines through."""
    red, green, blue = (1 - share * (1 - part) for part in to_rgb(color))
    return red, green, blue


def dress(axes: Axes) -> None:
    """Gives ticks and lines our look, in which they are made when a figure is shown."""
    axes.tick_params(labelsize=FONT_PT, colors=INK)
    axes.grid(axis="y", color="#E3E3E3")
    axes.set_axisbelow(True)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_fontsize(FONT_PT)


def say(figure: Figure, sentence: str) -> Figure:
    """Gives the figure its words, for those who cannot see it; returns the figure.

    Pages and notebooks show it as an image with that text: `html` in `pictures.py`.
    """
    figure.set_label(sentence)
    return figure


def say_of(paper: Paper, given: object, sentence: str) -> Figure:
    """The same for a figure that was given, which may have words already."""
    figure: Any = paper.figure
    words = said(figure) if given is not None else ""
    return say(figure, f"{words} {sentence}".strip())


def said(figure: Figure) -> str:
    """The words of a figure; none if it was given none."""
    return str(figure.get_label() or "")


_PHOTOGRAPH = "photograph"


def as_photograph(image: AxesImage) -> AxesImage:
    """Marks an image, in ink on paper, that no theme may turn into its negative."""
    image.set_gid(_PHOTOGRAPH)
    return image


def is_photograph(image: AxesImage) -> bool:
    """Whether it was marked, and is there to be seen."""
    return image.get_gid() == _PHOTOGRAPH and image.get_visible()


def keep_layout(figure: Figure) -> None:
    """Lays the figure out once; later moves keep that layout."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


@short_traceback
def save_png(figure: Figure, path: Path, description: str) -> Path:
    """Writes the figure at 150 dots per inch and returns where.

    Two runs write the same bytes: no date and no version is kept, only `description`,
    the words for those who cannot see the picture.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {"Software": None, "Description": description}
    figure.savefig(path, dpi=DPI, metadata=metadata)
    return path


if (_shell := running_shell()) is not None:
    show_figures(_shell)
