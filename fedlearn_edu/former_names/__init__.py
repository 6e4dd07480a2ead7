# SPDX-License-Identifier: Apache-2.0
"""Names people bring along that are not here, and what to write in their place.

Each public package hands a name it does not have to `unknown`, and raises what it gets
back. `docs/from_tff.md` shows the table.
"""

import difflib
import sys
from abc import ABCMeta
from collections.abc import Callable, Collection
from functools import cache
from importlib.util import find_spec
from itertools import product
from types import FrameType
from typing import Any, NamedTuple, TypeVar, final

from fedlearn_edu.errors import FedLearnError, FieldError, short_traceback
from fedlearn_edu.former_names.earlier import EARLIER
from fedlearn_edu.former_names.learning import LEARNING
from fedlearn_edu.former_names.table import TABLE
from fedlearn_edu.former_names.tff import TFF

C = TypeVar("C", bound=type)

_SUMMARIES = {
    "never": "the ancestor never had {path}",
    "renamed": "{path} is now called {here}",
    "gone": "{path} of the ancestor is not here",
    "left": "{path} is not here any more",
    "merged": "{path} is now a parameter: {here}",
    "tff": "{path} is in fedlearn_edu.tff: import fedlearn_edu.tff as tff",
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


def answers(
    home: str, known: Collection[str] = (), *, others: bool = True
) -> Callable[[C], C]:
    """Has the objects of a class answer names of the ancestor as packages do.

    What a property raises, and what copying and pickling ask for, stays as it is; so
    does what Python says of all other names, unless `others` are answered, too.
    `known` is what is suggested; without it, all that is there.
    """

    def add(cls: C) -> C:
        @short_traceback
        def answer(self: object, name: str) -> Any:
            has_answer = others or (home, name) in former_names()
            if name.startswith("_") or hasattr(type(self), name) or not has_answer:
                return object.__getattribute__(self, name)
            raise unknown(home, name, known or _public(self))

        cls.__getattr__ = answer  # type: ignore[attr-defined]
        return cls

    return add


class Answering(ABCMeta):
    """The type of a class that answers such names itself, too."""

    @short_traceback
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise unknown("client_data", name, _public(cls))


def _public(thing: object) -> list[str]:
    return [name for name in dir(thing) if not name.startswith("_")]


@cache
def former_names() -> dict[tuple[str, str], FormerName]:
    """The rows, by package and name."""
    rows = {}
    for section in f"{TABLE}{LEARNING}{TFF}{EARLIER}".split("\n== ")[1:]:
        homes, *lines = section.split("\n")
        for head, example in zip(lines[::2], lines[1::2], strict=False):
            names, *rest = head.split(" | ")
            for home, name in product(homes.split(" & "), names.split(", ")):
                parts = [*rest, example.strip()]
                filled = [part.replace("{name}", name) for part in parts]
                row = FormerName._make([home, name, *filled])
                rows[home, name] = row
    return rows


def answering(home: str, known: Collection[str]) -> Callable[[str], Any]:
    """The `__getattr__` of a module that answers names it does not have."""

    @short_traceback
    def answer(name: str) -> Any:
        raise unknown(home, name, known)

    return answer


def unknown(home: str, name: str, known: Collection[str]) -> FedLearnError:
    """The error for a name that `home` does not have, with what to write instead."""
    error = UnknownNameError if _in_from_import(home, name) else FieldError
    row = former_names().get((home, name))
    if row:
        return error(
            _SUMMARIES[row.fate].format(path=row.path, here=row.here),
            expected=row.here,
            found=f"{name} ({row.met})",
            do=row.example,
        )
    whole = f"federated_{name}"
    near = whole if whole in known else _nearest(name, known)
    few = ", ".join(known) or "nothing so far"
    return error(
        f"{home} has no {name!r}",
        expected=f"one of {home}.__all__"
        if home.startswith("fedlearn") and len(known) > 9
        else few,
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


def _in_from_import(home: str, name: str) -> bool:
    """Whether `from home import name` asks, which would swallow a `FieldError`.

    Python asks a package twice: first, here, to see whether a submodule is wanted.
    """
    frame: FrameType | None = sys._getframe()
    while frame and frame.f_globals.get("__name__", "").startswith("fedlearn_edu"):
        frame = frame.f_back  # to who asks
    is_import = frame is not None and frame.f_code.co_name == "_handle_fromlist"
    return is_import and find_spec(f"{home}.{name}") is None
