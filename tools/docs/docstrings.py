# SPDX-License-Identifier: Apache-2.0
"""From docstrings as we write them, near Markdown, to reStructuredText."""

import re
from textwrap import indent

_BLOCK = re.compile(r"^( *)\$\$(.+?)\$\$$", re.M | re.S)
_INLINE = re.compile(
    r"`(?P<code>[^`]+)`(?P<word>\w?)"
    r"|(?<![\w\\$])\$(?![\s$])(?P<tex>[^$]+?)(?<![\s\\])\$(?![\w$])"
    r"|(?P<emphasis>(?<!\w)\*(?=\w)[^*]+(?<=\w)\*(?!\w))"
    r"|[|*]",
    re.S,
)
_PARAGRAPHS = re.compile(r"(\n[ \t]*\n)")


def as_rst(text: str) -> str:
    r"""The same with code and formulas as reStructuredText has them.

    >>> as_rst("The *mean* $w_k$ of all `$HOME`s, |x| * 2.")
    'The *mean* :math:`w_k` of all ``$HOME``\\ s, \\|x\\| \\* 2.'
    >>> as_rst(">>> '`as it is`'")
    ">>> '`as it is`'"
    """
    parts = _PARAGRAPHS.split(_BLOCK.sub(_block, text))
    before = ["", "", *parts]
    return "".join(map(_paragraph, parts, before))


def _paragraph(text: str, before: str) -> str:
    if text.lstrip().startswith((">>>", ".. math::")):
        return text
    if text.startswith("    ") and before.endswith(":"):
        return f"::\n\n{text}"
    return _INLINE.sub(_inline, text)


def _block(match: re.Match[str]) -> str:
    return indent(f".. math:: {_one_line(match[2])}", match[1])


def _inline(match: re.Match[str]) -> str:
    if code := match["code"]:
        return f"``{_one_line(code)}``" + (match["word"] and f"\\ {match['word']}")
    if tex := match["tex"]:
        return f":math:`{_one_line(tex)}`"
    return match["emphasis"] or f"\\{match[0]}"


def _one_line(code: str) -> str:
    return " ".join(code.split())


def as_fields(doc: str) -> str:
    """A whole docstring, its sections as fields."""
    from sphinx.ext.napoleon.docstring import GoogleDocstring

    return str(GoogleDocstring(as_rst(doc)))
