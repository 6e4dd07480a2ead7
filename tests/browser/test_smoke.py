# SPDX-License-Identifier: Apache-2.0
"""One explorer in JupyterLab and in Notebook 7: it is shown, and a key moves it.

What `make test` tries in a browser; everything else here is for `make test-all`.
"""

from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.browser.notebook_page import HARMLESS, NotebookPage
from tests.browser.servers import serve

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELL = "from fedlearn_edu import viz\nviz.explore_mean([1.0, 2.0, 6.0])"


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_an_explorer_is_shown_and_moves(app: str, browser: Any, tmp_path: Path) -> None:
    folder = tmp_path / "notebooks"
    folder.mkdir()
    new: Any = nbformat.v4
    # Without a name of a kernel, Lab asks for one.
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [new.new_code_cell(CELL)]
    notebook = new.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, folder / "smoke.ipynb")  # type: ignore[no-untyped-call]
    with serve(app, folder, tmp_path) as server:
        page = NotebookPage(browser, server)
        page.open("smoke.ipynb")
        page.run_all()
        output = page.output_with("explore_mean")
        sentence = output.locator('[role="status"]').last
        before = sentence.inner_text()
        output.locator(".noUi-handle").first.focus()
        # Notebook 7 keeps arrow keys for its cells, not Page Up.
        assert page.time_move(output, "PageUp") is not None
        assert sentence.inner_text() != before
        assert page.failures() == []
        assert [error for error in page.errors if HARMLESS not in error] == []
        assert page.strangers == set()
        page.close()
