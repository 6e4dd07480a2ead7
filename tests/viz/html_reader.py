# SPDX-License-Identifier: Apache-2.0
"""Reads a piece of HTML, and refuses what a browser would have to repair."""

import re
from collections import Counter
from html.parser import HTMLParser
from typing import Any

from fedlearn_edu.viz.pictures import FOR_THE_THEME

_BLOCKS = {"tr", "caption", "li", "p", "div", "summary", "figcaption", "section"}
_VOID = {"br", "img", "source", "wbr"}


class Reader(HTMLParser):
    """Counts tags, and collects text, attributes, and the text of list items."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.boxes: list[str] = []
        self._read = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags[tag] += 1
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in _VOID:
            self.open.append(tag)
        if tag == "li":
            self.boxes.append("")
        self._read += "\n" if tag in _BLOCKS else " | " if tag in ("td", "th") else ""
        if tag == "img":
            self._read += f"\n[{dict(attrs)['alt']}]\n"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        self._read += data
        if "li" in self.open:
            self.boxes[-1] += data

    @property
    def text(self) -> str:
        """All text, as it is read aloud."""
        return "".join(self.texts).replace("\N{NO-BREAK SPACE}", " ")

    @property
    def lines(self) -> list[str]:
        """The same with a line for each row, item and paragraph, and for pictures."""
        lines = self._read.replace("\N{NO-BREAK SPACE}", " ").splitlines()
        return [line.removeprefix(" | ").rstrip() for line in lines if line.strip()]

    def values(self, tag: str, name: str) -> list[str]:
        """The values of an attribute of a tag."""
        return [v for t, n, v in self.attributes if (t, n) == (tag, name)]


def check_html(html: str) -> Reader:
    """Asserts what every drawing in HTML keeps; returns what is in it."""
    html = html.replace(FOR_THE_THEME, "")
    html = re.sub('<picture class="fl-dark" hidden>.*?</picture>', "", html)
    html = re.sub(' class="fl-light"', "", html)
    reader = Reader(html)
    assert not set(reader.tags) & {"script", "style", "link", "iframe"}
    assert not re.search(r"https?:|url\(|\bid=|\bclass=", html)
    styles = [value for _, name, value in reader.attributes if name == "style"]
    for part in filter(None, (p for style in styles for p in style.split(";"))):
        name, _, value = part.partition(":")
        assert name.strip() != "color" or value == "inherit", part
    assert all(reader.values("img", "alt")) or not reader.tags["img"]
    return reader
