# SPDX-License-Identifier: Apache-2.0
"""Examples in the pages run as printed: every `>>>` line of every page."""

import doctest
from pathlib import Path
from typing import Any

import pytest

from fedlearn_edu.language import context_stack
from tests.architecture.repository import named
from tests.docs.pages import markdown_pages, read, without_fences

_PARSER = doctest.DocTestParser()


def _examples(page: Path) -> doctest.DocTest:
    names = {"__name__": "__main__"}
    return _PARSER.get_doctest(
        without_fences(read(page)), names, named(page), str(page), 0
    )


# Whole reports are graded in the one; the other computes many rounds.
DEAR = ("docs/teaching/capstone.md", "docs/privacy.md")


def _parameter(page: Path) -> Any:
    sources = " ".join(example.source for example in _examples(page).examples)
    signs = ("tensorflow", "tf_computation", "import learning", "fl.learning")
    needs_tensorflow = any(sign in sources for sign in signs)
    marks = [pytest.mark.tensorflow] if needs_tensorflow else []
    if named(page) in DEAR:
        marks.append(pytest.mark.thorough)
    return pytest.param(page, marks=marks, id=named(page))


PAGES = [_parameter(page) for page in markdown_pages() if _examples(page).examples]


@pytest.fixture
def _default_context_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context_stack, "_default", list(context_stack._default))


@pytest.mark.usefixtures("_default_context_comes_back", "intrinsics_as_before")
@pytest.mark.parametrize("page", PAGES)
def test_examples_print_what_the_page_says(page: Path) -> None:
    """All examples of a page share their names, as for a reader who types along."""
    # Blanks count: a caret that moves by one is a different message.
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    report: list[str] = []
    results = runner.run(_examples(page), out=report.append)
    assert results.failed == 0, "".join(report)


def test_pages_that_teach_by_example_have_examples() -> None:
    guides = [
        "analytics",
        "answers",
        "learning",
        "life_of_a_value",
        "non_iid",
        "notation",
        "privacy",
    ]
    names = {"README.md", *(f"docs/{guide}.md" for guide in guides)}
    assert names <= {page.id for page in PAGES}
