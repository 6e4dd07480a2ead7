# SPDX-License-Identifier: Apache-2.0
"""A Python that starts with this folder on PYTHONPATH reaches nobody but itself.

Loopback stays open, as kernels and widgets talk through it. `attempts` lists who was
asked for, so that a program that swallows the refusal is found out, too.
"""

import sys
from typing import Any

attempts: list[str] = []

_LOOPBACK = ("127.", "::1", "localhost", "0.0.0.0")


def _refuse_others(event: str, arguments: tuple[Any, ...]) -> None:
    match event, arguments:
        case (("socket.connect" | "socket.sendto"), (_, (host, *_) as asked)):
            pass
        case (("socket.getaddrinfo" | "socket.gethostbyname"), (host, *_)):
            asked = host
        case _:
            return
    text = host.decode() if isinstance(host, bytes) else str(host or "localhost")
    if not text.startswith(_LOOPBACK):
        attempts.append(str(asked))
        raise ConnectionRefusedError(f"the network is closed in tests: {asked}")


sys.addaudithook(_refuse_others)
