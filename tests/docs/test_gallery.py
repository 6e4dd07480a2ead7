# SPDX-License-Identifier: Apache-2.0
"""The gallery shows what its lines draw: page, pictures and functions agree."""

import re
from collections.abc import Callable

import pytest
from matplotlib.figure import Figure
from PIL import Image

from fedlearn_edu.viz.style import AS_DRAWN, has_image
from tests.docs.pages import DOCS, read
from tests.viz.drawn_text import check_figure

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

GALLERY = DOCS / "gallery.md"
HEADINGS = re.findall(r"^## (.*)$", read(GALLERY), re.MULTILINE)
NAMES = [heading.lower().replace(" ", "_") for heading in HEADINGS]


def drawer(name: str) -> Callable[[], Figure]:
    from examples.gallery import pictures

    found: Callable[[], Figure] = getattr(pictures, name)
    return found


def test_all_are_in_the_page_in_order() -> None:
    from examples.gallery.__main__ import drawers, title

    assert [title(draw.__name__) for draw in drawers()] == HEADINGS


@pytest.mark.parametrize("name", NAMES)
def test_page_has_the_lines_and_the_words_of_its_picture(name: str) -> None:
    from examples.gallery.__main__ import PREFIX, section

    with Image.open(DOCS / "images" / f"{PREFIX}{name}.png") as image:
        words = image.info["Description"]
    assert section(drawer(name), words) in read(GALLERY)


@pytest.mark.parametrize("name", NAMES)
def test_picture_can_be_drawn_again(name: str) -> None:
    check_figure(figure := drawer(name)())
    shown = (DOCS / "images" / f"gallery_{name}.png").read_bytes()
    assert (AS_DRAWN.encode() in shown) == has_image(figure)
