# SPDX-License-Identifier: Apache-2.0
"""Where links lead: from the Markdown of a clone to pages of the site, and in the site.

On a code host a page leads to files: other pages, notebooks, code. In the site each has
a page of its own, so every such link is written anew; what is elsewhere stays.
"""

import re
from collections.abc import Iterator
from html import unescape
from os.path import normpath
from pathlib import Path
from posixpath import dirname, relpath
from urllib.parse import unquote

PICTURES = (".png", ".svg")
LITE = "lite"
"""The folder of the lessons that run in a browser; its pages are not ours to check."""

_OTHER_SITE = re.compile(r"[a-z][a-z0-9+.-]*:|//")
_LINK = re.compile(r"^ *```.*?^ *```|`[^`\n]+`|\]\(\s*([^)\s]+)\s*\)", re.M | re.S)
_EXACT = "{.external}"  # what leads to no page of Sphinx is left as it is
_SCRIPT = re.compile(r"(<script[^>]*>).*?</script>", re.S)
_TAG = re.compile(r"<([a-z][\w-]*)\b([^>]*)>")
_ATTRIBUTE = re.compile(r'\b(id|name|href|src)="([^"]*)"')
_FETCHES = re.compile(
    r"""@import\s+(?:url\()?["']?(?:https?:)?//|url\(\s*["']?(?:https?:)?//"""
    r"""|(?:\bfetch|\bimport|\.src\s*=)\s*\(?\s*["'`]https?://"""
)


def page_of(file: Path) -> str:
    """The page that a file of the clone has in the site, without its ending.

    >>> page_of(Path("README.md")), page_of(Path("docs/decisions/README.md"))
    ('index', 'decisions/index')
    >>> page_of(Path("docs/privacy.md")), page_of(Path("CHANGELOG.md"))
    ('guides/privacy', 'changelog')
    >>> page_of(Path("notebooks/release/01_hello/01_hello.ipynb"))
    'lessons/01_hello'
    >>> page_of(Path("notebooks/release/index.ipynb"))  # the list of the lessons
    'lessons/index'
    >>> page_of(Path("fedlearn_edu/viz/html.py"))
    'source/fedlearn_edu/viz/html.py'
    """
    if file.suffix == ".ipynb":
        return f"lessons/{file.stem}"
    if file.suffix != ".md":
        return f"source/{file.as_posix()}"
    name = "index" if file.stem == "README" else file.stem.lower()
    folders = file.parts[:-1]
    if folders[:1] == ("docs",):
        folders = folders[1:] or ("guides",)
    return "/".join([*folders, name])


def slug(heading: str) -> str:
    """The anchor of a heading, as code hosts make it.

    >>> slug("What is there to learn from?")
    'what-is-there-to-learn-from'
    """
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def rewrite(text: str, file: Path, root: Path) -> tuple[str, set[Path]]:
    """The same Markdown with links for the site, and the files that they lead to.

    Args:
        text: Markdown; what looks like a link in its code is none.
        file: Where it stands in the clone.
        root: The clone.
    """
    found = set()

    def link(match: re.Match[str]) -> str:
        href = match[1]
        if href is None or href.startswith("#") or _OTHER_SITE.match(href):
            return f"](#{slug(href[1:])})" if href and href[0] == "#" else match[0]
        path, _, anchor = unquote(href).partition("#")
        target = _file(root / file.parent / path).relative_to(root.resolve())
        found.add(target)
        there = relpath(_place(target), dirname(page_of(file)) or ".")
        return f"]({there}{anchor and '#'}{slug(anchor)})" + _EXACT * _is_code(target)

    return _LINK.sub(link, text), found


def _place(target: Path) -> str:
    if target.suffix in PICTURES:
        return target.as_posix()
    return page_of(target) + (".html" if _is_code(target) else ".md")


def _is_code(target: Path) -> bool:
    return target.suffix not in (".md", ".ipynb", *PICTURES)


def _file(path: Path) -> Path:
    path = path.resolve()
    inside = [path / "README.md", path / "__init__.py"]
    return next((each for each in inside if each.is_file()), path)


# ------------------------------------------------------------------ the built site


def broken(site: Path) -> Iterator[str]:
    """Links and pictures of the site that lead to no file of it, or to no anchor."""
    tags = {file: _tags(file) for file in _ours(site, "*.html")}
    anchors = {
        file: {value for _, name, value in found if name in ("id", "name")}
        for file, found in tags.items()
    }
    for file, found in tags.items():
        for _, name, value in found:
            if name not in ("href", "src") or not value or _OTHER_SITE.match(value):
                continue
            path, _, anchor = unquote(value).partition("#")
            path = path.partition("?")[0]
            target = Path(normpath(file.parent / path)) if path else file
            is_lost = anchor and target in anchors and anchor not in anchors[target]
            if is_lost or not target.is_file():
                yield f"{file.relative_to(site).as_posix()}: {value}"


def fetched(site: Path) -> Iterator[str]:
    """What pages, styles and scripts of the site would ask of another host."""
    for file in _ours(site, "*.html"):
        for tag, name, value in _tags(file):
            is_asset = name == "src" or (tag, name) == ("link", "href")
            if is_asset and re.match(r"(https?:)?//", value):
                yield f"{file.relative_to(site).as_posix()}: {value}"
    for file in _ours(site, "*.css", "*.js", "*.html"):
        for match in _FETCHES.finditer(file.read_text(encoding="utf-8")):
            yield f"{file.relative_to(site).as_posix()}: {match[0]}"


def _tags(file: Path) -> list[tuple[str, str, str]]:
    """Tag, name and value of the attributes of a page, outside of scripts."""
    page = _SCRIPT.sub(r"\1", file.read_text(encoding="utf-8"))
    return [
        (tag, name, unescape(value))
        for tag, attributes in _TAG.findall(page)
        for name, value in _ATTRIBUTE.findall(attributes)
    ]


def _ours(site: Path, *patterns: str) -> Iterator[Path]:
    files = (file for pattern in patterns for file in sorted(site.rglob(pattern)))
    return (file for file in files if file.relative_to(site).parts[0] != LITE)
