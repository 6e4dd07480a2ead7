# SPDX-License-Identifier: Apache-2.0
"""The page about pictures shows what its lines draw."""

from typing import Any

import pytest

from tests.docs.pages import DOCS, read
from tests.viz.drawn_text import check_figure

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

FILES = sorted(file.name for file in (DOCS / "images").glob("gallery_*.png"))
TABLES = ["gallery_what_is_in_a_mean.png", "gallery_why_grouping_matters.png"]


def drawer(file: str) -> Any:
    from examples.gallery.__main__ import drawers

    return drawers()[file]


def test_every_picture_that_is_drawn_is_there() -> None:
    from examples.gallery.__main__ import drawers

    assert sorted(drawers()) == sorted([*FILES, *TABLES])


@pytest.mark.parametrize("file", FILES)
def test_page_has_the_sentence_and_the_line_of_a_picture(file: str) -> None:
    from examples.gallery.__main__ import shown

    below = f"](images/{file})\n\n{shown(drawer(file))}\n"
    assert below in read(DOCS / "pictures.md")


@pytest.mark.parametrize("file", TABLES)
def test_page_has_a_table_above_the_line_that_makes_it(file: str) -> None:
    from examples.gallery.__main__ import shown

    draw = drawer(file)
    assert f"\n\n{draw()}\n\n{shown(draw)}\n" in read(DOCS / "pictures.md")


@pytest.mark.thorough
@pytest.mark.parametrize("file", FILES)
def test_picture_can_be_drawn_again(file: str) -> None:
    check_figure(drawer(file)())
