# SPDX-License-Identifier: Apache-2.0
"""Where values are: at every client, or at the one server.

Users hand `CLIENTS` and `SERVER` to types and intrinsics; federated types receive them.
How many participants a placement has is not known here, only when something runs.
"""

from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.errors import NotationError


@final
@dataclass(frozen=True)
class Placement:
    """A group of participants that hold values.

    >>> CLIENTS, str(SERVER), CLIENTS.uri, SERVER.default_all_equal
    (CLIENTS, 'SERVER', 'clients', True)
    """

    name: str
    default_all_equal: bool

    @property
    def uri(self) -> str:
        """The name in the ancestor's spelling, in small letters."""
        return self.name.lower()

    def __reduce__(self) -> tuple[Any, ...]:
        # Compared by identity everywhere: the one that comes back has to be the same.
        return (placement_from_name, (self.name,))

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return self.name


CLIENTS = Placement("CLIENTS", default_all_equal=False)
SERVER = Placement("SERVER", default_all_equal=True)
PLACEMENTS = (CLIENTS, SERVER)


def placement_from_name(name: str) -> Placement:
    """The placement called `name`, in capitals or in small letters."""
    for placement in PLACEMENTS:
        if name in (placement.name, placement.uri):
            return placement
    raise NotationError(
        "there is no such placement",
        expected=" or ".join(p.name for p in PLACEMENTS),
        found=name,
    )
