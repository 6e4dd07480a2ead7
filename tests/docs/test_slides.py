# SPDX-License-Identifier: Apache-2.0
"""Slides are cut where they should be, show no answer, and ask no other host."""

import re
from typing import Any

import nbformat

from tools.cells import answer_cells, check_cells, read
from tools.release import ROOT
from tools.slides import page, slides

new: Any = nbformat.v4
HELLO = ROOT / "notebooks" / "source" / "01_hello" / "01_hello.ipynb"


def test_headings_and_texts_begin_slides() -> None:
    text = "# One\n\na\n\n## Two\n\nb <details>folded</details>\n\n"
    text += "## Where this lives\n\nc"
    cells = [new.new_markdown_cell(text), new.new_code_cell("x = 1")]
    cells.append(new.new_markdown_cell("In words: d"))
    shown = [
        [c.source.strip() for c in s] for s in slides(new.new_notebook(cells=cells))
    ]
    assert shown == [["# One\n\na"], ["## Two\n\nb", "x = 1"], ["In words: d"]]


def test_formulas_and_links_need_nobody() -> None:
    text = "# T\n\n$w^2$ and `$HOME`, [on](../02_types/02_types.ipynb)"
    html = page(new.new_notebook(cells=[new.new_markdown_cell(text)]), "T & T")
    assert "<msup>" in html
    assert "$HOME" in html
    assert 'href="02_types.html"' in html
    assert "<title>T &amp; T</title>" in html
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//|@import|url\(", html)


def test_lesson_shows_neither_answers_nor_checks() -> None:
    notebook = read(HELLO)
    shown = {cell.source for slide in slides(notebook) for cell in slide}
    for cells in (answer_cells(notebook), check_cells(notebook)):
        assert not {cell.source for cell in cells.values()} & shown
    text = "\n".join(shown)
    assert "HIDDEN TESTS" not in text
    assert "SOLUTION" not in text
    assert "<details>" not in text
