# SPDX-License-Identifier: Apache-2.0
"""The quick canvas draws what matplotlib draws, to the pixel or one beside it."""

from io import BytesIO
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from fedlearn_edu.viz import notebook
from fedlearn_edu.viz.artists import QuickCanvas

LOOKS: dict[str, dict[str, Any]] = {
    "plain": {},
    "standing": {"rotation": 90},
    "slanted": {"rotation": 30},
    "red": {"color": "red"},
    "pale": {"alpha": 0.8},
    "large and bold": {"size": 20, "weight": "bold"},
    "in two lines": {"text": "two\nlines"},
    "formula": {"text": "$a^2$"},
}


def pixels(png: bytes) -> NDArray[np.int64]:
    with Image.open(BytesIO(png)) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def with_text(**look: Any) -> Figure:
    figure = Figure(figsize=(2.0, 1.5))
    figure.text(0.53, 0.51, **{"s": "Type g", "ha": "center"} | renamed(look))
    return figure


def renamed(look: dict[str, Any]) -> dict[str, Any]:
    return {"s" if name == "text" else name: value for name, value in look.items()}


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
    expected, found = pixels(buffer.getvalue()), pixels(notebook.fast_png(plain))
    assert np.abs(inked(found) - inked(expected)).max() <= 1
    assert found.mean(axis=(0, 1)) == pytest.approx(expected.mean(axis=(0, 1)), 2e-3)


def test_what_changes_is_drawn_anew() -> None:
    figure = with_text()
    (text,) = figure.texts
    first = notebook.fast_png(figure)
    text.set_text("other")
    second = notebook.fast_png(figure)
    text.set_color("red")
    third = notebook.fast_png(figure)
    text.set_fontsize(18)
    fourth = notebook.fast_png(figure)
    text.set(text="Type g", color="black", size=10)
    assert len({first, second, third, fourth}) == 4
    assert notebook.fast_png(figure) == first


def test_one_canvas_stays_and_other_sizes_are_drawn_at_their_own() -> None:
    figure = with_text()
    notebook.fast_png(figure)
    canvas = figure.canvas
    assert isinstance(canvas, QuickCanvas)
    data, _ = notebook.png(figure)
    assert pixels(data).shape == (225, 300, 3)
    notebook.fast_png(figure)
    assert figure.canvas is canvas
