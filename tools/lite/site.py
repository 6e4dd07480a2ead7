# SPDX-License-Identifier: Apache-2.0
"""JupyterLite around the kernel and the notebooks: one folder of static files.

`jupyter-lite.json` says what is there before the first cell runs (without jedi the
kernel never starts), and that progress is kept on the drive, which is the browser's
storage: all the rest is gone after a restart. With `overrides.json`, work is saved
after 5 s, as a tab is closed in passing; and a closed lesson gives back its memory.
"""

import shutil
from pathlib import Path

from tools.lite.kernel import KERNEL_EXTENSION, LABEXTENSIONS
from tools.lite.pyodide import HERE, run

_WIDGETS = LABEXTENSIONS / "@jupyter-widgets" / "jupyterlab-manager"
_APPS = ("lab", "notebooks", "tree")
_SETTINGS = ("jupyter-lite.json", "overrides.json")


def build(kernel: Path, contents: Path, kept: Path, out: Path) -> None:
    """Writes the site to `out`, which is emptied.

    Raises:
        LiteError: if JupyterLite cannot build it.
    """
    folder = kept / "jupyterlite"
    for each in (folder, out):
        shutil.rmtree(each, ignore_errors=True)
    shutil.copytree(kernel, folder / "static" / "pyodide")
    for name in _SETTINGS:
        shutil.copy(HERE / name, folder)
    chosen = ["--no-sourcemaps", "--no-unused-shared-packages", "--ignore-sys-prefix"]
    for app in _APPS:
        chosen += ["--apps", app]
    for extension in (KERNEL_EXTENSION, _WIDGETS):
        chosen += ["--LiteBuildConfig.federated_extensions", str(extension)]
    chosen += ["--contents", str(contents), "--output-dir", str(out)]
    run("jupyterlite_core", "build", *chosen, do="run make lite", folder=folder)
    # (pages below read their configuration here, too)
    shutil.copy(HERE / "start.html", out / "index.html")
    add_scripts(out)


def add_scripts(out: Path) -> None:
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
