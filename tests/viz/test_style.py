# SPDX-License-Identifier: Apache-2.0
"""Colors that can be told apart and read, labels that make room, files that repeat."""

from itertools import combinations, pairwise
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import rcParams
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

from fedlearn_edu import viz
from fedlearn_edu.viz import colors, style
from fedlearn_edu.viz.curves import spread
from tests.viz.contrast import linear
from tests.viz.drawn_text import check_text

MEANINGS = [colors.SERVER, colors.CLIENTS, colors.TEST, colors.ALARM]

# H. Brettel, F. Vienot and J. Mollon (1997), as simplified by Vienot (1999): what two
# common kinds of color blindness leave of a linear RGB color.
SIGHTS = {
    "usual": np.eye(3),
    "protan": [[0.112, 0.888, 0.0], [0.112, 0.888, 0.0], [0.004, -0.004, 1.0]],
    "deutan": [[0.293, 0.707, 0.0], [0.293, 0.707, 0.0], [-0.021, 0.021, 1.0]],
}


@pytest.mark.parametrize("sight", SIGHTS)
def test_meanings_stay_apart_for_every_sight(sight: str) -> None:
    seen = [np.asarray(SIGHTS[sight]) @ linear(to_rgb(color)) for color in MEANINGS]
    for first, second in combinations(seen, 2):
        assert np.linalg.norm(first - second) > 0.1


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=6).map(sorted), st.floats(0.01, 0.16)
)
def test_spread_labels_never_touch_and_keep_order(
    heights: list[float], gap: float
) -> None:
    """Law: neighbors are at least `gap` apart, and nobody leaves the panel."""
    moved = spread(heights, gap)
    assert all(high - low >= gap - 1e-9 for low, high in pairwise(moved))
    assert moved[0] >= 0
    assert moved[-1] <= 1 + 1e-9


def test_saved_pictures_are_the_same_bytes_twice(tmp_path: Path) -> None:
    def draw(name: str) -> Path:
        figure = viz.draw_client_accuracy({"after": [0.5, 0.6]}, width_in=4.0)
        return viz.save_png(figure, tmp_path / "new" / name, "two bars")

    first, second = draw("a.png"), draw("b.png")
    assert first.read_bytes() == second.read_bytes()
    with Image.open(first) as image:
        assert image.size == (600, 570)
        assert set(image.info) <= {"Description", "dpi"}
        assert image.info["Description"] == "two bars"


def test_a_dollar_is_a_dollar() -> None:
    """What people call their things is written, never read as a formula."""

    @style.in_our_look
    def draw() -> Figure:
        figure, (axes,) = style.new_figure(5.0, 3.0)
        axes.set_title(r"from $5 to $9, $\nope$ and $x_1$")
        return figure

    texts = check_text(draw(), dollars=True)
    (text,) = [text for text in texts if "nope" in text]
    assert text == r"from $5 to $9, $\nope$ and $x_1$"


def test_two_threads_leave_the_settings_as_they_were() -> None:
    before = dict(rcParams)
    inside, *leave = (Event() for _ in range(3))

    @style.in_our_look
    def draw(until: Event) -> None:
        inside.set()
        until.wait(5)

    threads = [Thread(target=draw, args=[event]) for event in leave]
    for thread in threads:
        thread.start()
        inside.wait(5)
    threads[1].join(0.3)  # if nothing held it back, it would be inside by now
    for thread, event in zip(threads, leave, strict=True):
        event.set()
        thread.join()
    assert dict(rcParams) == before
