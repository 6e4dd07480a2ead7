# SPDX-License-Identifier: Apache-2.0
"""Links between pages lead somewhere: the file is there, and so is the heading."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.architecture.repository import ROOT, named, pages

LINK = re.compile(
    r"\[[^\]]*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)|(?:src|href)=\"([^\"]+)\""
)
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
HEADING = re.compile(r"^#+\s+(.*?)\s*#*$", re.MULTILINE)


@pytest.mark.parametrize("page", pages(), ids=named)
def test_relative_links_resolve(page: Path) -> None:
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    targets = [link or source for link, source in LINK.findall(text)]
    broken = [target for target in targets if not _resolves(page, target)]
    assert not broken


def _resolves(page: Path, target: str) -> bool:
    if re.match(
        r"[a-z][a-z0-9+.-]*:", target
    ):  # another site: not asked, tests are offline
        return True
    path, _, anchor = unquote(target).partition("#")
    file = (page.parent / path).resolve() if path else page
    if not file.exists() or not file.is_relative_to(ROOT):
        return False
    return not anchor or file.suffix != ".md" or anchor in _anchors(file)


def _anchors(page: Path) -> set[str]:
    """Headings the way code hosts turn them into anchors."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in HEADING.findall(text)
    }
