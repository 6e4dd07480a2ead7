# SPDX-License-Identifier: Apache-2.0
"""`python -m examples.gallery` draws the pictures that `docs/pictures.md` shows."""

import inspect
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from matplotlib.figure import Figure

from examples.gallery import pictures
from fedlearn_edu import viz
from fedlearn_edu.viz.style import said

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"

Draw = Callable[[], Figure | str]
_PAGE = (
    "<!DOCTYPE html><meta charset=utf-8><body style='margin:0;padding:12px;width:860px;"
    "background:white;color:#1a1a1a;font:15px DejaVu Sans;box-sizing:border-box'>"
)


def drawers() -> dict[str, Draw]:
    """The functions that draw, by the name of the picture's file."""
    return {
        f"gallery_{name}.png": function
        for name, function in vars(pictures).items()
        if inspect.isfunction(function) and not name.startswith("_")
        if function.__module__ == pictures.__name__
    }


def shown(draw: Draw) -> str:
    """The sentence of a picture, and the line that draws it."""
    *_, last = inspect.getsource(draw).strip().splitlines()
    return f"{inspect.getdoc(draw)} `{last.strip().removeprefix('return ')}`"


def photograph(html: str, file: Path) -> None:
    """Takes a picture of a table."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = shutil.which("chromium")
        options = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=chromium, args=options)
        page = browser.new_page(device_scale_factor=2)
        page.set_content(_PAGE + html)
        page.locator("body").screenshot(path=file)
        browser.close()


def main() -> None:
    """Draws, and keeps with each figure what it shows in words."""
    for file, draw in drawers().items():
        if isinstance(drawn := draw(), str):
            photograph(drawn, IMAGES / file)
        else:
            viz.save_png(drawn, IMAGES / file, said(drawn))
        sys.stdout.write(f"drew {file}\n")


if __name__ == "__main__":
    main()
