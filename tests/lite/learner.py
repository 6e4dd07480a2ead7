# SPDX-License-Identifier: Apache-2.0
"""Somebody who does a lesson in the page: opens it, runs cells, writes answers."""

import time
from pathlib import Path
from typing import Any, final

import nbformat

START_S, CELL_S = 180, 120

_PANEL = """[...window.jupyterapp.shell.widgets("main")].find(
  panel => panel.context?.path === NAME)"""

_READY = """async () => {
  if (!window.jupyterapp) return false;
  await window.jupyterapp.restored;
  const panel = PANEL;
  if (!panel) return false;
  await panel.context.ready;
  await panel.sessionContext.ready;
  return panel.sessionContext.session?.kernel?.status === "idle";
}"""

_RUN = """async ([id, source]) => {
  const { content } = PANEL;
  const index = content.widgets.findIndex(cell => cell.model.id === id);
  content.activeCellIndex = index;
  const cell = content.widgets[index];
  if (source !== null) cell.model.sharedModel.setSource(source);
  const late = new Promise((_, give_up) =>
    setTimeout(() => give_up(new Error(`${id} still runs`)), CELL_MS));
  const run = window.jupyterapp.commands.execute("notebook:run-cell");
  await Promise.race([run, late]);
  return cell.model.toJSON();
}"""


@final
class Learner:
    """One notebook in one page of the site.

    Attributes:
        page: Playwright's.
        errors: what the page reported as errors that nobody caught.
    """

    def __init__(self, page: Any, notebook: str) -> None:
        self.page = page
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.set_default_timeout(60_000)
        self._panel = _PANEL.replace("NAME", repr(notebook))

    def wait_for_kernel(self) -> None:
        """Waits until the notebook is there, and Python has started."""
        script = _READY.replace("PANEL", self._panel)
        deadline = time.monotonic() + START_S
        while not self.page.evaluate(script):
            assert time.monotonic() < deadline, "Python has not started"
            self.page.wait_for_timeout(200)

    def run(self, cell: str, source: str | None = None) -> Any:
        """Runs a cell, after writing into it; the cell with what it shows."""
        script = _RUN.replace("PANEL", self._panel)
        script = script.replace("CELL_MS", str(CELL_S * 1000))
        return nbformat.from_dict(self.page.evaluate(script, [cell, source]))  # type: ignore[no-untyped-call]

    def running(self) -> list[str]:
        """The notebooks with a Python in this page."""
        script = """async () => {
          const { sessions } = window.jupyterapp.serviceManager;
          await sessions.refreshRunning();
          return [...sessions.running()].map(session => session.path);
        }"""
        found: list[str] = self.page.evaluate(script)
        return found

    def source(self, cell: str) -> str:
        """What is written in a cell."""
        script = f"id => ({self._panel}).content.model.sharedModel.cells"
        script += ".find(cell => cell.id === id).getSource()"
        found: str = self.page.evaluate(script, cell)
        return found

    def wait_until_saved(self) -> None:
        """Waits until what is on the page is kept, without a word of the learner."""
        self.page.wait_for_function(f"() => !({self._panel}).context.model.dirty")

    def command(self, name: str, **arguments: Any) -> None:
        """Has the application do something a menu could; does not wait for it."""
        script = "([name, args]) => void window.jupyterapp.commands.execute(name, args)"
        self.page.evaluate(script, [name, arguments])

    def output(self, text: str) -> Any:
        """The output of the cell in whose source that text is."""
        cell = self.page.locator(".jp-Notebook .jp-CodeCell").filter(
            has=self.page.locator(".jp-InputArea", has_text=text)
        )
        return cell.first.locator(".jp-OutputArea").first

    def picture(self, file: Path, width: int, theme: str) -> None:
        """Leaves a picture of the page for somebody to look at."""
        self.command("apputils:change-theme", theme=f"JupyterLab {theme}")
        light = "false" if theme == "Dark" else "true"
        body = f'body[data-jp-theme-light="{light}"]'
        self.page.wait_for_selector(body, state="attached")
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.wait_for_timeout(500)
        file.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=file)
