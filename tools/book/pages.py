# SPDX-License-Identifier: Apache-2.0
"""From a notebook that ran, or a page of Markdown, to the HTML of its body."""

import re
from functools import cache
from io import BytesIO
from typing import Any

import nbformat
from bs4 import BeautifulSoup

_WIDGET = "application/vnd.jupyter.widget-view+json"
_SHOWN = ("text/html", "image/svg+xml", "image/png")
_HIDDEN_TESTS = re.compile(
    r"^ *### BEGIN HIDDEN TESTS.*?^ *### END HIDDEN TESTS\n?", re.M | re.S
)
_MARKERS = re.compile(r"^ *### (?:BEGIN|END) SOLUTION *\n?", re.M)
_FORMULA = re.compile(r"(?<![\w\\$])\$(?![\s$])([^$\n]+?)(?<![\s\\])\$(?![\w$])")


def from_markdown(text: str) -> Any:
    """A page of Markdown; `soup.select("a")` finds its links."""
    new: Any = nbformat.v4
    return _rendered(new.new_notebook(cells=[new.new_markdown_cell(text)]))


def from_notebook(notebook: Any) -> Any:
    """A notebook: no marks of the grader, solutions folded, no widget."""
    solutions = []
    for cell in notebook.cells:
        cell.source = _MARKERS.sub("", _HIDDEN_TESTS.sub("", cell.source))
        if cell.metadata.get("nbgrader", {}).get("solution"):
            solutions.append(cell.id)
        if "outputs" in cell:
            cell.outputs = [each for each in cell.outputs if _has_static_form(each)]
    soup = _rendered(notebook)
    for name in solutions:
        _fold(soup, name)
    return soup


def slug(heading: str) -> str:
    """The anchor of a heading, as code hosts make it.

    >>> slug("What is there to learn from?")
    'what-is-there-to-learn-from'
    """
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def _rendered(notebook: Any) -> Any:
    html, _ = _exporter().from_notebook_node(notebook)
    soup = BeautifulSoup(html, "html.parser")
    _name_headings(soup)
    _draw_formulas(soup)
    for scroller in soup.select("pre, table"):
        # Wide ones scroll by themselves, by keyboard too.
        if not scroller.find_parent(attrs={"tabindex": "0"}):
            scroller.wrap(soup.new_tag("div", attrs={"class": "wide", "tabindex": "0"}))
    return soup


@cache
def _exporter() -> Any:
    from nbconvert import HTMLExporter

    make: Any = HTMLExporter
    exporter = make(template_name="basic")
    exporter.exclude_anchor_links = True
    exporter.exclude_input_prompt = exporter.exclude_output_prompt = True
    return exporter


def _has_static_form(output: Any) -> bool:
    """Takes the widget out of an output; what is left may be nothing to look at."""
    data = output.get("data", {})
    if "image/png" in data and "text/plain" in data:
        output.metadata.setdefault("image/png", {}).setdefault(
            "alt", data["text/plain"]
        )
    if data.pop(_WIDGET, None) is None:
        return True
    is_shown = any(kind in data for kind in _SHOWN)
    return is_shown or not re.match(r"\w+\(", data.get("text/plain", "x("))


def _fold(soup: Any, cell: str) -> None:
    code = soup.find(id=f"cell-id={cell}").select_one(".input")
    details = soup.new_tag("details")
    code.wrap(details)
    summary = soup.new_tag("summary")
    summary.string = "One way to do it"
    details.insert(0, summary)


def _name_headings(soup: Any) -> None:
    taken: dict[str, int] = {}
    for heading in soup.select("h1, h2, h3, h4, h5, h6"):
        name = slug(heading.get_text())
        number = taken.get(name, 0)
        taken[name] = number + 1
        heading["id"] = f"{name}-{number}" if number else name


# ------------------------------------------------------------------ formulas


def _draw_formulas(soup: Any) -> None:
    """Formulas between dollar signs as pictures: no page loads a library for them."""
    for text in soup.find_all(string=_FORMULA):
        if text.find_parent(["code", "pre", "script", "style"]):
            continue
        drawn = _FORMULA.sub(lambda match: _formula(match[1]), str(text))
        text.replace_with(BeautifulSoup(drawn, "html.parser"))


def _formula(tex: str) -> str:
    from base64 import b64encode
    from html import escape

    from matplotlib.mathtext import math_to_image

    picture = BytesIO()
    try:
        math_to_image(f"${tex}$", picture, format="svg")
    except ValueError:  # more TeX than can be drawn: it is shown as it was written
        return f"<code>{escape(tex)}</code>"
    source = b64encode(picture.getvalue()).decode()
    return (
        f'<img class="formula" alt="{escape(tex)}" '
        f'src="data:image/svg+xml;base64,{source}">'
    )
