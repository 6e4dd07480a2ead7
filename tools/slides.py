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
    """Makes a paragraph a cell; `begins` marks what must not follow on one slide.

    A heading begins a slide, and so does what may be an answer. Of everything else the
    page puts together what fits.
    """
    cells: list[Any] = []
    for cell in _shown(notebook):
        before = cells[-1] if cells else new.new_code_cell()
        slide: dict[str, Any] = {"slide_type": "slide"}
        heading = _is_heading(cell) and not _is_heading(before)
        answer = is_question(before) and not cell.source.startswith("predict(")
        if heading or answer:
            slide["data"] = {"begins": "yes"}
        elif _belongs(before, cell):
            slide = {"slide_type": "-"}
        cell.metadata["slideshow"] = slide
        cells.append(cell)
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


def _belongs(before: Any, cell: Any) -> bool:
    """Whether it stays with what is before it: text with its heading or picture."""
    if _is_heading(before) or cell.source.startswith(("<math", "predict(")):
        return True
    if cell.cell_type == "code":
        return False
    if before.cell_type == "code":
        return any("text/html" in each.get("data", {}) for each in before.outputs)
    return bool(before.source.endswith((",", ":")))


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
