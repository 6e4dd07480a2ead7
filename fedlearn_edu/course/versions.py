# SPDX-License-Identifier: Apache-2.0
"""What a package needs, as its own metadata say, and whether it is there."""

import re
from dataclasses import dataclass
from importlib import metadata
from typing import final

_NEEDED = re.compile(
    r"^([\w.-]+)\s*>=\s*([\d.]+)\s*(?:;\s*extra\s*==\s*[\"'](\w+)[\"'])?$"
)


@final
@dataclass(frozen=True)
class Requirement:
    """A package, and the least version of it.

    >>> wanted = Requirement("numpy", "1.26")
    >>> print(wanted), wanted.is_met_by("2.4.6"), wanted.is_met_by("1.9")
    numpy>=1.26
    (None, True, False)
    """

    name: str
    least: str

    def __str__(self) -> str:
        return f"{self.name}>={self.least}"

    def is_met_by(self, version: str) -> bool:
        """Whether this version is not older."""
        return _numbers(version) >= _numbers(self.least)


def requirements(package: str, extra: str) -> list[Requirement]:
    """What a package always needs, and what one of its extras adds.

    Raises:
        importlib.metadata.PackageNotFoundError: if the package is not installed.
    """
    matches = map(_NEEDED.match, metadata.requires(package) or [])
    return [Requirement(m[1], m[2]) for m in matches if m and m[3] in (None, extra)]


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers: `2.5.0rc1` counts as `2.5.0`."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()
