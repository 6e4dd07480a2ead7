# SPDX-License-Identifier: Apache-2.0
"""The parts of `make docs`, without building it; tests/browser looks at all of it."""

import doctest
import inspect
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from bs4 import BeautifulSoup

from fedlearn_edu.viz import style
from fedlearn_edu.viz.colors import ALARM, CLIENTS, SERVER
from fedlearn_edu.viz.explorers.explorer import Explorer
from fedlearn_edu.viz.explorers.frames import Frames
from tests.architecture.repository import ROOT
from tools import publishing, slides
from tools.docs import docstrings, pages, reference
from tools.docs.execution import run_all
from tools.docs.still import still

new: Any = nbformat.v4


@pytest.mark.parametrize("tool", [docstrings, publishing, slides])
def test_examples_of_a_tool_hold(tool: Any) -> None:
    found = doctest.testmod(tool)
    assert found.attempted
    assert not found.failed


@pytest.mark.tensorflow
def test_reference_has_every_public_name_with_a_text_of_its_own() -> None:
    golden = (ROOT / "tests" / "golden" / "public_api.txt").read_text()
    groups = [kind for m in reference.MODULES for kind in reference.groups(m).values()]
    found = {entry.path: entry for entries in groups for entry in entries}
    for section in golden.split("\n\n"):
        face, *names = re.findall(r"[\w.]+", section)
        assert not {f"{face}.{name}" for name in names} - set(found)
    assert found["fedlearn_edu.types.TensorType"].home == "fedlearn_edu.TensorType"
    foreign = {inspect.getdoc(kind) for kind in (float, tuple, dict, type)}
    for path in (path for path in found if found[path].directive == "autodata"):
        told = reference.doc_of_data(path, reference.value_of(path))
        assert told not in {"", *foreign}, path


def page_of(*cells: tuple[str, list[Any], bool]) -> str:
    made = [new.new_markdown_cell("# Title\n")]
    for source, outputs, solution in cells:
        about = {"nbgrader": {"solution": solution}}
        made.append(new.new_code_cell(source, outputs=outputs, metadata=about))
    notebook = new.new_notebook(cells=made)
    return pages.from_notebook(notebook, "a/b/02_next", lambda png: f"{len(png)}.png")


def test_solutions_are_folded_and_hidden_tests_left_out() -> None:
    answer = "### BEGIN SOLUTION\nhalf = 1 / 2\n### END SOLUTION"
    hidden = "### BEGIN HIDDEN TESTS\nassert half == 0.5\n### END HIDDEN TESTS"
    page = page_of((answer, [], True), (f"assert half\n{hidden}", [], False))
    before, _, folded = page.partition("<summary>One way to do it</summary>")
    inside, _, after = folded.partition("</details>")
    assert "half" not in before
    assert "half = 1 / 2" in inside
    assert "assert half\n" in after
    assert not re.search("###|half == 0.5", page)


def test_what_cells_showed_is_on_the_page() -> None:
    widget: dict[str, Any] = {"application/vnd.jupyter.widget-view+json": {}}
    shown = [
        {"text/html": '<img src="data:image/png;base64,QUJD"><a href="a.ipynb">a</a>'},
        {**widget, "image/png": "QUJD", "text/plain": 'a "mean" of 2'},
        {**widget, "text/plain": "HBox(...)"},
    ]
    outputs = [new.new_output("display_data", each) for each in shown]
    outputs += [new.new_output("stream", text="<b>")]
    outputs += [new.new_output("error", traceback=["\x1b[31mNo\x1b[0m: <b>"])]
    page = page_of(("a", outputs, False))
    look = BeautifulSoup(page.partition('class="output">')[2], "html.parser")
    assert [each["src"] for each in look.select("img")] == ["3.png"] * 2
    assert look.select("img")[1]["alt"] == 'a "mean" of 2'
    assert [each["href"] for each in look.select("a")] == ["a.html"]
    assert [each.text for each in look.select("pre")] == ["<b>", "No: <b>"]


def test_the_site_has_the_colors_of_all_pictures() -> None:
    css = (ROOT / "tools/docs/static/site.css").read_text(encoding="utf-8")
    named = dict(re.findall(r"--(client|server|alarm): (#\w+)", css))
    ours = {"client": CLIENTS, "server": SERVER, "alarm": ALARM}
    assert named == {name: color.lower() for name, color in ours.items()}


def test_what_moves_is_still_in_the_book_with_its_work_done() -> None:
    figure, _ = style.new_figure(style.EXPLORER_IN, 2.0)

    def show() -> Frames:
        yield figure, "<bright>"
        yield figure, "<dark>"

    square: Any = SimpleNamespace(show=show)
    page = BeautifulSoup(still(Explorer("A square", square, {})).data, "html.parser")
    assert [picture["alt"] for picture in page.select(".fl-light img")] == ["<dark>"]
    assert "<dark>" in page.stripped_strings


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.thorough
def test_lesson_is_run_again_when_it_changes(tmp_path: Path) -> None:
    path, kept = tmp_path / "02_next.ipynb", tmp_path / "kept"

    def put(source: str) -> None:
        cells = [new.new_code_cell(source)]
        nbformat.write(new.new_notebook(cells=cells), path)  # type: ignore[no-untyped-call]

    put("from fedlearn_edu import viz\nviz.explore_inversion()")
    first = run_all([path], kept)
    assert "A still picture" in str(first[path].cells[0].outputs)
    ran = (kept / path.name).stat()
    assert run_all([path], kept) == first
    assert (kept / path.name).stat().st_mtime_ns == ran.st_mtime_ns  # not written again
    put("1 + 1")
    assert run_all([path], kept) != first
