# SPDX-License-Identifier: Apache-2.0
"""Where nothing can run: an exported page, without network, and a terminal."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.browser.conftest import NOTEBOOK, PICTURES, ROOT

pytestmark = [
    pytest.mark.browser,
    pytest.mark.tensorflow,
    pytest.mark.slow,
    pytest.mark.thorough,
]

MOVING = (
    "play",
    "mean",
    "aggregation",
    "partitions",
    "training",
    "drift",
    "inversion",
    "poisoning",
    "budget",
)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: Any) -> Path:
    """The notebook of explorers, run and exported as the page on pictures says."""
    folder: Path = tmp_path_factory.mktemp("exported")
    command = [sys.executable, "-m", "nbconvert", "--execute", "--to", "html"]
    command += ["--ExecutePreprocessor.store_widget_state=False", "--embed-images"]
    command += ["--output-dir", str(folder)]
    source = ROOT / "notebooks" / "explorers" / NOTEBOOK
    subprocess.run([*command, str(source)], check=True, capture_output=True)
    return folder / NOTEBOOK.replace(".ipynb", ".html")


def test_page_shows_every_picture_without_network(browser: Any, exported: Path) -> None:
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    page.route(re.compile("^https?:"), lambda route: route.abort())
    page.goto(exported.as_uri())
    sizes = page.locator(".jp-OutputArea-output img").evaluate_all(
        "all => all.map(each => each.complete ? each.naturalWidth : 0)"
    )
    page.screenshot(path=PICTURES / "exported.png", full_page=True)
    page.close()
    assert len(sizes) >= len(MOVING) + 2
    assert min(sizes) > 400


def test_notebook_keeps_pictures_and_sentences(tmp_path: Path) -> None:
    """What GitHub shows, and what `nbval` compares."""
    from nbclient import NotebookClient

    read: Any = nbformat.read
    notebook = read(ROOT / "notebooks" / "explorers" / NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=600, store_widget_state=False).execute()
    assert "widgets" not in notebook.metadata
    for name in MOVING:
        call = "viz.explore_run(" if name == "play" else f"explore_{name}("
        (cell,) = [cell for cell in notebook.cells if call in cell.source]
        data = cell.outputs[-1].data
        assert data["image/png"], name
        said = data["text/plain"]
        assert re.match(r"[\w ,.()]+", said), name
        assert "Explorer(" not in said
