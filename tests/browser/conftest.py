# SPDX-License-Identifier: Apache-2.0
"""Two servers, and the notebook with everything that moves."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.notebook_page import NotebookPage, opened_notebook

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "build" / "browser"
NOTEBOOK = "explorers.ipynb"
THOROUGH = [pytest.mark.browser, pytest.mark.slow, pytest.mark.thorough]


@pytest.fixture(scope="module", params=["lab", "notebook"])
def opened(
    request: pytest.FixtureRequest, browser: Any, tmp_path_factory: Any
) -> Iterator[NotebookPage]:
    """The notebook of explorers, every cell run, in JupyterLab and in Notebook 7."""
    home = tmp_path_factory.mktemp(request.param)
    explorers = ROOT / "notebooks" / "explorers" / NOTEBOOK
    with opened_notebook(browser, request.param, home, explorers) as page:
        page.run_all()
        # They begin by themselves; while they compute, nothing else is quick.
        waited = {"drift": "nats", "poisoning": "accuracy is", "budget": "accuracy is"}
        for name, word in waited.items():
            computed = page.output_with(f"fl.viz.explore_{name}()").get_by_text(word)
            computed.first.wait_for(timeout=600_000)
        page.page.wait_for_timeout(1000)
        yield page


_measured: dict[str, float] = {}


@pytest.fixture(scope="session")
def report() -> Iterator[dict[str, float]]:
    """Milliseconds by what was moved: printed, and kept beside the pictures."""
    yield _measured
    PICTURES.mkdir(parents=True, exist_ok=True)
    text = "\n".join([*_lines(), ""])
    (PICTURES / "latencies.txt").write_text(text, encoding="utf-8")


def _lines() -> list[str]:
    return [f"{name:<32} {value:5.0f} ms" for name, value in _measured.items()]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How long it took until a picture was there, or had changed (the median)."""
    if _measured:
        terminalreporter.section("what a reader waits for")
        for line in _lines():
            terminalreporter.write_line(line)
