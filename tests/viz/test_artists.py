# SPDX-License-Identifier: Apache-2.0
"""Parts that move: bars stand where they should."""

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from fedlearn_edu.viz.artists import Bars, Texts, mosaic

WORDS = [(0.2, 0.2, "1,437"), (0.5, 0.5, "0.90"), (0.7, 0.8, "⋮"), (0.4, 0.9, "7")]


def paper() -> tuple[Figure, Axes]:
    figure = Figure(figsize=(3, 2))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    return figure, axes


def ink(figure: Figure, dpi: float) -> NDArray[np.float64]:
    figure.set_dpi(dpi)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    pixels: Any = canvas.buffer_rgba()  # type: ignore[no-untyped-call]
    found: NDArray[np.float64] = 255.0 - np.asarray(pixels)[..., 0]
    return found


def test_what_was_written_before_is_gone() -> None:
    figure, axes = paper()
    writer = Texts(axes)
    writer.show(WORDS)
    assert ink(figure, 100).sum() > 0
    writer.show([])
    assert ink(figure, 100).sum() == 0


def boxes(axes: Axes) -> list[Any]:
    patches: list[Any] = list(axes.patches)
    return [patch.get_bbox() for patch in patches]


@pytest.mark.parametrize("lying", [True, False])
def test_bars_have_their_lengths_and_can_become_fewer(lying: bool) -> None:
    _, axes = paper()
    bars = Bars(axes, "red", lying=lying)
    bars.show([0, 1, 2], [0.5, np.nan, 2.0], 0.8)
    bars.show([0, 1], [0.25, 3.0], 0.5)
    found = boxes(axes)
    lengths = [box.width if lying else box.height for box in found]
    starts = [box.y0 if lying else box.x0 for box in found]
    assert lengths == [0.25, 3.0, 0.0]
    assert starts[:2] == [-0.25, 0.75]


def test_bars_without_a_number_have_no_length() -> None:
    _, axes = paper()
    Bars(axes, "red").show([0, 1], [np.nan, 1.0], 0.8)
    assert [box.height for box in boxes(axes)] == [0.0, 1.0]


def test_a_mosaic_keeps_every_picture_whole() -> None:
    tiles = np.arange(2 * 3 * 2 * 2).reshape(2, 3, 2, 2)
    joined = mosaic(tiles, edge=(1, 0), fill=-1)
    assert joined.shape == (8, 6)
    np.testing.assert_array_equal(joined[5:7, 2:4], tiles[1, 1])
    assert (joined[[0, 3, 4, 7]] == -1).all()
