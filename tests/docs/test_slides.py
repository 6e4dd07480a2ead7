# SPDX-License-Identifier: Apache-2.0
"""Slides are cut where they should be, show no answer, and ask no other host."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tools.cells import is_answer, is_check, read
from tools.release import SOURCE
from tools.slides import is_question, with_slides, write


@pytest.mark.parametrize("name", ["01_hello", "08_non_iid_mnist"])
def test_no_slide_has_a_question_and_its_answer(name: str) -> None:
    notebook = read(SOURCE / name / f"{name}.ipynb")
    hidden = {c.source for c in notebook.cells if is_answer(c) or is_check(c)}
    asked = False
    for cell in with_slides(notebook).cells:
        assert cell.source not in hidden
        asked = asked and "data" not in cell.metadata["slideshow"]  # a slide begins
        assert not asked or cell.source.startswith("predict(")
        asked = asked or is_question(cell)


def test_pages_need_no_other_host(tmp_path: Path) -> None:
    new: Any = nbformat.v4
    text = "# T\n\n$w^2$ and `$HOME`, [on](../02_types/02_types.ipynb)"
    page = write(
        new.new_notebook(cells=[new.new_markdown_cell(text)]), "00_t", tmp_path
    )
    html = page.read_text(encoding="utf-8")
    assert "<msup>" in html
    assert "$HOME" in html
    assert 'href="02_types.html"' in html
    fetched = re.findall(r'<(?:script|link|img)[^>]* (?:src|href)="([^"]+)"', html)
    assert len(fetched) == 3
    assert all((tmp_path / file).is_file() for file in fetched)
    assert not re.search(r"@import|url\((?!data:)", html)
