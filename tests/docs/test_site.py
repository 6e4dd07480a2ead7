# SPDX-License-Identifier: Apache-2.0
"""The parts of `make docs`, without building it; tests/browser looks at all of it."""

import doctest
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import numpy as np
import pytest
from bs4 import BeautifulSoup
from matplotlib.figure import Figure

import fedlearn_edu as fl
from fedlearn_edu import viz
from fedlearn_edu.viz import style
from fedlearn_edu.viz.colors import ALARM, CLIENTS, SERVER
from fedlearn_edu.viz.explorers.background import Job, Work
from fedlearn_edu.viz.explorers.controls import slider, stops, toggle
from fedlearn_edu.viz.explorers.explorer import Explorer
from tests.architecture.repository import ROOT
from tools.docs import docstrings, execution, links, reference
from tools.docs.assembly import Assembly
from tools.docs.execution import DocsError, run_all
from tools.docs.lessons import Pictures, from_notebook
from tools.docs.still import still

new: Any = nbformat.v4
GOLDEN = ROOT / "tests" / "golden" / "public_api.txt"
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAA"
    "AABJRU5ErkJggg=="
)
STATIC = ROOT / "tools" / "docs" / "static"
WIDGET = "application__vnd.jupyter.widget-view+json"


@pytest.mark.parametrize("module", [links, docstrings])
def test_examples_of_the_tool_hold(module: ModuleType) -> None:
    failed, tried = doctest.testmod(module)
    assert tried
    assert not failed


# ------------------------------------------------------------------ links


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ("[a](privacy.md)", "[a](privacy.md)"),
        ("[a](privacy.md#who-takes-part)", "[a](privacy.md#who-takes-part)"),
        ("[a](decisions/README.md)", "[a](../decisions/index.md)"),
        ("[a](decisions)", "[a](../decisions/index.md)"),
        ("[a](../README.md#install)", "[a](../index.md#install)"),
        (
            "[`x.py`](../fedlearn_edu/viz/html.py)",
            "[`x.py`](../source/fedlearn_edu/viz/html.py.html){.external}",
        ),
        (
            "[a](../notebooks/release/01_hello/01_hello.ipynb#What-is-it?)",
            "[a](../lessons/01_hello.md#what-is-it)",
        ),
        (
            "[a](\n../notebooks/source/01_hello/01_hello.ipynb)",
            "[a](../lessons/01_hello.md)",
        ),
        ("[a](#What-is-it?)", "[a](#what-is-it)"),
        ("![dots](images/demo.png)", "![dots](../docs/images/demo.png)"),
        ("[a](https://example.org/a.md)", "[a](https://example.org/a.md)"),
        ("`f[0](x.md)`", "`f[0](x.md)`"),
        ("```\n[a](x.md)\n```", "```\n[a](x.md)\n```"),
    ],
)
def test_links_of_a_page_are_written_for_the_site(there: str, here: str) -> None:
    text, _ = links.rewrite(there, Path("docs/analytics.md"), ROOT)
    assert text == here


def test_files_that_a_page_leads_to_are_found() -> None:
    text = "[a](privacy.md#x) ![b](images/demo.png) [c](https://example.org) [d](#e)"
    _, found = links.rewrite(text, Path("docs/analytics.md"), ROOT)
    assert found == {Path("docs/privacy.md"), Path("docs/images/demo.png")}


@pytest.mark.parametrize("link", ["gone.md", "../gone.py", "gone.ipynb", "gone.png"])
def test_link_to_nothing_is_named(link: str, tmp_path: Path) -> None:
    for name in ["CHANGELOG", "CONTRIBUTING", "examples/README"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.md").write_text("# Page")
    (tmp_path / "README.md").write_text(f"# T\n\nClaim\n\n[a](docs/{link})")
    assembly = Assembly(tmp_path, tmp_path / "out", {}, tmp_path / "lite")
    with pytest.raises(DocsError, match="lead nowhere") as said:
        assembly.write()
    assert str(said.value.where).startswith("README.md: ")
    assert Path(link).name in str(said.value.where)


def site_of(folder: Path, **pages: str) -> Path:
    for name, html in pages.items():
        (folder / name.replace("_", ".")).write_text(html)
    return folder


def test_links_of_the_site_are_followed(tmp_path: Path) -> None:
    a = (
        '<a href="b.html#there">1</a><a href="b.html#lost">2</a><a href="c.html">3</a>'
        '<img src="p.png"><a href="https://example.org">4</a>'
        '<a href="#me" id="me">5</a>'
        "<script>'<a href=\"never.html\">'</script>"
    )
    site = site_of(tmp_path, a_html=a, b_html='<a name="there"></a>')
    lost = ["a.html: b.html#lost", "a.html: c.html", "a.html: p.png"]
    assert list(links.broken(site)) == lost


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a_html", '<script src="https://example.org/a.js"></script>'),
        ("a_html", '<link rel="stylesheet" href="//example.org/a.css">'),
        ("a_html", '<script>fetch("https://example.org")</script>'),
        ("a_css", "@import 'https://example.org/a.css'"),
        ("a_css", "b { background: url(https://example.org/a.png) }"),
        ("a_js", 'import("https://example.org/a.js")'),
    ],
)
def test_what_asks_another_host_is_found(name: str, text: str, tmp_path: Path) -> None:
    own = '<a href="https://example.org">a paper</a><img src="b.png">'
    assert not list(links.fetched(site_of(tmp_path, b_html=own)))
    assert list(links.fetched(site_of(tmp_path, **{name: text})))


# ------------------------------------------------------------------ the reference


@pytest.mark.tensorflow
def test_reference_describes_every_public_name() -> None:
    described = set()
    for face, page in reference.pages().items():
        found = re.findall(r"^\.\. (?:py:|auto)\w+:: (\S+)$", page, re.M)
        described |= {name if "." in name else f"{face}.{name}" for name in found}
        described.add(face)
    agreed = [
        f"{face}.{name}"
        for section in GOLDEN.read_text().split("\n\n")
        for face, *names in [section.strip().replace("[", "").replace("]", "").split()]
        for name in names
    ]
    assert len(agreed) > 250
    assert sorted(set(agreed) - described) == []


@pytest.mark.tensorflow
def test_name_of_two_modules_is_described_once() -> None:
    pages = reference.pages()
    assert ".. autoclass:: fedlearn_edu.TensorType\n" in pages["fedlearn_edu"]
    assert (
        "The same as :py:obj:`fedlearn_edu.TensorType`." in pages["fedlearn_edu.types"]
    )
    assert "combines other computations" in pages["fedlearn_edu"]  # a callable object
    assert "Widths in inches" in pages["fedlearn_edu.viz"]  # a number


# ------------------------------------------------------------------ lessons


def code(source: str, id_: str, *outputs: Any, **metadata: Any) -> Any:
    cell = new.new_code_cell(source, id=id_, metadata=metadata)
    cell.outputs = list(outputs)
    return cell


def shown(**data: Any) -> Any:
    kinds = {name.replace("__", "/"): value for name, value in data.items()}
    return new.new_output("display_data", kinds)


def page_of(folder: Path, *cells: Any) -> str:
    return from_notebook(new.new_notebook(cells=list(cells)), Pictures(folder))


def test_solutions_are_folded_and_hidden_tests_left_out(tmp_path: Path) -> None:
    answer = "### BEGIN SOLUTION\nhalf = 1 / 2\n### END SOLUTION"
    tests = "assert half\n### BEGIN HIDDEN TESTS\nassert half == 0.5\n"
    page = page_of(
        tmp_path,
        code(answer, "answer", nbgrader={"solution": True}),
        code(f"{tests}### END HIDDEN TESTS", "check", nbgrader={"solution": False}),
    )
    before, _, folded = page.partition("<summary>One way to do it</summary>")
    assert "half" not in before
    inside, _, after = folded.partition("</details>")
    assert "half = 1 / 2" in inside
    assert "assert half" in after
    assert "half == 0.5" not in page
    assert "###" not in page


def test_pictures_of_a_lesson_are_files(tmp_path: Path) -> None:
    inline = f'<img src="data:image/png;base64,{PIXEL}" alt="one">'
    moving = shown(**{WIDGET: {}, "image__png": PIXEL, "text__plain": 'a "mean" of 2'})
    bar = shown(**{WIDGET: {}, "text__plain": "HBox(children=(...))"})
    page = page_of(tmp_path, code("a", "a", shown(text__html=inline), moving, bar))
    [file] = tmp_path.glob("pictures/*.png")
    assert page.count(f'src="pictures/{file.name}"') == 2
    assert 'alt="a &quot;mean&quot; of 2"' in page
    assert "base64" not in page
    assert "HBox" not in page


def test_printed_text_and_errors_are_shown_without_colours(tmp_path: Path) -> None:
    error = new.new_output("error", traceback=["\x1b[31mNo\x1b[0m: <b>"])
    page = page_of(
        tmp_path, code("a", "a", new.new_output("stream", text="<b>"), error)
    )
    assert '<pre class="printed" tabindex="0">&lt;b&gt;</pre>' in page
    assert '<pre class="failed" tabindex="0">No: &lt;b&gt;</pre>' in page


def test_front_page_has_the_colors_of_all_pictures() -> None:
    css = (STATIC / "site.css").read_text(encoding="utf-8")
    named = dict(re.findall(r"--(client|server|alarm): (#\w+)", css))
    ours = {"client": CLIENTS, "server": SERVER, "alarm": ALARM}
    assert named == {name: color.lower() for name, color in ours.items()}
    for kind in ("client", "server"):
        assert re.search(rf"\.{kind} {{[^}}]*fill: var\(--{kind}\)", css)
    icon = (STATIC / "favicon.svg").read_text(encoding="utf-8")
    assert icon.count(CLIENTS.lower()) == 2  # what clients hold, and send
    assert re.findall(r'<path [^>]*fill="(#\w+)"', icon) == [SERVER.lower()]


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
    def work() -> Work:
        picture.is_dark = True
        yield 1, 1, "dark"
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


# ------------------------------------------------------------------ running


def put(root: Path, *cells: Any) -> Path:
    file = root / "02_next.ipynb"
    nbformat.write(new.new_notebook(cells=list(cells)), file)  # type: ignore[no-untyped-call]
    return file


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.thorough
def test_lesson_is_run_once_and_again_when_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moving = "from fedlearn_edu import viz\nviz.explore_mean([2.0])"
    path, kept = put(tmp_path, code(moving, "moves")), tmp_path / "kept"
    [first] = run_all([path], kept).values()
    assert "A still picture." in page_of(tmp_path, *first.cells)
    [file] = kept.iterdir()
    monkeypatch.setattr(execution, "execute", None)  # nothing is run any more
    assert run_all([path], kept) == {path: first}
    monkeypatch.undo()
    put(tmp_path, code("6 * 7", "other"))
    [second] = run_all([path], kept).values()
    assert "42" in page_of(tmp_path, *second.cells)
    assert list(kept.iterdir()) != [file]
    assert len(list(kept.iterdir())) == 1


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.thorough
def test_lesson_that_does_not_run_is_named(tmp_path: Path) -> None:
    path = put(tmp_path, code("1 + 1", "fine"), code("1 / 0", "broken"))
    with pytest.raises(DocsError, match="does not run") as said:
        run_all([path], tmp_path / "kept")
    assert said.value.found == "ZeroDivisionError: division by zero"
    assert said.value.where == "02_next.ipynb, cell broken"
    assert not (tmp_path / "kept").exists()
