# SPDX-License-Identifier: Apache-2.0
"""The HTML of what notebooks show: elements, tables, folds, and boxes in colors.

Text is the page's own, and takes its color from it: readable in any theme.
"""

from collections.abc import Iterable
from html import escape

from fedlearn_edu.viz.colors import QUIET

FAINT = "1f"
"""Added to a color for a fill that any text can be read on."""

_LIST = "list-style:none;margin:0;padding:0"


def tag(name: str, *inner: str, style: str = "", **attributes: str) -> str:
    """An element around HTML.

    >>> tag("p", "a", "b", role="status", style="margin:0")
    '<p role="status" style="margin:0">ab</p>'
    """
    given = attributes | ({"style": style} if style else {})
    words = "".join(f' {key.replace("_", "-")}="{v}"' for key, v in given.items())
    return f"<{name}{words}>{''.join(inner)}</{name}>"


def strong(text: str) -> str:
    """Text in bold."""
    return tag("strong", escape(text))


def code(text: str, **attributes: str) -> str:
    """Text as code."""
    return tag("code", escape(text), **attributes)


def figure(label: str, *parts: str, style: str) -> str:
    """Parts that belong together, with words for those who cannot see them."""
    return tag("figure", *parts, role="group", aria_label=label, style=style)


def details(summary: str, body: str, *, style: str = "margin:0", more: str = "") -> str:
    """A part that folds; `more` is " open" if it is open at first."""
    head = tag("summary", summary, style="cursor:pointer")
    return f'<details{more} style="{style}">{head}{body}</details>'


def rows(items: Iterable[str], style: str = _LIST, name: str = "ul") -> str:
    """A list without bullets; the items are `<li>` elements."""
    return tag(name, *items, role="list", style=style)


def table(
    heads: Iterable[str],
    body: Iterable[str],
    *,
    style: str = "",
    caption: str = "",
    groups: str = "",
) -> str:
    """A table: the cells of its head, and the rows below them, each its cells.

    Args:
        heads: Of the columns.
        body: The cells of each row, joined.
        style: Added to that of the table.
        caption: An element before the rows.
        groups: The cells of a row above the heads, of groups of columns.
    """
    above = [tag("tr", each) for each in (groups, "".join(heads)) if each]
    head = tag("thead", *above) if above else ""
    inner = tag("tbody", *(tag("tr", each) for each in body))
    look = f"border-collapse:collapse;margin:0{style}"
    return tag("table", caption, head, inner, style=look)


def head(text: str, style: str, scope: str = "row", **attributes: str) -> str:
    """The head of a row, of a column, or of a group of columns."""
    return tag("th", text, scope=scope, style=style, **attributes)


def edge(where: str, color: str) -> str:
    """A border, in dark themes in the color of figures: `in_the_dark` of `pictures`.

    >>> edge(":1px", "#E69F00").split("calc")[1:]
    ['(230 + 0.10*r) ', '(159 + 0.10*g) ', '(0 + 0.10*b))']
    """
    parts = bytes.fromhex(color[1:])
    part = f"calc({{}} + {1 - (max(parts) + min(parts)) / 255:.2f}*{{}})"
    dark = " ".join(part.format(*each) for each in zip(parts, "rgb", strict=True))
    return f"border{where} solid {color};border-color:rgb(from currentColor {dark})"


def box(*inner: str, style: str, color: str = QUIET, name: str = "div") -> str:
    """A box on a tinted ground with a thin border."""
    look = f"background:{color}{FAINT};{edge(':1px', color)};border-radius:4px"
    return tag(name, *inner, style=f"{look};{style}")
