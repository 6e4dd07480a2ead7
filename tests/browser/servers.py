# SPDX-License-Identifier: Apache-2.0
"""JupyterLab and Notebook on loopback, with settings of their own and a folder."""

import json
import os
import secrets
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, final

from tests.patience import PATIENCE_S

_APPS = {
    "lab": ("jupyterlab", "--LabApp.expose_app_in_browser=True"),
    "notebook": ("notebook", "--JupyterNotebookApp.expose_app_in_browser=True"),
}

# Every cell stays in the page, and nothing asks for news.
_SETTINGS = {
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
    "@jupyterlab/apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
}


@final
@dataclass(frozen=True)
class Server:
    """One that answers.

    Attributes:
        app: `"lab"` or `"notebook"`.
        root: where it is, with port.
        token: what opens it.
    """

    app: str
    root: str
    token: str

    def address(self, notebook: str) -> str:
        """The page that shows a notebook of the folder."""
        path = f"lab/tree/{notebook}" if self.app == "lab" else f"notebooks/{notebook}"
        reset = "&reset" if self.app == "lab" else ""
        return f"{self.root}/{path}?token={self.token}{reset}"


class _Files(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None: ...


@contextmanager
def serve_files(folder: Path, port: int = 0) -> Iterator[str]:
    """Serves the files of a folder; where they are."""
    with serve_by(partial(_Files, directory=folder), port) as found:
        yield f"http://127.0.0.1:{found}"


@contextmanager
def serve_by(handler: Any, port: int = 0) -> Iterator[int]:
    """Answers on loopback; at which port."""
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@contextmanager
def serve(app: str, folder: Path, home: Path) -> Iterator[Server]:
    """Serves the notebooks of `folder`; what the server writes goes to `home`."""
    _write_settings(home / "settings")
    module, expose = _APPS[app]
    token, log = secrets.token_hex(16), home / f"{app}.log"
    command = [sys.executable, "-m", module, "--no-browser", "--ip=127.0.0.1", expose]
    command += ["--port=0", "--allow-root", f"--IdentityProvider.token={token}"]
    command += [f"--ServerApp.root_dir={folder}"]
    with log.open("w") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=out, env=_environment(home), cwd=folder
        )
        try:
            # It has taken a port that was free, and says in this file which one.
            told = home / "runtime" / f"jpserver-{process.pid}.json"
            yield Server(app, _root(told, token, process, log), token)
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def _write_settings(folder: Path) -> None:
    for name, settings in _SETTINGS.items():
        file = folder / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings), encoding="utf-8")


def _environment(home: Path) -> dict[str, str]:
    """Nothing of the person who runs the tests: no settings, no extensions."""
    return {
        **os.environ,
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }


def _root(told: Path, token: str, process: "subprocess.Popen[bytes]", log: Path) -> str:
    deadline = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < deadline:
        with suppress(OSError, ValueError):  # not there, half there, not listening yet
            root = f"http://127.0.0.1:{json.loads(told.read_text())['port']}"
            with urllib.request.urlopen(f"{root}/api/status?token={token}", timeout=60):
                return root
        time.sleep(0.2)
    tail = log.read_text(encoding="utf-8")[-2000:]
    raise RuntimeError(f"{log.stem} did not start:\n{tail}")
