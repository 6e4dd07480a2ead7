# SPDX-License-Identifier: Apache-2.0
"""`make book`: every link leads somewhere, and nothing is asked of the network."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import nbformat
import numpy as np
import pytest
from bs4 import BeautifulSoup
from matplotlib.figure import Figure

import fedlearn_edu as fl
from fedlearn_edu import viz
from fedlearn_edu.course.lessons import LESSONS
from fedlearn_edu.viz import style
from fedlearn_edu.viz.explorers.background import Job
from fedlearn_edu.viz.explorers.controls import slider, stops, toggle
from fedlearn_edu.viz.explorers.explorer import Explorer
from tests.architecture.repository import ROOT
from tools.book import __main__ as command
from tools.book.binding import Book
from tools.book.execution import BookError
from tools.book.pages import from_markdown, from_notebook
from tools.book.still import still
from tools.cells import read

new: Any = nbformat.v4
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAA"
    "AABJRU5ErkJggg=="
)
FIRST = """# Hello
See [the words](../../../docs/words.md#what-values-are), [what comes next](
../02_next/02_next.ipynb#What-is-it?), [the same here](#how-much-is-it),
[another site](https://example.org/), [`code.py`](../../../code.py) and a picture:
![one dot](dot.png). [![a badge](https://example.org/badge.svg)](https://example.org/)

## How much is it?
It is $\\frac{1}{2}$, and costs 5 $ or 6 $.

| a | b |
| - | - |
| 1 | 2 |
"""
WORDS = """# The words
## What values are
Back to [hello](../notebooks/source/01_hello/01_hello.ipynb), and as it is handed out:
[hello](../notebooks/release/01_hello/01_hello.ipynb). More in [more](deep/more.md).
"""


def code(source: str, id_: str, *outputs: Any, **metadata: Any) -> Any:
    cell = new.new_code_cell(source, id=id_, metadata=metadata)
    cell.outputs = list(outputs)
    return cell


def shown(**data: Any) -> Any:
    kinds = {name.replace("__", "/"): value for name, value in data.items()}
    return new.new_output("display_data", kinds)


def notebook(*cells: Any) -> Any:
    return new.new_notebook(cells=list(cells))


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Two lessons, a page about words and one that this leads to, code, a picture."""
    files = {
        "docs/words.md": WORDS,
        "docs/deep/more.md": "# More\nUp to [words](../words.md#what-values-are).",
        "docs/alone.md": "# Nobody leads here",
        "code.py": "",
    }
    for name, text in files.items():
        file = tmp_path / "clone" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    root = tmp_path / "clone"
    answer = "### BEGIN SOLUTION\nhalf = 1 / 2\n### END SOLUTION"
    tests = "assert half\n### BEGIN HIDDEN TESTS\nassert half == 0.5\n"
    put(
        root,
        "01_hello",
        new.new_markdown_cell(FIRST),
        code(answer, "answer", nbgrader={"solution": True}),
        code(tests + "### END HIDDEN TESTS", "check", nbgrader={"solution": False}),
        code("print(half, '<b>')", "print"),
        code("1 / 0", "fails", tags=["raises-exception"]),
        code("from fedlearn_edu import viz\nviz.explore_mean([2.0])", "moves"),
        code("'still' in globals(), _ is not None", "names"),
    )
    (root / "notebooks/source/01_hello/dot.png").write_bytes(b"\x89PNG")
    put(root, "02_next", new.new_markdown_cell("# Next\n## What is it?\nNothing."))
    return root


def put(root: Path, name: str, *cells: Any) -> Path:
    file = root / "notebooks" / "source" / name / f"{name}.ipynb"
    file.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook(*cells), file)  # type: ignore[no-untyped-call]
    return file


def bound(root: Path) -> Path:
    """The book of the notebooks as they are, without running them."""
    paths = sorted((root / "notebooks" / "source").glob("*/*.ipynb"))
    book = Book(root, root / "build", {path: read(path) for path in paths})
    return book.write().parent


def soup(page: Path) -> Any:
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


def hrefs(page: Path) -> list[str]:
    return [link["href"] for link in soup(page).select("a[href]")]


def test_every_link_leads_to_a_page_and_a_heading_that_are_there(clone: Path) -> None:
    out = bound(clone)
    pages = sorted(out.rglob("*.html"))
    assert [page.relative_to(out).as_posix() for page in pages] == [
        "01_hello.html",
        "02_next.html",
        "docs/deep/more.html",
        "docs/words.html",
        "index.html",
    ]
    followed = 0
    for page in pages:
        for href in hrefs(page):
            if href.startswith("https:"):
                continue
            path, _, anchor = unquote(href).partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.is_file(), href
            if anchor:
                assert soup(target).find(id=anchor), href
            followed += 1
    assert followed > 15


def test_source_code_keeps_its_name_and_loses_its_link(clone: Path) -> None:
    page = soup(bound(clone) / "01_hello.html")
    [name] = page.select('span[title="code.py"]')
    assert name.get_text() == "code.py"
    assert not [href for href in hrefs(clone / "build/01_hello.html") if ".py" in href]


@pytest.mark.parametrize("page", ["index", "01_hello", "docs/words"])
def test_page_asks_the_network_for_nothing(page: str, clone: Path) -> None:
    html = (bound(clone) / f"{page}.html").read_text()
    assert not re.search(r"<script|<iframe|@import|src=\"(?!data:)|url\(http", html)
    [style] = soup(clone / "build" / f"{page}.html").select("link")
    assert not style["href"].startswith("http")
    assert not re.search(r"@import|url\(", (clone / "build/book.css").read_text())


def test_pictures_are_in_the_page_and_those_from_elsewhere_words(clone: Path) -> None:
    page = soup(bound(clone) / "01_hello.html")
    dot, formula = page.select("main img")
    assert (dot["alt"], dot["src"][:22]) == ("one dot", "data:image/png;base64,")
    assert formula["alt"] == "\\frac{1}{2}"
    assert "costs 5 $ or 6 $." in page.get_text()
    assert page.find("a", string="a badge")


def test_solutions_are_folded_and_hidden_tests_left_out(clone: Path) -> None:
    page = soup(bound(clone) / "01_hello.html")
    [folded] = page.select("details")
    assert folded.find("summary").get_text() == "One way to do it"
    assert "half = 1 / 2" in folded.get_text()
    text = page.get_text()
    assert "assert half" in text
    assert "half == 0.5" not in text
    assert "###" not in text


def test_lessons_lead_from_one_to_the_next(clone: Path) -> None:
    out = bound(clone)
    ways = [
        soup(out / name).find("nav").get_text()
        for name in ("01_hello.html", "02_next.html", "docs/words.html")
    ]
    assert ways == ["Contents · Next →", "← Hello · Contents", "Contents"]
    contents = [item.get_text() for item in soup(out / "index.html").select("li")]
    assert contents == ["01 · Hello", "02 · Next"]


@pytest.mark.parametrize(
    ("link", "found"),
    [
        ("../../../docs/gone.md", "02_next.html: docs/gone.html"),
        ("../../../docs/words.md#gone", "02_next.html: docs/words.html#gone"),
        ("../../../gone.py", "02_next.html: gone.html"),
        ("#gone", "02_next.html: 02_next.html#gone"),
        ("gone.ipynb", "02_next.html: gone.html"),
    ],
)
def test_broken_link_is_named(link: str, found: str, clone: Path) -> None:
    text = f"# Next\n## What is it?\n[somewhere]({link})"
    put(clone, "02_next", new.new_markdown_cell(text))
    with pytest.raises(BookError, match="lead nowhere") as said:
        bound(clone)
    error = said.value
    assert error.where == found
    assert None not in (error.expected, error.found, error.do)


@pytest.mark.slow
def test_links_of_the_real_lessons_lead_somewhere(tmp_path: Path) -> None:
    """Without running them; links to lessons that are still to come are let pass."""
    source = ROOT / "notebooks" / "source"
    others = sorted((ROOT / "notebooks" / "explorers").glob("*.ipynb"))
    paths = [*sorted(source.glob("*/*.ipynb")), *others]
    to_come = {each.name for each in LESSONS if not (source / each.name).is_dir()}
    book = Book(ROOT, tmp_path / "book", {path: read(path) for path in paths})
    lost: list[str] = []
    try:
        book.write()
    except BookError as error:
        lost = str(error.where).splitlines()
    assert [link for link in lost if not any(f" {n}." in link for n in to_come)] == []


def test_widget_is_its_picture_with_its_sentence() -> None:
    widget = "application__vnd.jupyter.widget-view+json"
    moving = shown(**{widget: {}, "image__png": PIXEL, "text__plain": 'a "mean" of 2'})
    bar = shown(**{widget: {}, "text__plain": "HBox(children=(...))"})
    page = from_notebook(
        notebook(code("explore()", "a", moving), code("b()", "b", bar))
    )
    [picture] = page.select("img")
    assert picture["alt"] == 'a "mean" of 2'
    assert "HBox" not in page.get_text()
    assert "widget" not in str(page)


class Square:
    """Dark once its job is done."""

    figure: Figure

    def __init__(self) -> None:
        self.figure, _ = style.new_figure(style.EXPLORER_IN, 2.0)
        self.is_dark = False

    def show(self, size: float, **_: Any) -> str:
        return f"{size:g} <{'dark' if self.is_dark else 'not run yet'}>"


def moving(work: Any) -> Explorer:
    controls = {
        "size": slider("size (m)", 2.0, 0, 10),
        "ink": stops("ink", 1, {"one": 1, "two": 2}),
        "bold": toggle("bold", False),
    }
    job = Job("Paint", work)
    return Explorer("A square", Square(), controls, job=job)


def test_what_moves_is_still_in_the_book_with_its_work_done() -> None:
    def work(job: Job) -> str:
        picture.is_dark = True
        return "done"

    explorer = moving(work)
    picture: Any = explorer.picture
    explorer.controls["bold"].box.layout.display = "none"
    page = BeautifulSoup(still(explorer).data, "html.parser")
    [shown] = page.select("img")
    assert shown["alt"] == "2 <dark>"
    *said, note = page.stripped_strings
    assert said == ["A square", "2 <dark>"]
    assert note.endswith(
        "“Paint” was pressed. In JupyterLab you can move: size (m): 2 · ink: one"
    )


def test_player_keeps_its_program_and_its_values_in_the_book() -> None:
    @fl.federated_computation(fl.type_at_clients(np.float32))
    def average(readings: Any) -> Any:
        return fl.federated_mean(readings)

    words = still(viz.explore_run(average, [1.0, 2.0])).data
    for part in ("The program that runs", "bytes so far", "position:absolute", "axis"):
        assert part in words
    assert "grid-area:a" in words


def test_formula_that_cannot_be_drawn_is_shown_as_it_was_written() -> None:
    page = from_markdown("$\\begin{matrix} 1 \\end{matrix}$ and `$code$`")
    assert not page.select("img")
    assert [each.get_text() for each in page.select("code")] == [
        "\\begin{matrix} 1 \\end{matrix}",
        "$code$",
    ]


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.thorough
def test_lessons_are_run(clone: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = command.write(clone, clone / "build").parent
    text = soup(out / "01_hello.html").get_text()
    assert "0.5 <b>" in text
    assert "ZeroDivisionError" in text
    assert "In [" not in text
    assert "A still picture." in text
    assert "(False, True)" in text
    assert capfd.readouterr() == ("", "")


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.thorough
def test_lesson_that_does_not_run_is_named(
    clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put(clone, "02_next", code("1 + 1", "fine"), code("1 / 0", "broken"))
    monkeypatch.setattr(command, "ROOT", clone)
    assert command.main(["--out", str(clone / "build")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "found:    ZeroDivisionError: division by zero" in said.err
    assert "where:    02_next.ipynb, cell broken" in said.err
    assert not (clone / "build").exists()
