# SPDX-License-Identifier: Apache-2.0
"""`python -m examples.gallery` draws the pictures that `docs/pictures.md` shows."""

import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from examples.gallery import pictures
from fedlearn_edu import viz
from fedlearn_edu.viz.style import said

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "pictures.md"

Draw = Callable[[], Figure | str]
_TABLE = r"<figure [^\n]*</figure>(?=\n\n{}\n)"


def drawers() -> dict[str, Draw]:
    """The functions that draw, by the name of the picture's file."""
    return {
        f"gallery_{name}.png": function
        for name, function in vars(pictures).items()
        if inspect.isfunction(function) and not name.startswith("_")
        if function.__module__ == pictures.__name__
    }


def shown(draw: Draw) -> str:
    """The sentence of a picture, and the line that draws it."""
    *_, last = inspect.getsource(draw).strip().splitlines()
    return f"{inspect.getdoc(draw)} `{last.strip().removeprefix('return ')}`"


def main() -> None:
    """Draws, and keeps with each picture what it shows in words."""
    for file, draw in drawers().items():
        if isinstance(drawn := draw(), str):
            below = _TABLE.format(re.escape(shown(draw)))
            page = PAGE.read_text(encoding="utf-8")
            found = re.findall(below, page)
            assert len(found) == 1, shown(draw)
            page = page.replace(found[0], drawn)
            PAGE.write_text(page, encoding="utf-8")
        else:
            viz.save_png(drawn, DOCS / "images" / file, said(drawn))
        sys.stdout.write(f"drew {file}\n")


if __name__ == "__main__":
    main()
