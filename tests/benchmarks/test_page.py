# SPDX-License-Identifier: Apache-2.0
"""The page about speed shows the results that are kept, all of them, and no others."""

import json

import pytest

from tests.architecture.repository import ROOT

pytestmark = pytest.mark.tensorflow


def test_page_shows_the_kept_results() -> None:
    from benchmarks.report import put_into, wrong_rows

    text = (ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    results = json.loads(text)
    assert (results["data"], results["quick"]) == ("mnist", False)
    assert {"W1", "W2", "W3"} <= results["tables"].keys()
    assert {"growth", "overhead", "first_rounds"} <= results.keys()
    assert wrong_rows(results) == []
    assert page == put_into(page, results), "python -m benchmarks --write writes both"
