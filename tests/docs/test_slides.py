# SPDX-License-Identifier: Apache-2.0
"""Slides are cut where they should be, show no answer, and ask no other host."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tools.cells import answer_cells, check_cells, read
from tools.release import ROOT
from tools.slides import _of_reveal, main, page, slides

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
    assert "reveal.js 5" in html.partition("Reveal.initialize({")[0]
    # The name of MathML is an address that nobody asks.
    assert not re.search(r"[\"'(](?:https?:)?//(?!www.w3.org/1998/Math)|@import", html)


def test_without_the_package_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("tools.slides.find_spec", lambda _: None)
    _of_reveal.cache_clear()
    assert main(["01", "--as-stored", "--out", str(tmp_path)]) == 2
    assert "slides need reveal.js" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_lesson_shows_neither_answers_nor_checks() -> None:
    notebook = read(HELLO)
    shown = {cell.source for slide in slides(notebook) for cell in slide}
    for cells in (answer_cells(notebook), check_cells(notebook)):
        assert not {cell.source for cell in cells.values()} & shown
    text = "\n".join(shown)
    assert "HIDDEN TESTS" not in text
    assert "SOLUTION" not in text
    assert "<details>" not in text
