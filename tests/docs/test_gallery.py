# SPDX-License-Identifier: Apache-2.0
"""The gallery shows what its lines draw: page, pictures and functions agree."""

from collections.abc import Callable

import pytest
from matplotlib.figure import Figure
from PIL import Image

from tests.viz.drawn_text import check_figure

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

NAMES = [
    "what_travels",
    "what_a_mean_stands_for",
    "what_scaffold_sends",
    "what_the_compiler_does",
    "who_does_what_when",
    "what_is_in_a_mean",
    "what_secure_sums_hide",
    "why_grouping_matters",
    "who_has_which_digits",
    "which_algorithm_is_ahead",
    "what_a_model_looks_for",
    "what_is_taken_for_what",
    "why_clients_drift",
    "why_more_steps_do_not_help",
]


def drawer(name: str) -> Callable[[], Figure]:
    from examples.gallery import pictures

    found: Callable[[], Figure] = getattr(pictures, name)
    return found


def test_all_are_in_the_page_in_order() -> None:
    from examples.gallery.__main__ import PAGE, drawers, title

    assert [draw.__name__ for draw in drawers()] == NAMES
    headings = [
        line.removeprefix("## ")
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("## ")
    ]
    assert headings == [title(name) for name in NAMES]


@pytest.mark.parametrize("name", NAMES)
def test_page_has_the_lines_and_the_words_of_its_picture(name: str) -> None:
    from examples.gallery.__main__ import DOCS, PAGE, PREFIX, section

    with Image.open(DOCS / "images" / f"{PREFIX}{name}.png") as image:
        words = image.info["Description"]
    assert section(drawer(name), words) in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_picture_can_be_drawn_again(name: str) -> None:
    check_figure(drawer(name)())
