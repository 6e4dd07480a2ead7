# SPDX-License-Identifier: Apache-2.0
"""Progress under a cell, in a real browser."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import PICTURES, ROOT, THOROUGH
from tests.browser.notebook_page import NotebookPage, opened_notebook

pytestmark = THOROUGH

CELLS = (
    "import fedlearn_edu as fl\nfrom fedlearn_edu.course import check, progress",
    "check.type_of_mean(fl.parse_type('float32@SERVER'))",
    "progress()",
)

ONE_DONE = re.compile(r"^1 of \d+ exercises done")


@pytest.fixture
def opened(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[NotebookPage]:
    """A notebook that passes a check, and shows progress afterwards."""
    monkeypatch.setenv("FEDLEARN_EDU_PROGRESS", str(tmp_path / "progress.json"))
    with opened_notebook(browser, "lab", tmp_path, CELLS) as page:
        yield page


def test_progress_counts_a_check_that_passed(opened: NotebookPage) -> None:
    opened.run_all()
    output = opened.output_with("progress()")
    output.get_by_text(ONE_DONE).wait_for(timeout=600_000)
    status = output.get_by_role("status").inner_text()
    assert "5 of" in status
    assert "Next: lesson 01" in status
    assert (opened.errors, opened.strangers, opened.failures()) == ([], set(), [])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_progress_can_be_read_in_a_narrow_window(
    theme: str, opened: NotebookPage
) -> None:
    opened.run_all()
    opened.use_theme(theme)
    opened.resize(560)
    output = opened.output_with("progress()")
    output.get_by_text(ONE_DONE).wait_for(timeout=600_000)
    assert opened.sticks_out(output) == []
    colors = output.locator("[role=group] :is(p, div)").evaluate_all(
        "all => [...new Set(all.map(each => getComputedStyle(each).color))]"
    )
    for color in colors:
        is_light_ink = min(map(int, color.strip("rgba()").split(",")[:3])) > 127
        assert is_light_ink == (theme == "dark"), color
    opened.save(output, PICTURES / f"progress_{theme}.png")


def test_map_of_the_course_leads_to_lessons_before_it_is_run(
    browser: Any, tmp_path: Path
) -> None:
    index = ROOT / "notebooks" / "release" / "index.ipynb"
    with opened_notebook(browser, "lab", tmp_path, index) as page:
        page.output_with("progress()").get_by_role("link", name="00 Why").click()
        opened = "() => window.jupyterapp.shell.currentWidget?.context?.path"
        page.wait_until(lambda: page.page.evaluate(opened) == "00_why/00_why.ipynb")
        assert (page.errors, page.strangers) == ([], set())
