# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures, and writes the page that shows them: `make gallery`."""

import inspect
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from examples.gallery import pictures
from fedlearn_edu import viz
from fedlearn_edu.viz.style import said

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "gallery.md"
PREFIX = "gallery_"

_HEAD = """\
# Gallery

The pictures of the package, with the lines that draw them. Where a picture is a
program or a recorded run, nothing is drawn that did not happen: the numbers come from
the program and its tape. Most of these can be moved: `make explorers` opens
[the notebook of explorers](../notebooks/explorers/explorers.ipynb), where they have
controls; so has an explorer without `.figure`.

`make gallery` writes this page and its pictures from
[`examples/gallery/pictures.py`](../examples/gallery/pictures.py), which also has the
imports, and the program `federated_train` that the first pictures show.
"""

_MOVING = {
    "who_does_what_when": (
        "viz.explore_run(federated_train, model, 0.1, [[batch, batch]] * 5)"
    ),
    "who_has_which_digits": "viz.explore_partitions()",
    "which_algorithm_is_ahead": "viz.explore_training(processes)",
    "what_a_model_looks_for": "viz.explore_training()",
    "what_is_taken_for_what": "viz.explore_training()",
}


def drawers() -> list[Callable[[], Figure]]:
    """The functions that draw, in the order of the page."""
    found = [
        function
        for name, function in vars(pictures).items()
        if inspect.isfunction(function) and function.__module__ == pictures.__name__
    ]
    return sorted(found, key=lambda each: each.__code__.co_firstlineno)


def title(name: str) -> str:
    """A heading from the name of a function."""
    return name.replace("_", " ").capitalize().replace("scaffold", "SCAFFOLD")


def section(draw: Callable[[], Figure], words: str) -> str:
    """Heading, picture, words, and the lines that made it."""
    name, effect = draw.__name__, inspect.getdoc(draw) or ""
    lines, _ = inspect.getsourcelines(draw)
    end_of_docstring = next(n for n, line in enumerate(lines) if line.count('"""') == 2)
    code = textwrap.dedent("".join(lines[end_of_docstring + 1 :])).strip()
    code = code.replace("return viz", "viz").replace("return draw", "draw")
    moving = _MOVING.get(name)
    more = f"\nWith controls: `{moving}`\n" if moving else ""
    return (
        f"\n## {title(name)}\n\n![{effect}](images/{PREFIX}{name}.png)\n\n{effect}\n\n"
        f"{words}\n\n```python\n{code}\n```\n{more}"
    )


def main() -> None:
    """Draws, and writes."""
    parts = [_HEAD]
    for draw in drawers():
        figure = draw()
        words = said(figure)
        viz.save_png(figure, DOCS / "images" / f"{PREFIX}{draw.__name__}.png", words)
        parts.append(section(draw, words))
        sys.stdout.write(f"drew {draw.__name__}\n")
    PAGE.write_text("".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
