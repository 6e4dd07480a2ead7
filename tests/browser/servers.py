# SPDX-License-Identifier: Apache-2.0
"""JupyterLab and Notebook on loopback, with settings of their own and a folder."""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

START_LIMIT_S = 90.0

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


@contextmanager
def serve(app: str, folder: Path, home: Path) -> Iterator[Server]:
    """Serves the notebooks of `folder`; what the server writes goes to `home`."""
    _write_settings(home / "settings")
    module, expose = _APPS[app]
    server = Server(app, f"http://127.0.0.1:{_free_port()}", secrets.token_hex(16))
    port = server.root.rsplit(":", 1)[1]
    command = [sys.executable, "-m", module, "--no-browser", "--ip=127.0.0.1", expose]
    command += [f"--port={port}", "--ServerApp.port_retries=0", "--allow-root"]
    command += [f"--IdentityProvider.token={server.token}"]
    command += [f"--ServerApp.root_dir={folder}"]
    with (home / f"{app}.log").open("w") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env=_environment(home), cwd=folder
        )
        try:
            _wait_for(server, process, home / f"{app}.log")
            yield server
        finally:
            process.terminate()
            process.wait(20)


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


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for(server: Server, process: "subprocess.Popen[bytes]", log: Path) -> None:
    status = f"{server.root}/api/status?token={server.token}"
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(status, timeout=5):
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)
    tail = log.read_text(encoding="utf-8")[-2000:]
    raise RuntimeError(f"{server.app} did not start:\n{tail}")
