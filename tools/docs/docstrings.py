# SPDX-License-Identifier: Apache-2.0
"""From docstrings as we write them, near Markdown, to reStructuredText."""

import re

_TEXT = re.compile(
    r"(?P<example>^ *>>>.*?(?:\n[ \t]*\n|\Z))"
    r"|^(?P<indent> *)\$\$(?P<block>.+?)\$\$$"
    r"|`(?P<code>[^`]+)`(?P<word>\w?)"
    r"|(?<![\w\\$])\$(?![\s$])(?P<tex>[^$]+?)(?<![\s\\])\$(?![\w$])"
    r"|(?P<emphasis>(?<![\w*])\*(?=\w)[^*]+(?<=\w)\*(?!\w))"
    r"|(?P<literal>:\n[ \t]*\n    .*?(?:\n[ \t]*\n(?!    )|\Z))"
    r"|[|*]",
    re.M | re.S,
)


def as_rst(text: str) -> str:
    r"""The same with code and formulas as reStructuredText has them.

    >>> as_rst("The *mean* $w_k$ of all `$HOME`s, |x| * 2.")
    'The *mean* :math:`w_k` of all ``$HOME``\\ s, \\|x\\| \\* 2.'
    >>> as_rst(">>> '`as it is`'")
    ">>> '`as it is`'"
    >>> as_rst("A picture:\n\n    a -> b")
    'A picture::\n\n    a -> b'
    """
    return _TEXT.sub(_part, text)


def _part(match: re.Match[str]) -> str:
    if block := match["block"]:
        return f"{match['indent']}.. math:: {_one_line(block)}"
    if code := match["code"]:
        return f"``{_one_line(code)}``" + (match["word"] and f"\\ {match['word']}")
    if tex := match["tex"]:
        return f":math:`{_one_line(tex)}`"
    if literal := match["literal"]:
        return f":{literal}"
    return match["example"] or match["emphasis"] or f"\\{match[0]}"


def _one_line(code: str) -> str:
    return " ".join(code.split())
