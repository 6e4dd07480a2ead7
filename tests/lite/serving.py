# SPDX-License-Identifier: Apache-2.0
"""The site on a server that everybody has, and a wall around the browser."""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, final

_LOCAL = "127.0.0.1"


@final
class Served:
    """`python -m http.server` over the folder that holds the site: it is below a path.

    Attributes:
        app: what the site opens notebooks in.
        root: where the site is.
    """

    app = "lab"

    def __init__(self, site: Path) -> None:
        self._port, self._folder = _free_port(), str(site.parent)
        self.root = f"http://{_LOCAL}:{self._port}/{site.name}"
        self.start()

    def start(self) -> None:
        """Answers, at the same address every time."""
        command = [sys.executable, "-m", "http.server", str(self._port)]
        command += ["--bind", _LOCAL, "--directory", self._folder]
        out = subprocess.DEVNULL
        self._process = subprocess.Popen(command, stdout=out, stderr=out)
        _wait_for(self._port)

    def address(self, notebook: str) -> str:
        """The page that shows a notebook."""
        return f"{self.root}/lab/index.html?path={notebook}"

    def stop(self) -> None:
        """Nobody answers any more."""
        self._process.terminate()
        self._process.wait()


@contextmanager
def served(site: Path) -> Iterator[Served]:
    server = Served(site)
    try:
        yield server
    finally:
        server.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_LOCAL, 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for(port: int) -> None:
    for _ in range(200):
        with suppress(OSError), socket.create_connection((_LOCAL, port)):
            return
        time.sleep(0.05)
    raise TimeoutError("http.server does not answer")


@final
class Wall:
    """A proxy that refuses: whatever in the browser asks another host comes here.

    Attributes:
        asked: the first line of each request.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._listening = socket.create_server((_LOCAL, 0))
        threading.Thread(target=self._refuse, daemon=True).start()

    def _refuse(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                with connection:
                    line = connection.recv(1000).decode("latin-1").partition("\r\n")[0]
                    self.asked.append(line)

    def new_page(self, browser: Any, **chosen: Any) -> Any:
        """A page of a context of its own, which reaches its own server only."""
        port = self._listening.getsockname()[1]
        proxy = {"server": f"http://{_LOCAL}:{port}", "bypass": _LOCAL}
        return browser.new_context(proxy=proxy, **chosen).new_page()

    def close(self) -> None:
        self._listening.close()
