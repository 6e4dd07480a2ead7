# SPDX-License-Identifier: Apache-2.0
"""The built site in Chromium: lesson 01 from the start page to a graded hand-in."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import (
    BaseHTTPRequestHandler,
    SimpleHTTPRequestHandler,
    ThreadingHTTPServer,
)
from pathlib import Path
from threading import Thread
from typing import Any

import nbformat
import pytest

from tests.browser.conftest import PICTURES, ROOT
from tests.grading.course import Course
from tools.cells import code_cells, is_answer, read, what_it_says

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.thorough]

LESSON, OTHER = "01_hello/01_hello.ipynb", "00_why/00_why.ipynb"
SOURCE = ROOT / "notebooks" / "source" / LESSON
WRONG = 'type_of_mean = fl.parse_type("float32@CLIENTS")'
WAIT = "Please wait: Python starts"

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
        self.page, self._panel = (
            context.new_page(),
            _PANEL.replace("NAME", f"'{notebook}'"),
        )
        self.page.on("pageerror", lambda error: errors.append(str(error)))

    def do(self, script: str, *arguments: Any) -> Any:
        return self.page.evaluate(
            script.replace("PANEL", f"({self._panel})"), list(arguments)
        )

    def wait(self) -> None:
        """Waits until the notebook is there, and Python has started."""
        ready = _READY.replace("PANEL", f"({self._panel})")
        self.page.wait_for_function(ready, timeout=180_000, polling=200)

    def run(self, cell: str, source: str | None = None) -> str:
        """What a cell shows, after writing into it."""
        ran = self.do(_RUN, cell, source)
        return what_it_says(nbformat.from_dict(ran))  # type: ignore[no-untyped-call]

    def wait_until_saved(self) -> None:
        saved = f"() => !({self._panel}).context.model.dirty"
        self.page.wait_for_function(saved, timeout=60_000)

    def command(self, name: str, **arguments: Any) -> None:
        self.do(
            "([name, args]) => void window.jupyterapp.commands.execute(name, args)",
            name,
            arguments,
        )

    def picture(self, width: int, theme: str) -> None:
        self.page.set_viewport_size({"width": width, "height": 900})
        self.command("apputils:change-theme", theme=f"JupyterLab {theme}")
        self.page.wait_for_timeout(500)
        self.page.screenshot(path=PICTURES / f"lite_{theme}_{width}.png")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None: ...


@contextmanager
def serving(handler: Any, port: int = 0) -> Iterator[int]:
    """A server on loopback, and its port."""
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@contextmanager
def walled(browser: Any, asked: list[str]) -> Iterator[Any]:
    """A context that reaches its own server only: a proxy hears of all else."""

    class Wall(BaseHTTPRequestHandler):
        def handle_one_request(self) -> None:
            asked.append(self.rfile.readline().decode("latin-1").strip())
            self.close_connection = True

    with serving(Wall) as port:
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

    def test_work_and_progress_are_kept_and_graded(visit: Visit, tmp_path: Path) -> None:
    again = visit.opened(LESSON)
    assert again.run("setup") == ""  # nothing red
    assert "4/4" in again.run("hello", "fl.course.progress()")
    course = Course.release(SOURCE.parent, tmp_path)
    submitted = course.submitted("ada")
    submitted.parent.mkdir(parents=True)
    with again.page.expect_download() as begun:
        again.command("docmanager:download")
    begun.value.save_as(submitted)
    assert sum(course.grade("ada").points.values()) == 40
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


def test_site_is_small_and_says_whose_parts_it_has(site: Path) -> None:
    files = [file for file in site.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) < 60e6
    assert not [file for file in files if file.suffix == ".map"]
    assert "matplotlib 3" in (site / "THIRD_PARTY.txt").read_text(encoding="utf-8")


def test_nobody_else_was_asked(visit: Visit, browser: Any) -> None:
    assert (visit.asked, visit.errors) == ([], [])
    heard: list[str] = []
    with walled(browser, heard) as context:
        page = context.new_page()
        page.goto("data:text/html,<p>hello")
        page.evaluate("fetch('http://elsewhere.invalid/').catch(() => 0)")
    assert heard == ["GET http://elsewhere.invalid/ HTTP/1.1"]
