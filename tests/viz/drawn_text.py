# SPDX-License-Identifier: Apache-2.0
"""Finds every piece of text a figure really draws, and where it lands in pixels."""

from io import BytesIO
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from PIL import Image

from fedlearn_edu.viz import pictures, style
from tests.viz.contrast import check_contrast


def drawn_texts(figure: Figure, dpi: float = 100.0) -> list[tuple[Text, Bbox]]:
    """Draws the figure with a renderer that remembers each text it was asked for."""
    figure.set_dpi(dpi)
    canvas = FigureCanvasAgg(figure)
    renderer: Any = canvas.get_renderer()  # type: ignore[no-untyped-call]
    found: list[Text] = []
    original = renderer.draw_text

    def remember(*args: Any, mtext: Text | None = None, **kwargs: Any) -> None:
        if mtext is not None:
            found.append(mtext)
        original(*args, mtext=mtext, **kwargs)

    renderer.draw_text = remember
    figure.draw(renderer)
    # The lines of a text of several lines come without it.
    several = [text for text in figure.findobj(Text) if "\n" in text.get_text()]
    found += [text for text in several if text.get_visible()]
    unique = {id(text): text for text in found if text.get_text().strip()}
    return [(text, text.get_window_extent(renderer)) for text in unique.values()]


def check_text(figure: Figure, *, dollars: bool = False) -> list[str]:
    """Asserts that no text is small, clipped or over another; returns all texts.

    Nor may a `$` be drawn, as when text is written for mathematics and taken literally,
    unless the picture is of a name that has one.
    """
    texts = drawn_texts(figure)
    written = [text.get_text() for text, _ in texts if not text.get_parse_math()]
    marks = [str(line.get_marker()) for line in figure.findobj(Line2D)]
    assert dollars or not [each for each in [*written, *marks] if "$" in each]
    width, height = figure.get_size_inches() * figure.dpi
    for text, box in texts:
        assert float(text.get_fontsize()) >= 11, f"{text.get_text()!r} is too small"
        beyond = max(-box.x0, -box.y0, box.x1 - width, box.y1 - height)
        assert beyond <= 1, f"{text.get_text()!r} is clipped"
    for (first, box), (second, other) in combinations(texts, 2):
        shared = Bbox.intersection(box, other)
        overlap = shared is not None and min(shared.width, shared.height) > 1
        names = f"{first.get_text()!r} and {second.get_text()!r}"
        assert not overlap, f"{names} overlap"
    return [text.get_text() for text, _ in texts]


def check_figure(figure: Figure, *, dollars: bool = False) -> list[str]:
    """Asserts what every picture keeps: whole text, words, a PNG that is not empty."""
    texts = check_text(figure, dollars=dollars)
    check_contrast(figure, drawn_texts(figure))
    assert style.said(figure), "a picture needs words: style.say(figure, sentence)"
    data, size = pictures.png(figure)
    with Image.open(BytesIO(data)) as image:
        sides = figure.get_size_inches() * style.DPI
        assert np.abs(np.subtract(image.size, sides)).max() <= 1, "another size"
        colors = image.convert("RGB").getcolors(2**24)
    assert colors is not None
    assert len(colors) > 2, "nothing is drawn"
    assert size["width"] > 0
    return texts
