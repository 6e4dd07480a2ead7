# SPDX-License-Identifier: Apache-2.0
"""Bars stand where they should; the quick canvas draws what matplotlib draws.

To the pixel, or to the one beside it.
"""

from io import BytesIO
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from fedlearn_edu.viz import pictures
from fedlearn_edu.viz.artists import Bars, mosaic


def test_bars_have_their_lengths_and_can_become_fewer() -> None:
    axes = Figure().add_subplot()
    bars = Bars(axes)
    bars.show([0, 1, 2], [0.5, 1.0, 2.0], 0.8)
    bars.show([0, 1], [np.nan, 3.0], 0.5)
    patches: list[Any] = list(axes.patches)
    found = [patch.get_bbox() for patch in patches]
    assert [box.width for box in found[:2]] == [0.0, 3.0]
    assert [patch.get_visible() for patch in patches] == [True, True, False]
    assert [box.y0 for box in found[:2]] == [-0.25, 0.75]


def test_a_mosaic_keeps_every_picture_whole() -> None:
    tiles = np.arange(2 * 3 * 2 * 2).reshape(2, 3, 2, 2)
    joined = mosaic(tiles, edge=(1, 0), fill=-1)
    assert joined.shape == (8, 6)
    np.testing.assert_array_equal(joined[5:7, 2:4], tiles[1, 1])
    assert (joined[[0, 3, 4, 7]] == -1).all()


LOOKS: dict[str, dict[str, Any]] = {
    "plain": {},
    "standing": {"rotation": 90},
    "slanted": {"rotation": 30},
    "red": {"color": "red"},
    "pale": {"alpha": 0.8},
    "large and bold": {"size": 20, "weight": "bold"},
    "in two lines": {"s": "two\nlines"},
    "formula": {"s": "$a^2$"},
}


def pixels(png: bytes) -> NDArray[np.int64]:
    with Image.open(BytesIO(png)) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def with_text(**look: Any) -> Figure:
    figure = Figure(figsize=(2.0, 1.5))
    figure.text(0.53, 0.51, **{"s": "Type g", "ha": "center"} | look)
    return figure


def inked(image: NDArray[np.int64]) -> NDArray[np.intp]:
    """The first and the last row and column that are not white."""
    rows, columns = np.nonzero(image.min(axis=2) < 200)
    return np.array([rows.min(), rows.max(), columns.min(), columns.max()])


@pytest.mark.parametrize("look", LOOKS.values(), ids=list(LOOKS))
def test_text_is_where_it_would_be_and_as_dark(look: dict[str, Any]) -> None:
    plain = with_text(**look)
    buffer = BytesIO()
    FigureCanvasAgg(plain)
    plain.savefig(buffer, format="png", dpi=100)
    expected, found = pixels(buffer.getvalue()), pixels(pictures.moving(plain)[1])
    assert np.abs(inked(found) - inked(expected)).max() <= 1
    assert found.mean(axis=(0, 1)) == pytest.approx(expected.mean(axis=(0, 1)), 2e-3)


def test_what_changes_is_drawn_anew() -> None:
    figure = with_text()
    (text,) = figure.texts
    first = pictures.moving(figure)[1]
    text.set_text("other")
    second = pictures.moving(figure)[1]
    text.set_color("red")
    third = pictures.moving(figure)[1]
    text.set_fontsize(18)
    fourth = pictures.moving(figure)[1]
    text.set(text="Type g", color="black", size=10)
    assert len({first, second, third, fourth}) == 4
    assert pictures.moving(figure)[1] == first
