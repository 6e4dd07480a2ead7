# SPDX-License-Identifier: Apache-2.0
"""Puts pages together: the way from one to the next, contents, and one style."""

import os
import shutil
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any, final

from tools.book import links, pages
from tools.book.execution import BookError

_STYLE = Path(__file__).with_name("book.css")
_ALWAYS = ("README.md", "docs/glossary.md")
_TITLE = "fedlearn_edu, the lessons"
_ABOUT = (
    "Every lesson as it looks after it was run. Solutions are folded: try first. "
    "Exercises are done in a notebook: <code>fedlearn-edu start</code> puts them into "
    "a folder of your own."
)

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="{up}book.css">
</head>
<body>
<header><nav aria-label="the book">{way}</nav></header>
<main>
{body}
</main>
<footer><nav aria-label="onwards">{way}</nav></footer>
</body>
</html>
"""


@final
class Book:
    """Notebooks that ran, and the pages of Markdown that they lead to."""

    def __init__(self, root: Path, out: Path, notebooks: Mapping[Path, Any]) -> None:
        """Makes nothing yet.

        Args:
            root: The repository.
            out: A folder for the book; it is emptied.
            notebooks: File to notebook, in the order of the book.
        """
        self._root, self._out, self._notebooks = root, out, notebooks
        self._soups: dict[Path, Any] = {}

    def write(self) -> Path:
        """Writes all pages, and follows all links; returns the first page.

        Raises:
            BookError: if a link leads nowhere.
        """
        self._collect()
        shutil.rmtree(self._out, ignore_errors=True)
        self._out.mkdir(parents=True)
        style = _STYLE.read_text(encoding="utf-8") + _code_style()
        (self._out / "book.css").write_text(style, encoding="utf-8")
        for source, soup in self._soups.items():
            self._write_page(links.page_of(source, self._root), str(soup), source)
        self._write_page("index.html", self._contents(), None)
        if lost := list(links.broken(self._out)):
            raise BookError(
                "links of the book lead nowhere",
                expected="the name of a page, and of one of its headings",
                found=f"{len(lost)} that lead nowhere",
                where="\n".join(lost),
                do="mend the link in the notebook or in the page",
            )
        return self._out / "index.html"

    def _collect(self) -> None:
        """Page after page, until no page leads to one that is not there."""
        names = {path.stem for path in self._notebooks}
        always = [self._root / name for name in _ALWAYS]
        waiting = [*self._notebooks, *filter(Path.is_file, always)]
        while waiting:
            source = waiting.pop(0)
            if self._page_of(source) in map(self._page_of, self._soups):
                continue
            soup = self._soup(source)
            self._soups[source] = soup
            found = links.rewrite(soup, source, self._root, names)
            waiting += sorted(each for each in found if each.suffix == ".md")
            waiting = [each for each in waiting if each.is_file()]

    def _page_of(self, source: Path) -> str:
        return links.page_of(source, self._root)

    def _soup(self, source: Path) -> Any:
        if source in self._notebooks:
            return pages.from_notebook(self._notebooks[source])
        return pages.from_markdown(source.read_text(encoding="utf-8"))

    def _write_page(self, name: str, body: str, source: Path | None) -> None:
        file = self._out / name
        file.parent.mkdir(parents=True, exist_ok=True)
        up = os.path.relpath(self._out, file.parent)
        up = "" if up == "." else f"{up}/"
        title = f"{self._title(source)} · fedlearn_edu" if source else _TITLE
        html = _PAGE.format(
            title=escape(title), up=up, body=body, way=self._way(source, up)
        )
        file.write_text(html, encoding="utf-8")

    def _way(self, source: Path | None, up: str) -> str:
        """Back, to the contents, and on."""
        contents = f'<a href="{up}index.html">Contents</a>'
        order = list(self._notebooks)
        if source not in order:
            return contents
        here = order.index(source)
        before = [self._link(each, up, "← ") for each in order[:here][-1:]]
        after = [self._link(each, up, "", " →") for each in order[here + 1 :][:1]]
        return " · ".join([*before, contents, *after])

    def _contents(self) -> str:
        lessons = "".join(
            f"<li>{self._link(each, left=_number(each))}</li>"
            for each in self._notebooks
        )
        always = [self._root / name for name in _ALWAYS]
        more = "".join(f"<li>{self._link(e)}</li>" for e in always if e in self._soups)
        also = f"<h2>To look things up</h2><ul>{more}</ul>" if more else ""
        return f"<h1>{_TITLE}</h1><p>{_ABOUT}</p><ul>{lessons}</ul>{also}"

    def _link(self, source: Path, up: str = "", left: str = "", right: str = "") -> str:
        text = f"{left}{escape(self._title(source))}{right}"
        return f'<a href="{up}{self._page_of(source)}">{text}</a>'

    def _title(self, source: Path) -> str:
        heading = self._soups[source].find("h1")
        return heading.get_text().strip() if heading else source.stem


def _number(lesson: Path) -> str:
    """`04 · ` for `04_intrinsics`; nothing for what has no number."""
    number, _, rest = lesson.stem.partition("_")
    return f"{number} · " if rest and number.isdigit() else ""


def _code_style() -> str:
    from pygments.formatters import HtmlFormatter

    formatter: Any = HtmlFormatter(style="default")
    return str(formatter.get_style_defs(".highlight"))
