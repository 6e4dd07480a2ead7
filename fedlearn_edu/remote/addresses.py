# SPDX-License-Identifier: Apache-2.0
"""Which addresses may be spoken to: encrypted ones, and any on this machine."""

import ipaddress
from urllib.parse import urlsplit

from fedlearn_edu.remote.errors import ClusterError

_ENCRYPTED = ("tls", "wss", "inproc")


def check_encrypted(address: str) -> None:
    """Refuses an address that is open to everybody, before anything is sent to it.

    Raises:
        ClusterError: if it has no encryption and is elsewhere.
    """
    if is_open(address):
        raise ClusterError(
            "this address has no encryption, and is not on this machine",
            expected="tls://…: everybody who reaches a tcp:// port may run code on it",
            found=address,
            do="start the scheduler with TLS, and connect with security=Security(…)",
        )


def is_open(address: str) -> bool:
    """Whether what is sent to an address leaves this machine without encryption.

    >>> [
    ...     is_open(f"{way}:8786")
    ...     for way in ("tls://lab", "tcp://127.0.0.1", "tcp://lab")
    ... ]
    [False, False, True]
    """
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    return parts.scheme not in _ENCRYPTED and not _is_here(parts.hostname or "")


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
