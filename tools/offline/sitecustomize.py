# SPDX-License-Identifier: Apache-2.0
"""A Python that starts with this folder on PYTHONPATH reaches nobody but itself.

Loopback stays open, as kernels and widgets talk through it. `attempts` lists who was
asked for, so that a program that swallows the refusal is found out, too.
"""

import socket
from typing import Any

attempts: list[str] = []

_LOOPBACK = ("127.", "::1", "localhost", "0.0.0.0")


def _refuse(address: object) -> None:
    attempts.append(str(address))
    raise ConnectionRefusedError(f"the network is closed in tests: {address}")


def _is_near(host: object) -> bool:
    text = host.decode() if isinstance(host, bytes) else str(host or "localhost")
    return text.startswith(_LOOPBACK)


def _guard_method(name: str) -> None:
    original = getattr(socket.socket, name)

    def guarded(self: socket.socket, *arguments: Any) -> Any:
        address = arguments[-1]
        if isinstance(address, tuple) and not _is_near(address[0]):
            _refuse(address)
        return original(self, *arguments)

    setattr(socket.socket, name, guarded)


def _guard_lookup(name: str) -> None:
    original = getattr(socket, name)

    def guarded(host: Any, *arguments: Any, **options: Any) -> Any:
        if not _is_near(host):
            _refuse(host)
        return original(host, *arguments, **options)

    setattr(socket, name, guarded)


for _name in ("connect", "connect_ex", "sendto"):
    _guard_method(_name)
for _name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
    _guard_lookup(_name)
