# SPDX-License-Identifier: Apache-2.0
"""From a notebook that ran to the Markdown of its page.

Solutions are there, folded; checks that the learner does not see are left out. What
cells showed is HTML already; its pictures become files.
"""

import re
from base64 import b64decode
from collections.abc import Iterator
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from tools.cells import is_answer

_WIDGET = "application/vnd.jupyter.widget-view+json"
_HIDDEN_TESTS = re.compile(
    r"^ *### BEGIN HIDDEN TESTS.*?^ *### END HIDDEN TESTS\n?", re.M | re.S
)
_MARKERS = re.compile(r"^ *### (?:BEGIN|END) SOLUTION *\n?", re.M)
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_INLINE_PNG = re.compile(r"data:image/png;base64,([A-Za-z0-9+/=\s]+)")
_FENCE = "`" * 8
_PICTURES = "pictures"


class Pictures:
    """Files for the pictures of all lessons, each once."""

    def __init__(self, folder: Path) -> None:
        """They will be below `folder`, in `pictures`."""
        self._folder = folder / _PICTURES
        self._folder.mkdir(parents=True, exist_ok=True)

    def add(self, encoded: str) -> str:
        """Keeps a PNG, in base64; returns its address for the page of a lesson."""
        content = b64decode(encoded)
        name = f"{sha256(content).hexdigest()[:16]}.png"
        (self._folder / name).write_bytes(content)
        return f"{_PICTURES}/{name}"


def from_notebook(notebook: Any, pictures: Pictures) -> str:
    """The Markdown of a page: no marks of the grader, solutions folded, no widget."""
    return "\n\n".join(
        part for cell in notebook.cells for part in _cell(cell, pictures)
    )


def _cell(cell: Any, pictures: Pictures) -> Iterator[str]:
    if cell.cell_type != "code":
        yield cell.source
        return
    source = _MARKERS.sub("", _HIDDEN_TESTS.sub("", cell.source)).rstrip()
    code = f"{_FENCE}python\n{source}\n{_FENCE}"
    if is_answer(cell):
        yield _raw("<details><summary>One way to do it</summary>")
        yield code
        yield _raw("</details>")
    elif source:
        yield code
    if shown := "".join(_output(output, pictures) for output in cell.outputs):
        yield _raw(f'<div class="output">{shown}</div>')


def _raw(html: str) -> str:
    return f"{_FENCE}{{raw}} html\n{html}\n{_FENCE}"


def _output(output: Any, pictures: Pictures) -> str:
    match output.output_type:
        case "stream":
            return _text(output.text)
        case "error":
            return _text("\n".join(output.traceback), "failed")
        case _:
            return _shown(output, pictures)


def _shown(output: Any, pictures: Pictures) -> str:
    """The best form of what was shown; a widget without a picture is nothing."""
    data = output.data
    plain = data.get("text/plain", "")
    if html := data.get("text/html") or data.get("image/svg+xml"):
        return f"<div>{_INLINE_PNG.sub(lambda png: pictures.add(png[1]), html)}</div>"
    if png := data.get("image/png"):
        address = pictures.add(png)
        alt = output.metadata.get("image/png", {}).get("alt", plain)
        return f'<img src="{address}" alt="{escape(alt)}" loading="lazy">'
    if _WIDGET in data and re.match(r"\w+\(", plain):
        return ""
    return _text(plain)


def _text(text: str, kind: str = "printed") -> str:
    return f'<pre class="{kind}" tabindex="0">{escape(_ANSI.sub("", text))}</pre>'
