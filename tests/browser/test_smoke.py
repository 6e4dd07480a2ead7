# SPDX-License-Identifier: Apache-2.0
"""One explorer in JupyterLab and in Notebook 7: it is shown, and a key moves it.

In JupyterLab, it is what `make test` tries in a browser; all else is for `test-all`.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.browser.notebook_page import HARMLESS, opened_notebook

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELL = "from fedlearn_edu import viz\nviz.explore_mean([1.0, 2.0, 6.0])"


@pytest.mark.parametrize(
    "app", ["lab", pytest.param("notebook", marks=pytest.mark.thorough)]
)
def test_an_explorer_is_shown_and_moves(app: str, browser: Any, tmp_path: Path) -> None:
    with opened_notebook(browser, app, tmp_path, [CELL]) as page:
        page.run_all()
        output = page.output_with("explore_mean")
        sentence = output.locator('[role="status"]').last
        before = sentence.inner_text()
        output.locator(".noUi-handle").first.focus()
        # Notebook 7 keeps arrow keys for its cells, not Page Up.
        assert page.time_move(output, "PageUp", "table") is not None
        assert sentence.inner_text() != before
        assert page.failures() == []
        assert [error for error in page.errors if HARMLESS not in error] == []
        assert page.strangers == set()
