# SPDX-License-Identifier: Apache-2.0
"""Where a link of a page leads: to another page, to another site, or nowhere yet.

Pages keep the names of what they are made of. Files of the repository that are no pages
(source code) lose their link and keep their name; pictures become part of the page.
"""

import os
import re
from base64 import b64encode
from collections.abc import Iterator
from mimetypes import guess_type
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from bs4 import BeautifulSoup

from tools.book.pages import slug

_OTHER_SITE = re.compile(r"[a-z][a-z0-9+.-]*:")


def page_of(source: Path, root: Path) -> str:
    """The file of a page, below the folder of the book.

    >>> root = Path("/clone")
    >>> page_of(root / "notebooks/source/01_hello/01_hello.ipynb", root)
    '01_hello.html'
    >>> page_of(root / "docs/glossary.md", root)
    'docs/glossary.html'
    """
    if source.suffix == ".ipynb":
        return f"{source.stem}.html"
    return source.relative_to(root).with_suffix(".html").as_posix()


def rewrite(soup: Any, source: Path, root: Path, notebooks: set[str]) -> set[Path]:
    """Rewrites the links and pictures of a page; returns the pages that it leads to.

    Args:
        soup: The page.
        source: What it is made of.
        root: The repository.
        notebooks: The names of those in the book, without `.ipynb`.
    """
    found = set()
    for image in soup.select("img[src]"):
        _embed(image, source)
    for link in soup.select("a[href]"):
        target, fragment = _target(link["href"], source)
        if target is None:
            continue
        if not _is_page(target, notebooks) or not target.is_relative_to(root):
            _unlink(link, target)
            continue
        found.add(target)
        here = (root / page_of(source, root)).parent
        there = os.path.relpath(root / page_of(target, root), here)
        link["href"] = quote(Path(there).as_posix()) + fragment
    return found


def broken(folder: Path) -> Iterator[str]:
    """Follows every link of the book that stays in it."""
    pages: dict[Path, Any] = {
        file: BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")
        for file in sorted(folder.rglob("*.html"))
    }
    anchors = {
        file: {each["id"] for each in s.select("[id]")} for file, s in pages.items()
    }
    for file, soup in pages.items():
        for link in soup.select("a[href]"):
            if _OTHER_SITE.match(link["href"]):
                continue
            path, _, anchor = unquote(link["href"]).partition("#")
            target = (file.parent / path).resolve() if path else file
            if target not in pages or (anchor and anchor not in anchors[target]):
                yield f"{file.relative_to(folder)}: {link['href']}"


def _target(href: str, source: Path) -> tuple[Path | None, str]:
    """The file of the repository and the anchor; no file if it is another site."""
    if _OTHER_SITE.match(href):
        return None, ""
    path, _, anchor = unquote(href).partition("#")
    target = (source.parent / path).resolve() if path else source
    if target.is_dir() and (target / "README.md").is_file():
        target = target / "README.md"
    return target, f"#{slug(anchor)}" if anchor else ""


def _is_page(target: Path, notebooks: set[str]) -> bool:
    if not target.exists():
        return True  # it stays a link, so that it is found to be broken
    if target.suffix == ".ipynb":
        return target.stem in notebooks
    return target.suffix == ".md"


def _unlink(link: Any, target: Path) -> None:
    link.name = "span"
    link.attrs = {"title": target.name}


def _embed(image: Any, source: Path) -> None:
    if image["src"].startswith("data:"):
        return
    file = source.parent / unquote(image["src"])
    if _OTHER_SITE.match(image["src"]) or not file.is_file():
        # Nothing is fetched: its words stand in its place.
        image.replace_with(image.get("alt") or file.name)
        return
    kind, _ = guess_type(file.name)
    image["src"] = f"data:{kind};base64,{b64encode(file.read_bytes()).decode()}"
