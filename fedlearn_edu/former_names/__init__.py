# SPDX-License-Identifier: Apache-2.0
"""Names people bring along that are not here, and what to write in their place.

Each public room hands a name it does not have to `unknown`, and raises what it gets
back. What it knows about such a name is in `table`; `docs/from_tff.md` shows it.
"""

import difflib
import opcode
import re
import sys
from collections.abc import Collection
from functools import cache
from typing import NamedTuple, final

from fedlearn_edu.errors import FedLearnError, FieldError
from fedlearn_edu.former_names.table import TABLE

_OURS = re.compile(r"fedlearn_edu\b")
_SUMMARIES = {
    "never": "the ancestor never had {path}",
    "renamed": "{path} is now called {here}",
    "gone": "{path} of the ancestor is not here",
}


@final
class FormerName(NamedTuple):
    """One row: a name, what became of it, and what to write."""

    home: str
    name: str
    fate: str
    met: str
    here: str
    example: str

    @property
    def path(self) -> str:
        """The name as people write it behind `fl.` or `tff.`."""
        return f"{self.home}.{self.name}".removeprefix("fedlearn_edu.")


@final
class UnknownNameError(FedLearnError, ImportError):
    """`from fedlearn_edu import …` asked for a name that is not there."""


@cache
def former_names() -> dict[tuple[str, str], FormerName]:
    """The rows, by room and name."""
    rows = {}
    for room in TABLE.split("\n== ")[1:]:
        home, _, entries = room.partition("\n")
        for entry in re.split(r"\n(?=\w)", entries.strip()):
            head, *lines = entry.split("\n  ")
            example = " ".join(lines).replace("( ", "(")
            row = FormerName._make([home, *head.split(" | "), example])
            rows[home, row.name] = row
    return rows


def unknown(home: str, name: str, known: Collection[str]) -> FedLearnError:
    """The error for a name that `home` does not have, with what to write instead."""
    error = UnknownNameError if _by_from_import(home, name) else FieldError
    row = former_names().get((home, name))
    if row:
        return error(
            _SUMMARIES[row.fate].format(path=row.path, here=row.here),
            expected=row.here,
            found=f"{name} ({row.met})",
            do=row.example,
        )
    near = _nearest(name, known)
    few = ", ".join(known) or "nothing so far"
    return error(
        f"{home} has no {name!r}",
        expected=f"one of {home}.__all__" if len(known) > 9 else few,
        found=name,
        do=f"did you mean {near}?" if near and name[0] != "_" else None,
    )


def _nearest(name: str, known: Collection[str]) -> str | None:
    """What is spelt almost so; that both begin with `federated_` says nothing."""
    head = name[: name.find("_") + 1]
    family = {each.removeprefix(head): each for each in known if each.startswith(head)}
    if not family:
        head, family = "", {each: each for each in known}
    near = difflib.get_close_matches(name.removeprefix(head), family, n=1)
    return family[near[0]] if near else None


def _by_from_import(home: str, name: str) -> bool:
    """Whether `from home import name` is asking: it would swallow a `FieldError`."""
    frame = sys._getframe()
    while frame.f_back and _OURS.match(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    operation = opcode.opname[frame.f_code.co_code[frame.f_lasti]]
    return operation == "IMPORT_FROM" and f"{home}.{name}" not in sys.modules
