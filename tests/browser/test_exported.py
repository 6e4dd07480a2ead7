# SPDX-License-Identifier: Apache-2.0
"""Where nothing can run: an exported page, without network, and a terminal."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.browser.conftest import NOTEBOOK, PICTURES, ROOT, THOROUGH

pytestmark = [*THOROUGH, pytest.mark.tensorflow]

MOVING = (
    *("play", "mean", "aggregation", "partitions", "training", "drift"),
    *("inversion", "poisoning", "budget"),
)
TABLES = ("mean", "aggregation")


@pytest.fixture(scope="module")
def notebook() -> Any:
    """The notebook of explorers, run without a front end."""
    from nbclient import NotebookClient

    read: Any = nbformat.read
    notebook = read(ROOT / "notebooks" / "explorers" / NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=600, store_widget_state=False).execute()
    return notebook


def test_page_shows_every_picture_without_network(
    browser: Any, notebook: Any, tmp_path: Path
) -> None:
    """Exported as the page on pictures says."""
    from nbconvert import HTMLExporter

    exporter: Any = HTMLExporter
    html, _ = exporter(embed_images=True).from_notebook_node(notebook)
    file = tmp_path / "explorers.html"
    file.write_text(html, encoding="utf-8")
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    page.route(re.compile("^https?:"), lambda route: route.abort())
    page.goto(file.as_uri())
    sizes = page.locator(".jp-OutputArea-output img").evaluate_all(
        "all => all.map(each => each.complete ? each.naturalWidth : 0)"
    )
    page.screenshot(path=PICTURES / "exported.png", full_page=True)
    page.close()
    assert len(sizes) >= len(MOVING) - len(TABLES) + 2
    assert min(sizes) > 400


def test_notebook_keeps_pictures_and_sentences(notebook: Any) -> None:
    """What GitHub shows, and what `nbval` compares."""
    assert "widgets" not in notebook.metadata
    for name in MOVING:
        call = "viz.explore_run(" if name == "play" else f"explore_{name}("
        (cell,) = [
            cell
            for cell in notebook.cells
            if call in cell.source and not cell.source.endswith(".figure")
        ]
        data = cell.outputs[-1].data
        assert data["text/html" if name in TABLES else "image/png"], name
        said = data["text/plain"]
        assert re.match(r"[\w ,.()]+", said), name
        assert "Explorer(" not in said
