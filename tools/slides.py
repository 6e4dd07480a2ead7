# SPDX-License-Identifier: Apache-2.0
"""Every lesson as slides that need no network.

    python -m tools.slides          all lessons, run, into build/slides
    python -m tools.slides 01 10    these; --as-stored: without running them

This is `jupyter nbconvert --to slides`, told where slides begin, with the reveal.js of
sphinx-revealjs (in the extra `docs`) beside the pages. Exercises' answers, checks and
folded parts are left out; formulas are MathML.
"""

import argparse
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

from tools.cells import is_answer, is_check, read
from tools.docs.execution import run_all
from tools.release import ROOT, SOURCE, lesson_names

TEMPLATE = Path(__file__).with_name("slides.html.j2")
WIDTH, HEIGHT = 1280, 800
_NOT_SHOWN = re.compile(r"<details>.*?</details>|^## Where this lives.*", re.S | re.M)
_LESSON = re.compile(r"\]\(\.\./(\w+)/\1\.ipynb\)")
_MATH = re.compile(r"(`+.*?`+)|\$\$(.+?)\$\$|(?<![\\$])\$([^$\n]+)\$", re.DOTALL)
_WIDGET = "application/vnd.jupyter.widget-view+json"

new: Any = nbformat.v4


def with_slides(notebook: Any) -> Any:
    """Makes a paragraph a cell, and marks where slides begin."""
    cells: list[Any] = []
    used = 0
    for unit in _units(notebook):
        needed = sum(map(_height, unit))
        heading = re.match("##? " if used < HEIGHT / 3 else "#+ ", unit[0].source)
        asked = cells and is_question(cells[-1])
        if heading or asked or used + needed > HEIGHT:
            unit[0].metadata["slideshow"] = {"slide_type": "slide"}
            used = 0
        used += needed
        cells += unit
    notebook.cells = cells
    return notebook


def is_question(cell: Any) -> bool:
    """Whether what follows may answer it.

    >>> is_question(new.new_markdown_cell("**Predict first:** who will hold it?"))
    True
    """
    if cell.source.startswith("predict(") or "asks" in cell.metadata:
        return True
    return bool(re.search(r"\?\W*$", cell.source)) and not cell.source.startswith("#")


def _units(notebook: Any) -> Iterator[list[Any]]:
    """What stays together: a heading and its text, a text, its code and its picture."""
    unit: list[Any] = []
    for cell in _shown(notebook):
        # The page makes pictures smaller, if need be.
        fits = sum(map(_height, [*unit, cell])) <= 1.3 * HEIGHT
        if unit and not (_belongs(unit[-1], cell) and (fits or _is_heading(unit[-1]))):
            yield unit
            unit = []
        unit.append(cell)
    yield unit


def _belongs(before: Any, cell: Any) -> bool:
    if _is_heading(before) or _is_heading(cell):
        return not _is_heading(cell)
    if is_question(before) or is_question(cell):
        return not is_question(before) or bool(cell.source.startswith("predict("))
    if cell.cell_type == "code":
        return before.cell_type == "markdown" or not before.outputs
    if before.cell_type == "code":
        return _pictures(before) > 0
    is_formula = cell.source.startswith("<math")
    return bool(is_formula or before.source.endswith((",", ":")))


def _is_heading(cell: Any) -> bool:
    return bool(cell.cell_type == "markdown" and cell.source.startswith("#"))


def _shown(notebook: Any) -> Iterator[Any]:
    for cell, after in zip(notebook.cells, [*notebook.cells[1:], None], strict=True):
        if cell.cell_type == "markdown":
            parts = [*map(new.new_markdown_cell, _paragraphs(cell.source))]
            if parts and after and is_answer(after):
                parts[-1].metadata["asks"] = True
            yield from parts
        elif not (is_answer(cell) or is_check(cell) or cell.get("id") == "setup"):
            for output in cell.outputs:  # a widget's picture is there, too
                output.get("data", {}).pop(_WIDGET, None)
            if re.match(r"(predict|reveal)\(", cell.source):
                cell.metadata["transient"] = {"remove_source": True}
            yield cell


def _paragraphs(text: str) -> Iterator[str]:
    r"""Formulas as MathML, links to lessons as links to their slides.

    >>> list(_paragraphs("Go [on](../02_x/02_x.ipynb).\n\n```\n1\n\n2\n```"))
    ['Go [on](02_x.html).', '```\n1\n\n2\n```']
    """
    text = _LESSON.sub(r"](\1.html)", _NOT_SHOWN.sub("", text))
    paragraph = ""
    for part in re.split(r"\n\s*\n", text.strip()):
        paragraph = f"{paragraph}\n\n{part}".strip()
        if paragraph and paragraph.count("```") % 2 == 0:
            yield _MATH.sub(_formula, paragraph)
            paragraph = ""


def _formula(found: re.Match[str]) -> str:
    from latex2mathml.converter import convert

    code, block, inline = found.groups()
    display = "block" if block else "inline"
    return code or str(convert((block or inline).strip(), display=display))


def _height(cell: Any) -> int:
    """About how many pixels it takes; the page shrinks what does not fit."""
    if _is_heading(cell):
        return 60
    if cell.cell_type == "markdown":
        text = re.sub(r"<math.*</math>", "x" * 20, cell.source, flags=re.DOTALL)
        rows = re.findall(r"^\s*[|-]", text, re.MULTILINE)
        return 15 + 36 * (len(text) // 95 + 1) + 12 * len(rows)
    shown = "" if "transient" in cell.metadata else cell.source
    for output in cell.outputs:
        html = output.get("data", {}).get("text/html", "")
        plain = output.get("data", {}).get("text/plain", "")
        shown += "\n" + output.get("text", "\n".join(output.get("traceback", [])))
        shown += "\n" * len(re.findall("<tr|<div", html)) if html else plain
    return 20 + 28 * (shown.count("\n") + 1) + 300 * _pictures(cell)


def _pictures(cell: Any) -> int:
    html = [output.get("data", {}).get("text/html", "") for output in cell.outputs]
    return sum("<img" in each for each in html)


def write(notebook: Any, name: str, folder: Path) -> Path:
    """Writes the slides of a lesson, and reveal.js beside them."""
    import sphinx_revealjs
    from nbconvert import SlidesExporter

    copied = Path(sphinx_revealjs.__file__).parent / "_static" / "revealjs" / "dist"
    shutil.copytree(copied, folder / "reveal" / "dist", dirs_exist_ok=True)
    export: Any = SlidesExporter
    exporter = export(
        raw_template=TEMPLATE.read_text(encoding="utf-8"),
        reveal_url_prefix="reveal",
        reveal_theme="white",  # it fetches no fonts
        reveal_width=str(WIDTH),
        reveal_height=str(HEIGHT),
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        exclude_anchor_links=True,
    )
    about = {"metadata": {"name": name}}
    html, _ = exporter.from_notebook_node(with_slides(notebook), about)
    (folder / f"{name}.html").write_text(html, encoding="utf-8")
    return folder / f"{name}.html"


def main() -> None:
    """Writes the slides of lessons, and says where."""
    parser = argparse.ArgumentParser(prog="python -m tools.slides")
    parser.add_argument("lessons", nargs="*", help="how their names begin; else all")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "slides")
    parser.add_argument("--as-stored", action="store_true", help="do not run them")
    chosen = parser.parse_args()
    wanted = tuple(chosen.lessons) or ("",)
    names = [name for name in lesson_names() if name.startswith(wanted)]
    paths = [SOURCE / name / f"{name}.ipynb" for name in names]
    kept = ROOT / "build" / "lessons"
    ran = {p: read(p) for p in paths} if chosen.as_stored else run_all(paths, kept)
    for path, notebook in ran.items():
        print(write(notebook, path.stem, chosen.out))


if __name__ == "__main__":
    main()
