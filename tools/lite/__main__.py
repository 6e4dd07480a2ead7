# SPDX-License-Identifier: Apache-2.0
"""`make lite`: the lessons as a site in which they run, in a browser with nothing else.

Pyodide and wheels (kernel) → notebooks (contents) → JupyterLite → build/lite

`jupyter-lite.json` says what is there before the first cell runs (without jedi the
kernel never starts), and that progress is kept on the drive, which is the browser's
storage: all the rest is gone after a restart. With `overrides.json`, work is saved
after 5 s, as a tab is closed in passing; and a closed lesson gives back its memory.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from tools.lite import contents
from tools.lite.kernel import KERNEL_EXTENSION, LABEXTENSIONS, kernel
from tools.lite.pyodide import HERE
from tools.release import ROOT

KEPT = ROOT / "build" / "lite-parts"
_WIDGETS = LABEXTENSIONS / "@jupyter-widgets" / "jupyterlab-manager"
_APPS = ("lab", "notebooks", "tree")
_SETTINGS = ("jupyter-lite.json", "overrides.json")


def write(out: Path) -> None:
    """Collects all parts, and writes the site to `out`, which is emptied.

    Raises:
        LiteError: if a file of Pyodide is missing, or is another one.
        CalledProcessError: if pip or JupyterLite fails.
    """
    loaded, notebooks, folder = kernel(KEPT), contents.write(KEPT), KEPT / "jupyterlite"
    for each in (folder, out):
        shutil.rmtree(each, ignore_errors=True)
    shutil.copytree(loaded, folder / "static" / "pyodide")
    for name in _SETTINGS:
        shutil.copy(HERE / name, folder)
    chosen = ["--no-sourcemaps", "--no-unused-shared-packages", "--ignore-sys-prefix"]
    for app in _APPS:
        chosen += ["--apps", app]
    for extension in (KERNEL_EXTENSION, _WIDGETS):
        chosen += ["--LiteBuildConfig.federated_extensions", str(extension)]
    chosen += ["--contents", str(notebooks), "--output-dir", str(out)]
    build = [sys.executable, "-m", "jupyterlite_core", "build", *chosen]
    subprocess.run(build, cwd=folder, check=True)
    # (pages below read their configuration here, too)
    shutil.copy(HERE / "start.html", out / "index.html")
    shutil.copy(HERE / "THIRD_PARTY.txt", out)
    _add_scripts(out)


def _add_scripts(out: Path) -> None:
    """Has the page say that it waits, and open only what is asked for (page.js).

    It loads at once what draws a slider, which it would load with the first one: so an
    open tab needs no server any more.
    """
    parts = sorted((out / "extensions" / "@jupyter-widgets").rglob("[0-9]*.js"))
    tags = "".join(
        f'<script async src="../{part.relative_to(out).as_posix()}"></script>\n'
        for part in parts
    )
    page, own = out / "lab" / "index.html", (HERE / "page.js").read_text("utf-8")
    text = page.read_text(encoding="utf-8").replace("</head>", f"{tags}</head>", 1)
    text = text.replace("<head>", f"<head>\n<script>\n{own}</script>", 1)
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.lite")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "lite")
    chosen_out = parser.parse_args().out
    write(chosen_out)
    print(f"To look at it: python -m http.server -d {chosen_out}")
