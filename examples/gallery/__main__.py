# SPDX-License-Identifier: Apache-2.0
"""`python -m examples.gallery` draws the pictures that `docs/pictures.md` shows."""

import inspect
import sys
from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from examples.gallery import pictures
from fedlearn_edu import viz
from fedlearn_edu.viz.style import said

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"


def drawers() -> dict[str, Callable[[], Figure]]:
    """The functions that draw, by the name of the picture's file."""
    return {
        f"gallery_{name}.png": function
        for name, function in vars(pictures).items()
        if inspect.isfunction(function) and not name.startswith("_")
        if function.__module__ == pictures.__name__
    }


def shown(draw: Callable[[], Figure]) -> tuple[str, str]:
    """The sentence of a picture, and the line that draws it."""
    *_, last = inspect.getsource(draw).strip().splitlines()
    return inspect.getdoc(draw) or "", last.strip().removeprefix("return ")


def main() -> None:
    """Draws, and keeps with each picture what it shows in words."""
    for file, draw in drawers().items():
        figure = draw()
        viz.save_png(figure, IMAGES / file, said(figure))
        sys.stdout.write(f"drew {file}\n")


if __name__ == "__main__":
    main()
