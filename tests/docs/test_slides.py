# SPDX-License-Identifier: Apache-2.0
"""Slides are cut where they should be, show no answer, and ask no other host."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tools.cells import answer_cells, check_cells, read
from tools.release import SOURCE
from tools.slides import is_question, with_slides, write

new: Any = nbformat.v4
LESSONS = ["01_hello", "08_non_iid_mnist"]


def lesson(name: str) -> Any:
    return read(SOURCE / name / f"{name}.ipynb")


def cut(notebook: Any) -> list[list[Any]]:
    found: list[list[Any]] = [[]]
    for cell in with_slides(notebook).cells:
        if "data" in cell.metadata["slideshow"]:
            found.append([])
        found[-1].append(cell)
    return [slide for slide in found if slide]


@pytest.mark.parametrize("name", LESSONS)
def test_no_slide_has_a_question_and_its_answer(name: str) -> None:
    hidden = {
        cell.source
        for cells in (answer_cells(lesson(name)), check_cells(lesson(name)))
        for cell in cells.values()
    }
    for slide in cut(lesson(name)):
        assert not hidden & {cell.source for cell in slide}
        asked = [is_question(cell) for cell in slide]
        after = slide[asked.index(True) + 1 :] if any(asked) else []
        assert all(cell.source.startswith("predict(") for cell in after)


def test_pages_need_no_other_host(tmp_path: Path) -> None:
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
