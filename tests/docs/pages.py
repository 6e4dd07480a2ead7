# SPDX-License-Identifier: Apache-2.0
"""Reading Markdown pages: fences, tables and links, for the tests of this folder."""

import re
from pathlib import Path

from tests.architecture.repository import ROOT, text_files

DOCS = ROOT / "docs"
README = ROOT / "README.md"

_FENCE = re.compile(r"^[ \t]*```.*$", re.MULTILINE)
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def markdown_pages() -> list[Path]:
    """Every page of the repository."""
    return [file for file in text_files() if file.suffix == ".md"]


def read(page: Path) -> str:
    """The text of a page."""
    return page.read_text(encoding="utf-8")


def without_fences(text: str) -> str:
    """The same lines, with those that open or close a block left empty."""
    return _FENCE.sub("", text)


def blocks(page: Path, language: str) -> list[str]:
    """The contents of all fenced blocks of one language, `""` for none."""
    return [body for name, body in _BLOCK.findall(read(page)) if name == language]


def section(page: Path, heading: str) -> str:
    """What stands below a heading, up to the next one of the same depth or above."""
    depth = len(heading) - len(heading.lstrip("#"))
    _, found, rest = read(page).partition(f"\n{heading}\n")
    assert found, f"{page.name} has no heading {heading!r}"
    return re.split(rf"^#{{1,{depth}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def table(text: str) -> list[list[str]]:
    """The cells of all table rows, without rows of dashes."""
    rows = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return [row for row in cells if not set("".join(row)) <= set("- :")]


def linked_files(page: Path, text: str) -> list[Path]:
    """The files that links in `text`, a part of `page`, lead to, in order."""
    return [(page.parent / target).resolve() for target in _LINK.findall(text)]


def in_code(text: str) -> list[str]:
    """Everything written between backquotes."""
    return re.findall(r"`([^`\n]+)`", text)
