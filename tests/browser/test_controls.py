# SPDX-License-Identifier: Apache-2.0
"""Every slider of every lesson and explorer, measured: handle in track, track in box.

How wide a cell is depends on the window alone. So one notebook has them all, each with
just those cells of its lesson that it needs, and with its hidden controls shown.
"""

import ast
from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from tests.browser.conftest import PICTURES, THOROUGH
from tests.browser.notebook_page import NotebookPage, opened_notebook
from tests.notebooks.notebooks import NOTEBOOKS
from tools.cells import code_cells, read

pytestmark = [*THOROUGH, pytest.mark.tensorflow]

SHOW = """
def show_all(explorer):
    for control in explorer.controls.values():
        control.box.layout.display = None
    if follower := getattr(explorer, "_follower", None):
        follower.stop()
    return explorer
"""
MOVING = ("explore_", "viz.explore_run(")

# What is wrong with the controls of each output, in words; and how many tracks it has.
MEASURE = r"""() => {
  const rect = each => each.getBoundingClientRect();
  const pen = document.createElement("canvas").getContext("2d");
  const outputs = [...document.querySelectorAll(".jp-OutputArea")];
  return outputs.filter(each => each.querySelector(".noUi-target")).map(output => {
    const found = [], say = (what, ...numbers) =>
      found.push(`${what} ${numbers.map(Math.round)}`);
    const tracks = [...output.querySelectorAll(".noUi-target")];
    for (const track of tracks) {
      const row = track.closest(".widget-hbox"), name = row.innerText;
      const t = rect(track), h = rect(track.querySelector(".noUi-handle"));
      const middle = (h.left + h.right) / 2;
      if (t.width < 70) say(`${name}: short track`, t.width);
      if (middle < t.left - 1 || middle > t.right + 1)
        say(`${name}: handle beyond its track`, middle, t.left, t.right);
      for (let box = track.parentElement; box !== output; box = box.parentElement) {
        if (box !== row && getComputedStyle(box).overflow === "visible") continue;
        const b = rect(box);
        if (h.left < b.left || h.right > b.right
            || h.top < b.top || h.bottom > b.bottom)
          say(`${name}: handle cut off`, h.left, h.right, b.left, b.right);
      }
    }
    for (const box of output.querySelectorAll("input[type=number], select")) {
      const style = getComputedStyle(box);
      const label = box.parentElement.querySelector("label");
      const isMenu = box.tagName === "SELECT", arrows = 16;
      pen.font = style.font;
      const text = isMenu ? box.selectedOptions[0].text : box.value;
      const room = box.clientWidth - parseFloat(style.paddingLeft)
        - (isMenu ? 0 : parseFloat(style.paddingRight)) - arrows;
      const needed = pen.measureText(text).width;
      if (needed > room) say(`${label.innerText} ${text}: cut off`, needed, room);
      if (label.scrollWidth > label.clientWidth + 1) say(`${label.innerText}: cut off`);
    }
    return [tracks.length, found];
  });
}"""


def names(source: str) -> tuple[set[str], set[str]]:
    """What a cell gives a name to, and what it uses."""
    manager: Any = TransformerManager
    tree = ast.parse(manager().transform_cell(source))
    made: set[str] = set()
    used: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(name, ast.Load()):
                used.add(name)
            case ast.Name(name) | ast.FunctionDef(name) | ast.ClassDef(name):
                made.add(name)
            case ast.alias(name, asname):
                made.add((asname or name).split(".")[0])
    return made, used


def explorers() -> Iterator[tuple[str, str]]:
    """What has to run before, and the cell, of each thing that can be moved."""
    for path in NOTEBOOKS:
        sources = [cell.source for cell in code_cells(read(path))]
        moving = [_moves(source) for source in sources]
        for number in (i for i, is_moving in enumerate(moving) if is_moving):
            needed, before = names(sources[number])[1], ""
            for source in reversed(sources[:number]):
                made, used = names(source)
                if made & needed and not _moves(source):
                    needed, before = needed | used, f"{source}\n{before}"
            yield before, sources[number]


def _moves(source: str) -> bool:
    still = source.rstrip().endswith(".figure")
    return any(call in source for call in MOVING) and not still


def shown_whole(source: str) -> str:
    """The same cell, with nothing hidden in what it shows."""
    *before, last = ast.parse(source).body
    return "\n".join([*map(ast.unparse, before), f"show_all({ast.unparse(last)})"])


@pytest.fixture(scope="module")
def opened(browser: Any, tmp_path_factory: Any) -> Iterator[NotebookPage]:
    """All explorers and players that learners meet, one below the other.

    In JupyterLab alone: its column is the narrower one, beside the file browser.
    """
    home = tmp_path_factory.mktemp("controls")
    sources = [SHOW]
    for before, cell in explorers():
        sources += [f"%%capture\n{before}", shown_whole(cell)]
    with opened_notebook(browser, "lab", home, sources) as page:
        page.run_all()
        yield page


# As it opens, Lab shows its file browser: the narrowest column at 1280 pixels.
@pytest.mark.parametrize("width", [None, 1280, 900, 600])
def test_every_control_is_there_whole(opened: NotebookPage, width: int | None) -> None:
    if width:
        opened.resize(width)
    measured = opened.page.evaluate(MEASURE)
    opened.page.screenshot(path=PICTURES / f"controls_{width}.png")
    assert opened.failures() == []
    assert len(measured) == len(list(explorers())) > 15
    assert all(tracks for tracks, _ in measured)
    assert [said for _, found in measured for said in found] == []
