# SPDX-License-Identifier: Apache-2.0
"""The page about pictures shows what its lines draw."""

from typing import Any

import pytest

from tests.docs.pages import DOCS, read
from tests.viz.drawn_text import check_figure
from tests.viz.html_reader import check_html

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

FILES = sorted(file.name for file in (DOCS / "images").glob("gallery_*.png"))


def drawer(file: str) -> Any:
    from examples.gallery.__main__ import drawers

    return drawers()[file]


def test_every_picture_that_is_drawn_is_there() -> None:
    from examples.gallery.__main__ import drawers

    assert sorted(drawers()) == FILES


@pytest.mark.parametrize("file", FILES)
def test_page_has_the_sentence_and_the_line_of_a_picture(file: str) -> None:
    from examples.gallery.__main__ import shown

    below = f"](images/{file})\n\n{shown(drawer(file))}\n"
    assert below in read(DOCS / "pictures.md")


@pytest.mark.thorough
@pytest.mark.parametrize("file", FILES)
def test_picture_can_be_drawn_again(file: str) -> None:
    drawn = drawer(file)()
    (check_html if isinstance(drawn, str) else check_figure)(drawn)
