# SPDX-License-Identifier: Apache-2.0
"""`make slides`: every lesson as slides, one HTML file each, which needs no network.

    python -m tools.slides          all lessons, run, into build/slides
    python -m tools.slides 01 10    these; --as-stored: without running them

A heading begins a slide, and so does every other text; what is run and shown after it
is on the same slide. Answers, checks and what is folded are left out.

nbconvert renders the cells, and reveal.js shows them. nbconvert's own slides load it,
and MathJax, from other hosts; here the copy that sphinx-revealjs installs is written
into the page, and formulas are MathML.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbformat

from fedlearn_edu.errors import FedLearnError
from tools.cells import is_answer, is_check, read
from tools.docs.execution import run_all
from tools.release import ROOT, SOURCE, lesson_names

STYLE = Path(__file__).with_name("slides.css")
OPTIONS = {
    "width": 1280,
    "height": 800,
    "margin": 0.02,
    "center": False,
    "hash": True,
    "slideNumber": "c/t",
    "transition": "none",
    "scrollActivationWidth": 600,
}

_HEADING = re.compile(r"^(?=#{1,3} )", re.MULTILINE)
_FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
_CODE_OR_MATH = re.compile(
    r"(?P<code>```.*?```|`[^`\n]*`)"
    r"|\$\$(?P<block>.+?)\$\$|(?<![\\$])\$(?P<inline>[^$\n]+)\$",
    re.DOTALL,
)
_LESSON = re.compile(r"\]\(\.\./(\w+)/\1\.ipynb\)")
_NOT_SHOWN = ("## Where this lives", "# Where this lives")

new: Any = nbformat.v4


def slides(notebook: Any) -> Iterator[list[Any]]:
    """The cells of one slide after the other."""
    slide: list[Any] = []
    for cell in _shown(notebook):
        if cell.cell_type == "markdown" and slide:
            yield slide
            slide = []
        slide.append(cell)
    if slide:
        yield slide


def _shown(notebook: Any) -> Iterator[Any]:
    """Cells for the screen, texts cut at their headings."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for part in _HEADING.split(_FOLDED.sub("", cell.source)):
                if part.strip() and not part.startswith(_NOT_SHOWN):
                    yield new.new_markdown_cell(_for_a_browser(part))
        elif not (is_answer(cell) or is_check(cell) or cell.get("id") == "setup"):
            yield cell


def _for_a_browser(text: str) -> str:
    """Formulas as MathML, links to lessons as links to their slides."""
    return _LESSON.sub(r"](\1.html)", _CODE_OR_MATH.sub(_formula, text))


def _formula(found: re.Match[str]) -> str:
    from latex2mathml.converter import convert

    if found["code"]:
        return found[0]
    if found["block"]:
        return str(convert(found["block"].strip(), display="block"))
    return str(convert(found["inline"]))


@cache
def _exporter() -> Any:
    from nbconvert import HTMLExporter
    from traitlets.config import Config

    config = Config()
    config.TemplateExporter.exclude_input_prompt = True
    config.TemplateExporter.exclude_output_prompt = True
    config.HTMLExporter.exclude_anchor_links = True
    return HTMLExporter(template_name="basic", config=config)  # type: ignore[no-untyped-call]


def page(notebook: Any, title: str) -> str:
    """The HTML of a whole lesson."""
    from pygments.formatters import HtmlFormatter

    body = "\n".join(
        f"<section>{_rendered(cells)}</section>" for cells in slides(notebook)
    )
    code = HtmlFormatter(style="default").get_style_defs(".highlight")
    styles = [_of_reveal("reset.css"), _of_reveal("reveal.css"), code]
    styles.append(STYLE.read_text(encoding="utf-8"))
    start = f"Reveal.initialize({json.dumps(OPTIONS)});"
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(title)}</title>\n"
        + "".join(f"<style>\n{style}\n</style>\n" for style in styles)
        + f'</head>\n<body>\n<div class="reveal"><div class="slides">\n{body}\n'
        f"</div></div>\n<script>\n{_of_reveal('reveal.js')}\n</script>\n"
        f"<script>{start}</script>\n</body>\n</html>\n"
    )


@cache
def _of_reveal(name: str) -> str:
    """A file of reveal.js, its licence (MIT) at the top, as sphinx-revealjs has it."""
    found = find_spec("sphinx_revealjs")
    if found is None or found.origin is None:
        raise FedLearnError(
            "slides need reveal.js",
            expected="the package sphinx-revealjs, which brings it",
            do='pip install -c constraints.txt -e ".[docs]"',
        )
    folder = Path(found.origin).parent / "_static" / "revealjs" / "dist"
    return (folder / name).read_text(encoding="utf-8")


def _rendered(cells: list[Any]) -> str:
    part = new.new_notebook(cells=cells)
    html, _ = _exporter().from_notebook_node(part)
    return str(html)


def main(arguments: list[str] | None = None) -> int:
    """Writes the slides; 0 after success, 2 if a lesson does not run."""
    parser = argparse.ArgumentParser(prog="python -m tools.slides")
    parser.add_argument("lessons", nargs="*", help="how their names begin; else all")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "slides")
    parser.add_argument("--as-stored", action="store_true", help="do not run them")
    chosen = parser.parse_args(arguments)
    wanted = tuple(chosen.lessons) or ("",)
    names = [name for name in lesson_names() if name.startswith(wanted)]
    paths = [SOURCE / name / f"{name}.ipynb" for name in names]
    try:
        notebooks = (
            {path: read(path) for path in paths}
            if chosen.as_stored
            else run_all(paths, ROOT / "build" / "lessons")
        )
        for path, notebook in notebooks.items():
            title = notebook.cells[0].source.partition("\n")[0].removeprefix("# ")
            html = page(notebook, title)
            chosen.out.mkdir(parents=True, exist_ok=True)
            file = chosen.out / f"{path.stem}.html"
            file.write_text(html, encoding="utf-8")
            print(file)
    except FedLearnError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
