# SPDX-License-Identifier: Apache-2.0
"""The page about pictures shows what its lines draw."""

from collections.abc import Callable

import pytest
from matplotlib.figure import Figure

from tests.docs.pages import DOCS, read
from tests.viz.drawn_text import check_figure

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

FILES = sorted(file.name for file in (DOCS / "images").glob("gallery_*.png"))


def drawer(file: str) -> Callable[[], Figure]:
    from examples.gallery.__main__ import drawers

    return drawers()[file]


def test_every_picture_that_is_drawn_is_there() -> None:
    from examples.gallery.__main__ import drawers

    assert sorted(drawers()) == FILES


@pytest.mark.parametrize("file", FILES)
def test_page_has_the_sentence_and_the_line_of_a_picture(file: str) -> None:
    from examples.gallery.__main__ import shown

    sentence, line = shown(drawer(file))
    below = f"](images/{file})\n\n{sentence} `{line}`\n"
    assert below in read(DOCS / "pictures.md")


@pytest.mark.thorough
@pytest.mark.parametrize("file", FILES)
def test_picture_can_be_drawn_again(file: str) -> None:
    check_figure(drawer(file)())
