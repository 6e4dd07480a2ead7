# SPDX-License-Identifier: Apache-2.0
"""The two groups of participants."""

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class Placement:
    """A group of participants that hold values.

    >>> CLIENTS, str(SERVER), CLIENTS.uri, SERVER.default_all_equal
    (CLIENTS, 'SERVER', 'clients', True)
    >>> CLIENTS.is_clients(), CLIENTS.is_server()
    (True, False)
    """

    name: str
    default_all_equal: bool

    @property
    def uri(self) -> str:
        """The name in the ancestor's spelling, in small letters."""
        return self.name.lower()

    def is_clients(self) -> bool:
        """Whether these are the clients."""
        return self.name == "CLIENTS"

    def is_server(self) -> bool:
        """Whether this is the server."""
        return self.name == "SERVER"

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        # By name: a copy would be equal, but a placement is recognized by identity.
        return self.name


CLIENTS = Placement("CLIENTS", default_all_equal=False)
SERVER = Placement("SERVER", default_all_equal=True)
PLACEMENTS = (CLIENTS, SERVER)
