# SPDX-License-Identifier: Apache-2.0
"""A notebook in a real browser: run it, look at outputs, move what can be moved."""

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, final
from urllib.parse import urlparse

import nbformat
from playwright.sync_api import Browser, Locator, Page

from tests.browser.servers import Server, serve

HARMLESS = "reading 'schema'"  # Notebook 7 says this with any widget, or with none

_PANEL = """(() => {
  const app = window.jupyterapp;
  const panels = app ? [...app.shell.widgets("main")] : [];
  return panels.find(panel => panel.context?.path === NAME);
})()"""

_READY = """async () => {
  if (!window.jupyterapp) return false;
  await window.jupyterapp.restored;
  const panel = PANEL;
  if (!panel) return false;
  await panel.context.ready;
  await panel.sessionContext.ready;
  window.jupyterapp.shell.activateById(panel.id);
  return panel.sessionContext.session?.kernel?.status === "idle";
}"""

_ALL_RAN = """() => {
  const panel = PANEL;
  const cells = panel.content.widgets.filter(cell => cell.model.type === "code");
  return cells.every(cell => cell.model.executionCount !== null)
    && panel.sessionContext.session.kernel.status === "idle";
}"""

_IDLE = """() => {
  const cells = PANEL.content.widgets.filter(cell => cell.model.type === "code");
  return PANEL.sessionContext.session.kernel.status === "idle"
    && cells.every(cell => cell.model.sharedModel.executionState !== "running");
}"""

_RESTART = """async () => {
  await PANEL.sessionContext.session.kernel.restart();
  await window.jupyterapp.commands.execute("notebook:clear-all-cell-outputs");
  PANEL.content.activeCellIndex = PANEL.content.widgets.length - 1;
}"""

# From just before the key goes down to the frame in which the page has changed.
_WATCH = """([output, selector]) => {
  const look = () => {
    const found = output.querySelector(selector);
    return found ? (found.getAttribute("src") ?? found.innerHTML) : "";
  };
  const before = look(), start = performance.now();
  window.moved = new Promise(resolve => {
    const frame = () => {
      if (look() !== before) resolve(performance.now() - start);
      else if (performance.now() - start > 60000) resolve(null);
      else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
}"""

_STICKS_OUT = """(output) => {
  const edge = output.getBoundingClientRect().right + 1;
  const scrolls = each => each && each !== output
    && (getComputedStyle(each).overflowX !== "visible" || scrolls(each.parentElement));
  return [...output.querySelectorAll("img, input, select, button, p, td, code")]
    .filter(each => each.getBoundingClientRect().right > edge)
    .filter(each => !scrolls(each.parentElement))
    .map(each => each.outerHTML.slice(0, 120));
}"""


@final
class NotebookPage:
    """One notebook, open in one page.

    Attributes:
        page: Playwright's.
        app: `"lab"` or `"notebook"`.
        errors: what the page reported as errors that nobody caught.
        strangers: hosts other than the server's that the page asked for something.
    """

    def __init__(self, browser: Browser, server: Server, width: int = 1280) -> None:
        self.page: Page = browser.new_page(viewport={"width": width, "height": 900})
        self.errors: list[str] = []
        self.strangers: set[str] = set()
        self._server, self._panel, self.app = server, "", server.app
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self._note(request.url))

    def _note(self, url: str) -> None:
        address = urlparse(url)
        is_inside = address.scheme in ("data", "blob", "about", "attachment")
        if not is_inside and not url.startswith(
            (self._server.root, self._server.root.replace("http", "ws", 1))
        ):
            self.strangers.add(address.netloc)

    def open(self, notebook: str) -> None:
        """Opens a notebook, and waits until its kernel is there."""
        self._panel = _PANEL.replace("NAME", repr(notebook))
        self.page.goto(self._server.address(notebook))
        self._wait_for(_READY, 300)

    def run_all(self, timeout_s: float = 600, which: str = "run-all-cells") -> None:
        """Runs all cells, or `"run-all-above"`, and waits until every one has run."""
        self.command(f"notebook:{which}")
        self._wait_for(_ALL_RAN, timeout_s)

    def restart(self) -> None:
        """Restarts the kernel, forgets what cells showed, and goes to the last cell."""
        self.page.evaluate(_RESTART.replace("PANEL", self._panel))

    def active_cell(self) -> int:
        """The number of the cell the keyboard is on."""
        script = "() => PANEL.content.activeCellIndex".replace("PANEL", self._panel)
        found: int = self.page.evaluate(script)
        return found

    def wait_until_idle(self, timeout_s: float) -> None:
        """Waits until the kernel has run all it was asked to run."""
        self._wait_for(_IDLE, timeout_s)

    def _wait_for(self, condition: str, timeout_s: float) -> None:
        script = condition.replace("PANEL", self._panel)
        deadline = time.monotonic() + timeout_s
        while not self.page.evaluate(script):
            if time.monotonic() > deadline:
                raise TimeoutError(f"not after {timeout_s} s: {script}")
            self.page.wait_for_timeout(200)

    def command(self, name: str, **arguments: Any) -> None:
        """Has the application do something a menu could."""
        script = "([name, args]) => window.jupyterapp.commands.execute(name, args)"
        self.page.evaluate(script, [name, arguments])

    def use_theme(self, theme: str) -> None:
        """`"light"` or `"dark"`."""
        name = f"JupyterLab {theme.capitalize()}"
        self.command("apputils:change-theme", theme=name)
        wanted = "false" if theme == "dark" else "true"
        self.page.wait_for_selector(
            f'body[data-jp-theme-light="{wanted}"]', state="attached"
        )

    def resize(self, width: int) -> None:
        """Makes the window as wide as that, in pixels."""
        if self._server.app == "lab":
            closed = "() => window.jupyterapp.shell.collapseLeft()"
            self.page.evaluate(closed)
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.wait_for_timeout(300)

    def output_with(self, text: str) -> Locator:
        """The output of the cell in whose source that text is."""
        cell = self.page.locator(".jp-Notebook .jp-CodeCell").filter(
            has=self.page.locator(".jp-InputArea", has_text=text)
        )
        return cell.first.locator(".jp-OutputArea").first

    def failures(self) -> list[str]:
        """What cells that failed said."""
        found = self.page.locator('.jp-OutputArea-output[data-mime-type*="stderr"]')
        return [each.inner_text() for each in found.all()]

    def time_move(self, output: Locator, key: str, seen: str = "img") -> float | None:
        """Presses a key where the focus is; milliseconds until `seen` has changed.

        `None` if it has not after a minute.
        """
        self.page.evaluate(_WATCH, [output.element_handle(), seen])
        self.page.keyboard.press(key)
        moved: float | None = self.page.evaluate("() => window.moved")
        return moved

    def time_moves(
        self, output: Locator, handle: Locator, keys: tuple[str, str], seen: str
    ) -> list[float]:
        """Moves there and back a few times; what each but the first two took."""
        found = []
        for key in keys * 4:
            handle.focus()
            self.page.wait_for_timeout(250)
            took = self.time_move(output, key, seen)
            assert took is not None, f"{key} moved nothing"
            found.append(took)
        return found[2:]

    def wait_until(self, condition: Callable[[], bool], timeout_s: float = 60) -> None:
        """Looks again and again until it is so."""
        deadline = time.monotonic() + timeout_s
        while not condition():
            assert time.monotonic() < deadline, "nothing has changed"
            self.page.wait_for_timeout(50)

    def wait_for_change(
        self, look: Callable[[], str], before: str, timeout_s: float = 60
    ) -> None:
        """Looks again and again until it is something else."""
        self.wait_until(lambda: look() != before, timeout_s)

    def sticks_out(self, output: Locator) -> list[str]:
        """What is wider than the output that holds it, but for what can be scrolled."""
        found: list[str] = output.evaluate(_STICKS_OUT)
        return found

    def close(self) -> None:
        """Closes the page."""
        self.page.close()

    def save(self, output: Locator, file: Path) -> Path:
        """Takes a picture of an output."""
        file.parent.mkdir(parents=True, exist_ok=True)
        # Applications scroll by themselves: only what fits is in a picture.
        width = (self.page.viewport_size or {"width": 1280})["width"]
        self.page.set_viewport_size({"width": width, "height": 2400})
        output.scroll_into_view_if_needed()
        self.page.wait_for_timeout(150)
        output.screenshot(path=file)
        return file


@contextmanager
def opened_notebook(
    browser: Browser, app: str, home: Path, notebook: Path | Sequence[str]
) -> Iterator[NotebookPage]:
    """A copy of a notebook and what is beside it, or a new one of these cells, opened.

    What the server writes goes to `home`.
    """
    folder, name = home / "notebooks", "new.ipynb"
    if isinstance(notebook, Path):
        shutil.copytree(notebook.parent, folder)
        name = notebook.name
    else:
        folder.mkdir()
        _write(folder / name, notebook)
    with serve(app, folder, home) as server:
        page = NotebookPage(browser, server)
        page.open(name)
        yield page
        page.close()


def _write(file: Path, sources: Sequence[str]) -> None:
    new: Any = nbformat.v4
    # Without a name of a kernel, Lab asks for one.
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = list(map(new.new_code_cell, sources))
    notebook = new.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, file)  # type: ignore[no-untyped-call]
