# SPDX-License-Identifier: Apache-2.0
"""Words about pictures are true in each theme and in each width.

A dark theme inverts pictures, and on a narrow page what was side by side stands below
each other. So nothing is said to be dark, or on the left.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.repository import ROOT
from tests.docs.pages import DOCS, read
from tests.notebooks.notebooks import NOTEBOOKS
from tools.cells import read as read_notebook

_SHADES = "dark|pale|light|bright|black|white|faint|dim|shade"
LIGHTNESS = re.compile(
    # (CSS is no sentence: `white-space`, `:white`, `solid white`)
    rf"""(?<![-:."\w])(?<!solid )(?:{_SHADES})(?:r|st|er|est|d|s)?(?![-;"\w])""",
    re.I,
)
# (an axis goes to the right on any page)
PLACE = re.compile(
    r"\bon the (?:left|right)\b|\bat the left\b|(?:left|right)(?:-hand|most)"
)
OF_THEMES = re.compile(r"dark themes?|in the dark|on dark pages|black box", re.I)
ABOUT_PICTURES = ["pictures.md", "performance.md"]


def sentences(folder: Path) -> Iterator[str]:
    """What a package says and documents, but for what it tells its developers."""
    for file in sorted(folder.rglob("*.py")):
        module = ast.parse(read(file))
        about = ast.get_docstring(module, clean=False)
        texts = [n.value for n in ast.walk(module) if isinstance(n, ast.Constant)]
        yield from (t for t in texts if isinstance(t, str) and " " in t and t != about)


def told(where: str) -> str:
    """All that a learner reads of a package, a notebook or a page."""
    path = ROOT / where
    if path.is_dir():
        return "\n\n".join(sentences(path))
    if path.suffix == ".ipynb":
        return "\n\n".join(cell.source for cell in read_notebook(path).cells)
    return read(path)


PACKAGES = [f"fedlearn_edu/{name}" for name in ("viz", "dataflow", "course", "demo")]
BROWSER = sorted((ROOT / "notebooks" / "browser").glob("*.ipynb"))
PATHS = [*NOTEBOOKS, *BROWSER, *(DOCS / name for name in ABOUT_PICTURES)]
TOLD = [*PACKAGES, *(str(path.relative_to(ROOT)) for path in PATHS)]


@pytest.mark.parametrize("where", TOLD)
def test_no_word_is_true_in_one_theme_or_width_only(where: str) -> None:
    text = OF_THEMES.sub("", told(where))
    found = [text[m.start() - 40 : m.end() + 20] for m in LIGHTNESS.finditer(text)]
    found += [text[m.start() - 40 : m.end() + 20] for m in PLACE.finditer(text)]
    assert found == []
