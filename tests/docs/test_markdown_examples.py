# SPDX-License-Identifier: Apache-2.0
"""Examples in the pages run as printed: every `>>>` line of every page."""

import doctest
import re
from pathlib import Path

import pytest

from tests.architecture.repository import named, text_files

PAGES = [
    file
    for file in text_files()
    if file.suffix == ".md" and ">>> " in file.read_text(encoding="utf-8")
]
FENCE = re.compile(r"^\s*```.*$", re.MULTILINE)
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.tensorflow
@pytest.mark.parametrize("page", PAGES, ids=named)
def test_examples_print_what_the_page_says(page: Path) -> None:
    """All examples of a page share their names, as for a reader who types along."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    test = doctest.DocTestParser().get_doctest(
        text, {"__name__": "__main__"}, named(page), str(page), 0
    )
    report: list[str] = []
    results = doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=report.append)
    assert results.failed == 0, "".join(report)
