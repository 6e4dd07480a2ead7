# SPDX-License-Identifier: Apache-2.0
"""JupyterLite around the kernel and the notebooks: one folder of static files."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from tools.lite.errors import LiteError
from tools.lite.kernel import KERNEL_EXTENSION, LABEXTENSIONS

_WIDGETS = LABEXTENSIONS / "@jupyter-widgets" / "jupyterlab-manager"
_APPS = ("lab", "notebooks", "tree")
# (pages below read their configuration here, too)
_START = """<!DOCTYPE html>
<meta charset="utf-8">
<title>fedlearn_edu in a browser</title>
<meta http-equiv="refresh" content="0; url=lab/index.html?path=README.md">
<script id="jupyter-config-data" type="application/json" data-jupyter-lite-root=".">
{}
</script>
<p><a href="lab/index.html?path=README.md">Lessons in this browser tab</a></p>
"""

# A link opens what it names and nothing else: JupyterLab would begin with the tabs of
# the last visit, each with a Python of its own. A reload keeps the tabs of this one.
_ONLY_WHAT_IS_ASKED_FOR = """<script>
const here = new URL(location.href);
if (here.searchParams.has("path") && !here.searchParams.has("workspace")) {
  here.searchParams.set("workspace", `visit-${Date.now()}`);
  history.replaceState(null, "", here);
}
</script>"""

# What is there before the first cell runs. Without jedi the kernel never starts.
_PRELOADED = (
    *("micropip", "piplite", "ipykernel", "comm", "pyodide-kernel", "ipython", "jedi"),
    *("numpy", "fedlearn-edu"),
)
_ENVIRONMENT = {
    "MPLBACKEND": "agg",
    # The drive is the browser's storage; all the rest is gone after a restart.
    "FEDLEARN_EDU_PROGRESS": "/drive/progress.json",
}
_KERNEL = {
    "disablePyPIFallback": True,
    "loadPyodideOptions": {"packages": _PRELOADED, "env": _ENVIRONMENT},
}
_CONFIG = {
    "jupyter-lite-schema-version": 0,
    "jupyter-config-data": {
        "appName": "fedlearn_edu",
        "exposeAppInBrowser": True,
        "litePluginSettings": {"@jupyterlite/pyodide-kernel-extension:kernel": _KERNEL},
    },
}
_SETTINGS = {
    "@jupyterlab/docmanager-extension:plugin": {
        "defaultViewers": {"markdown": "Markdown Preview"},
        "autosaveInterval": 5,  # not two minutes: a tab is closed in passing
    },
    # A closed lesson gives back the memory of its Python.
    "@jupyterlab/notebook-extension:tracker": {"kernelShutdown": True},
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
}


def build(kernel: Path, contents: Path, kept: Path, out: Path) -> None:
    """Writes the site to `out`, which is emptied.

    Raises:
        LiteError: if JupyterLite cannot build it.
    """
    folder = kept / "jupyterlite"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(kernel, folder / "static" / "pyodide")
    _write(_CONFIG, folder / "jupyter-lite.json")
    _write(_SETTINGS, folder / "overrides.json")
    shutil.rmtree(out, ignore_errors=True)
    _run_jupyterlite(folder, contents, out)
    (out / "index.html").write_text(_START, encoding="utf-8")
    _add_scripts(out)


def _add_scripts(out: Path) -> None:
    """Has the page load at once what draws a slider, which it loads with the first one.

    So an open tab needs no server any more. And it opens only what is asked for.
    """
    parts = sorted((out / "extensions" / "@jupyter-widgets").rglob("[0-9]*.js"))
    tags = "".join(
        f'<script async src="../{part.relative_to(out).as_posix()}"></script>\n'
        for part in parts
    )
    page = out / "lab" / "index.html"
    text = page.read_text(encoding="utf-8").replace("</head>", f"{tags}</head>", 1)
    text = text.replace("<head>", f"<head>\n{_ONLY_WHAT_IS_ASKED_FOR}", 1)
    page.write_text(text, encoding="utf-8")


def _write(content: object, file: Path) -> None:
    file.write_text(json.dumps(content, indent=1), encoding="utf-8")


def _run_jupyterlite(folder: Path, contents: Path, out: Path) -> None:
    chosen = ["--no-sourcemaps", "--no-unused-shared-packages", "--ignore-sys-prefix"]
    for app in _APPS:
        chosen += ["--apps", app]
    for extension in (KERNEL_EXTENSION, _WIDGETS):
        chosen += ["--LiteBuildConfig.federated_extensions", str(extension)]
    chosen += ["--contents", str(contents), "--output-dir", str(out)]
    command = [sys.executable, "-m", "jupyterlite_core", "build", *chosen]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise LiteError(
            "JupyterLite could not build the site",
            expected="what the extra `lite` installs, as constraints.txt has it",
            found=done.stderr or done.stdout,
            where=str(folder),
            do="run make lite, which installs it",
        )
