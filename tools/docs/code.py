# SPDX-License-Identifier: Apache-2.0
"""Pages with the code of the clone: there are many, so they are plain."""

from html import escape
from pathlib import Path
from typing import Any

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title>
<link rel="stylesheet" href="{up}_static/pygments.css">
<link rel="stylesheet" href="{up}_static/site.css">
</head>
<body class="code">
<script>document.body.dataset.theme = localStorage.getItem("theme") || "auto"</script>
<nav aria-label="the site"><a href="{up}index.html">fedlearn_edu</a></nav>
<main>
<h1>{name}</h1>
{code}
</main>
</body>
</html>
"""


def code_page(text: str, file: Path) -> str:
    """The page of a file; line 7 has the anchor `L-7`."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_for_filename
    from pygments.lexers.special import TextLexer
    from pygments.util import ClassNotFound

    try:
        lexer: Any = get_lexer_for_filename(file.name)
    except ClassNotFound:
        lexer = TextLexer()
    up = "../" * len(file.parts)
    code = highlight(text, lexer, HtmlFormatter(lineanchors="L"))
    return _PAGE.format(name=escape(file.as_posix()), up=up, code=code)
