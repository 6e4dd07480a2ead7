# SPDX-License-Identifier: Apache-2.0
"""The built site in Chromium: lesson 01 from the start page to a hand-in."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import nbformat
import pytest

from tests.architecture.repository import ROOT
from tests.browser.servers import serve_by, serve_files
from tools.cells import answer_cells, code_cells, is_answer, read, what_it_says

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.thorough]

LESSON, OTHER = "01_hello/01_hello.ipynb", "00_why/00_why.ipynb"
SOURCE = ROOT / "notebooks" / "source" / LESSON

_PANEL = """[...(window.jupyterapp?.shell.widgets("main") ?? [])].find(
  panel => panel.context?.path === NAME)"""
_READY = "() => PANEL?.sessionContext.session?.kernel?.status === 'idle'"
_RUN = """async ([id, source]) => {
  const { content } = PANEL;
  content.activeCellIndex = content.widgets.findIndex(cell => cell.model.id === id);
  const { model } = content.activeCell;
  if (source !== null) model.sharedModel.setSource(source);
  await window.jupyterapp.commands.execute("notebook:run-cell");
  return model.toJSON();
}"""
_RUNNING = """async () => {
  const { sessions } = window.jupyterapp.serviceManager;
  await sessions.refreshRunning();
  return [...sessions.running()].map(session => session.path);
}"""


class Learner:
    """One notebook in one page of the site."""

    def __init__(self, context: Any, notebook: str, errors: list[str]) -> None:
        self.page = context.new_page()
        self._panel = f"({_PANEL.replace('NAME', repr(notebook))})"
        self.page.on("pageerror", lambda error: errors.append(str(error)))

    def do(self, script: str, *arguments: Any) -> Any:
        return self.page.evaluate(script.replace("PANEL", self._panel), list(arguments))

    def wait(self) -> None:
        """Waits until the notebook is there, and Python has started."""
        ready = _READY.replace("PANEL", self._panel)
        self.page.wait_for_function(ready, timeout=180_000, polling=200)

    def run(self, cell: str, source: str | None = None) -> str:
        """What a cell shows, after writing into it."""
        ran = self.do(_RUN, cell, source)
        return what_it_says(nbformat.from_dict(ran))  # type: ignore[no-untyped-call]

    def wait_until_saved(self) -> None:
        saved = f"() => !{self._panel}.context.model.dirty"
        self.page.wait_for_function(saved, timeout=60_000)

    def command(self, name: str) -> None:
        self.do("([name]) => void window.jupyterapp.commands.execute(name)", name)


@contextmanager
def walled(browser: Any, asked: list[str]) -> Iterator[Any]:
    """A context that reaches its own server only: a proxy hears of all else."""

    class Wall(BaseHTTPRequestHandler):
        def handle_one_request(self) -> None:
            asked.append(self.rfile.readline().decode("latin-1").strip())
            self.close_connection = True

    with serve_by(Wall) as port:
        proxy = {"server": f"http://127.0.0.1:{port}", "bypass": "127.0.0.1"}
        context = browser.new_context(proxy=proxy)
        yield context
        context.close()


@dataclass
class Visit:
    """Where pages are opened, and what was heard of them."""

    context: Any
    root: str = ""
    asked: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def opened(self, notebook: str) -> Learner:
        learner = Learner(self.context, notebook, self.errors)
        learner.page.goto(f"{self.root}/lab/index.html?path={notebook}")
        learner.wait()
        return learner


@pytest.fixture(scope="module")
def visit(site: Path, browser: Any) -> Iterator[Visit]:
    """Lesson 01 was done from the start page on, most of it with the server gone."""
    asked: list[str] = []
    with walled(browser, asked) as context:
        visit = Visit(context, asked=asked)
        learner = Learner(context, LESSON, visit.errors)
        with serve_files(site.parent) as root:
            visit.root = f"{root}/{site.name}"
            begin(learner, visit.root)
        walk(learner)
        slide(learner.page)
        learner.wait_until_saved()
        with serve_files(site.parent, int(root.rpartition(":")[2])):
            learner.page.close()
            yield visit


def begin(learner: Learner, root: str) -> None:
    """The start page, a click on the lesson, and a word while Python starts."""
    learner.page.goto(f"{root}/")
    link = learner.page.get_by_role("link", name="What can a server learn")
    link.click(timeout=60_000)
    wait = learner.page.get_by_text("Please wait: Python starts")
    wait.wait_for()
    learner.wait()
    wait.wait_for(state="hidden")
    learner.run("setup")


def walk(learner: Learner) -> None:
    """Every cell, with the right answers."""
    told = {}
    for cell in code_cells(read(SOURCE)):
        lines = [line for line in cell.source.splitlines() if "### " not in line]
        answer = "\n".join(lines) if is_answer(cell) else None
        told[cell.id] = learner.run(cell.id, answer)
    assert "104" in told["surprise"]
    checks = [said for name, said in told.items() if "check-" in name]
    assert ["Right." in said for said in checks] == [True] * 4


def slide(page: Any) -> None:
    """A slider moves, with nobody to ask but the page itself."""
    has = page.locator(".jp-InputArea", has_text="explore_mean")
    cell = page.locator(".jp-CodeCell", has=has)
    says = cell.get_by_text("the mean is").first
    before = says.inner_text()
    cell.get_by_role("slider").first.press("ArrowRight")
    moved = "([element, before]) => element.innerText !== before"
    page.wait_for_function(moved, arg=[says.element_handle(), before])


def test_work_and_progress_are_kept_and_handed_in(visit: Visit) -> None:
    again = visit.opened(LESSON)
    assert again.run("setup") == ""  # nothing red
    assert "4/4" in again.run("hello", "fl.course.progress()")
    with again.page.expect_download() as begun:
        again.command("docmanager:download")
    answers = answer_cells(read(begun.value.path()))
    assert "### " not in answers["type_of_mean"].source
    assert "float32@SERVER" in answers["type_of_mean"].source
    again.page.close()


def test_a_link_starts_its_own_lesson_and_no_earlier_one(visit: Visit) -> None:
    other = visit.opened(OTHER)
    assert other.do(_RUNNING) == [OTHER]
    other.wait_until_saved()
    other.command("application:close")  # a closed lesson gives its memory back
    other.page.wait_for_function(
        f"async () => !(await ({_RUNNING})()).length", timeout=20_000
    )
    other.page.set_viewport_size({"width": 600, "height": 900})
    other.page.reload()
    narrow = (
        "() => window.jupyterapp?.shell.currentWidget && jupyterapp.shell.leftCollapsed"
    )
    other.page.wait_for_function(narrow, timeout=60_000)


def test_site_is_small_and_carries_licences(site: Path) -> None:
    files = [file for file in site.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) < 60e6
    assert not [file for file in files if file.suffix == ".map"]
    assert (site / "build" / "third-party-licenses.json").is_file()
    for wheel in (file for file in files if file.suffix == ".whl"):
        assert any("LICEN" in name.upper() for name in ZipFile(wheel).namelist()), wheel


def test_nobody_else_was_asked(visit: Visit) -> None:
    assert (visit.asked, visit.errors) == ([], [])
    page = visit.context.new_page()
    page.goto("data:text/html,<p>hello")
    page.evaluate("fetch('http://elsewhere.invalid/').catch(() => 0)")
    assert visit.asked == [
        "GET http://elsewhere.invalid/ HTTP/1.1"
    ]  # it would be heard
