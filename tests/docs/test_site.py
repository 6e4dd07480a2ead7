# SPDX-License-Identifier: Apache-2.0
"""The parts of `make docs`, without building it; tests/browser looks at all of it."""

import doctest
import inspect
import re
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from bs4 import BeautifulSoup

import fedlearn_edu as fl
from fedlearn_edu import viz
from fedlearn_edu.viz import style
from fedlearn_edu.viz.colors import ALARM, CLIENTS, SERVER
from fedlearn_edu.viz.explorers.background import Job, Work
from fedlearn_edu.viz.explorers.controls import slider
from fedlearn_edu.viz.explorers.explorer import Explorer
from tests.architecture.repository import ROOT
from tools.docs import docstrings, pages, reference
from tools.docs.execution import DocsError, run_all
from tools.docs.still import still

new: Any = nbformat.v4
STATIC = ROOT / "tools" / "docs" / "static"


def test_examples_of_the_tool_hold() -> None:
    assert doctest.testmod(docstrings) == (0, 3)


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ("[a](privacy.md#who-takes-part)", "[a](privacy.md#who-takes-part)"),
        ("[a](decisions)", "[a](decisions/README.md)"),
        ("[a](../notebooks/source/a/a.ipynb)", "[a](../notebooks/release/a/a.ipynb)"),
        ("[a](a.ipynb#What-is-it?)", "[a](a.ipynb#what-is-it)"),
        ("[a](#What-is-it?)", "[a](#what-is-it)"),
        ("[a](https://example.org/a.ipynb#B)", "[a](https://example.org/a.ipynb#B)"),
        ("`f[0](decisions)`", "`f[0](decisions)`"),
        ("```\n[a](decisions)\n```", "```\n[a](decisions)\n```"),
        (
            "[a](../fedlearn_edu/viz)",
            "[a](../_modules/fedlearn_edu/viz.html){.external}",
        ),
    ],
)
def test_links_of_a_page_are_written_for_sphinx(there: str, here: str) -> None:
    assert pages.markdown(ROOT, "docs/analytics", there, save) == here


# ------------------------------------------------------------------ the reference


@pytest.mark.tensorflow
def test_reference_has_every_public_name_with_a_text_of_its_own() -> None:
    golden = (ROOT / "tests" / "golden" / "public_api.txt").read_text()
    found: dict[str, reference.Entry] = {}
    for module in reference.MODULES:
        for entries in reference.groups(module).values():
            found |= {entry.path: entry for entry in entries}
    for section in golden.split("\n\n"):
        face, *names = re.findall(r"[\w.]+", section)
        assert not {f"{face}.{name}" for name in names} - set(found)
    same = found["fedlearn_edu.types.TensorType"]
    assert (same.home, same.directive) == ("fedlearn_edu.TensorType", "autoclass")
    for path, entry in found.items():
        value = reference.value_of(path)
        if entry.directive == "autodata":
            told = reference.doc_of_data(path, value)
            foreign = {inspect.getdoc(kind) for kind in (float, tuple, dict, type)}
            assert told, path
            assert told not in foreign, path
    by_kind = reference.groups("fedlearn_edu")
    assert list(by_kind)[:2] == ["Types", "Intrinsics"]
    assert "fedlearn_edu.federated_mean" in {e.path for e in by_kind["Intrinsics"]}


# ------------------------------------------------------------------ lessons


def save(png: bytes) -> str:
    return f"pictures/{len(png)}.png"


def code(source: str, *outputs: Any, **metadata: Any) -> Any:
    cell = new.new_code_cell(source, metadata=metadata)
    cell.outputs = list(outputs)
    return cell


def page_of(*cells: Any) -> str:
    notebook = new.new_notebook(cells=[new.new_markdown_cell("# Title\n"), *cells])
    return pages.from_notebook(notebook, "a/b/02_next", save)


def test_solutions_are_folded_and_hidden_tests_left_out() -> None:
    answer = "### BEGIN SOLUTION\nhalf = 1 / 2\n### END SOLUTION"
    tests = "assert half\n### BEGIN HIDDEN TESTS\nassert half == 0.5\n"
    page = page_of(
        code(answer, nbgrader={"solution": True}),
        code(f"{tests}### END HIDDEN TESTS", nbgrader={"solution": False}),
    )
    before, _, folded = page.partition("<summary>One way to do it</summary>")
    inside, _, after = folded.partition("</details>")
    assert "half" not in before
    assert "half = 1 / 2" in inside
    assert "assert half" in after
    assert "half == 0.5" not in page
    assert "###" not in page
    assert "built without running" in page


def test_what_cells_showed_is_on_the_page() -> None:
    moving = {"application/vnd.jupyter.widget-view+json": {}, "image/png": "QUJD"}
    shown: list[dict[str, Any]] = [
        {"text/html": '<img src="data:image/png;base64,QUJD"><a href="a.ipynb">a</a>'},
        {**moving, "text/plain": 'a "mean" of 2'},
        {"application/vnd.jupyter.widget-view+json": {}, "text/plain": "HBox(...)"},
    ]
    page = page_of(
        code("a", *(new.new_output("display_data", each) for each in shown)),
        code("b", new.new_output("stream", text="<b>")),
        code("c", new.new_output("error", traceback=["\x1b[31mNo\x1b[0m: <b>"])),
    )
    assert "# 02 · Title\n" in page
    assert page.count('src="pictures/3.png"') == 2
    assert 'alt="a &quot;mean&quot; of 2"' in page
    assert 'href="a.html"' in page
    assert "HBox" not in page
    assert '<pre class="printed" tabindex="0">&lt;b&gt;</pre>' in page
    assert '<pre class="failed" tabindex="0">No: &lt;b&gt;</pre>' in page
    assert "after it was run" in page


def test_the_site_has_the_colors_of_all_pictures() -> None:
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

    def __init__(self) -> None:
        self.figure, _ = style.new_figure(style.EXPLORER_IN, 2.0)
        self.is_dark = False

    def show(self, size: float) -> str:
        return f"{size:g} <{'dark' if self.is_dark else 'not run yet'}>"


def test_what_moves_is_still_in_the_book_with_its_work_done() -> None:
    def work() -> Work:
        square.is_dark = True
        yield 1, 1, "dark"
        return "done"

    square, controls = Square(), {"size": slider("size (m)", 2.0, 0, 10)}
    job: Any = Job("Paint", work)
    shown = still(Explorer("A square", square, controls, job=job)).data
    page = BeautifulSoup(shown, "html.parser")
    assert [picture["alt"] for picture in page.select("img")] == ["2 <dark>"]
    assert list(page.stripped_strings)[:2] == ["A square", "2 <dark>"]


def test_mean_and_aggregation_say_how_they_begin_on_the_page() -> None:
    figure = BeautifulSoup(still(viz.explore_aggregation([1, 2])).data, "html.parser")
    assert figure.figure is not None
    assert figure.figure["data-explorer"] == "aggregation"
    assert '"fan_out": 3' in str(figure.figure["data-start"])
    assert '"values": [1, 2]' in str(figure.figure["data-start"])
    assert 'data-explorer="mean"' in still(viz.explore_mean([1.0])).data


def test_player_keeps_its_program_and_its_values_in_the_book() -> None:
    @fl.federated_computation(fl.type_at_clients(np.float32))
    def average(readings: Any) -> Any:
        return fl.federated_mean(readings)

    words = still(viz.explore_run(average, [1.0, 2.0])).data
    for part in ("The program that runs", "bytes so far", "position:absolute"):
        assert part in words


# ------------------------------------------------------------------ running


@pytest.mark.notebook
@pytest.mark.slow
@pytest.mark.thorough
def test_lesson_is_run_again_when_it_changes_and_named_when_it_fails(
    tmp_path: Path,
) -> None:
    path, kept = tmp_path / "02_next.ipynb", tmp_path / "kept"
    run = partial(run_all, [path], kept)

    def put(*sources: str) -> None:
        cells = [new.new_code_cell(each, id=f"c{each[0]}") for each in sources]
        nbformat.write(new.new_notebook(cells=cells), path)  # type: ignore[no-untyped-call]

    put("from fedlearn_edu import viz\nviz.explore_mean([2.0])")
    first = run()
    assert "A still picture" in str(first[path].cells[0].outputs)
    ran = (kept / path.name).stat()
    assert run() == first
    assert (kept / path.name).stat().st_mtime_ns == ran.st_mtime_ns  # not written again
    put("1 + 1", "2 / 0")
    with pytest.raises(DocsError, match="does not run") as said:
        run()
    assert said.value.found == "ZeroDivisionError: division by zero"
    assert said.value.where == "02_next.ipynb, cell c2"
