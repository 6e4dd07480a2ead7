# SPDX-License-Identifier: Apache-2.0
"""Which names the pages of the reference have, by kind, for their template.

A name stands on the page of each module that offers it: described where it comes first,
and elsewhere with the way there.
"""

import inspect
import re
import sys
from collections.abc import Iterable
from functools import cache, reduce
from importlib import import_module
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from tools.docs import docstrings

INDEX = Path(__file__).with_suffix(".rst")
MODULES = re.findall(r"^   (fedlearn_edu\S*)$", INDEX.read_text("utf-8"), re.M)
_KINDS = (
    *("Types", "Intrinsics", "Classes", "Functions", "Errors", "Constants"),
    "Modules",
)


class Entry(NamedTuple):
    """A name of a module.

    Attributes:
        kind: the heading that it stands under.
        path: the name, after that of the module.
        home: where it is described.
        directive: what describes it there.
    """

    kind: str
    path: str
    home: str
    directive: str


def groups(module: str) -> Iterable[tuple[str, Iterable[Entry]]]:
    """The names of a module, by kind."""
    entries = [_entry(module, name) for name in names(module)]
    entries.sort(key=lambda entry: _KINDS.index(entry.kind))
    return groupby(entries, key=lambda entry: entry.kind)


def about(module: str) -> str:
    """What a module says of itself."""
    return docstrings.as_rst(inspect.getdoc(value_of(module)) or "")


def _entry(module: str, name: str) -> Entry:
    path = f"{module}.{name}"
    value = value_of(path)
    kind, directive = _kind(value)
    if module == "fedlearn_edu" and kind != "Modules":  # there are many
        if getattr(value, "__module__", "").startswith("fedlearn_edu.types"):
            kind = "Types"
        elif re.match("(federated|sequence)_", name) and inspect.isfunction(value):
            kind = "Intrinsics"
    return Entry(kind, path, _homes().get(id(value), path), directive)


def _kind(value: Any) -> tuple[str, str]:
    if inspect.isclass(value):
        is_error = issubclass(value, BaseException)
        return ("Errors", "autoexception") if is_error else ("Classes", "autoclass")
    if inspect.isfunction(value):
        return "Functions", "autofunction"
    if _is_ours(value) and inspect.ismodule(value):
        return "Modules", ""
    return ("Functions" if callable(value) else "Constants"), "autodata"


@cache
def _homes() -> dict[int, str]:
    """Where what is ours is offered first; two modules may have one number."""
    paths = [f"{module}.{name}" for module in MODULES for name in names(module)]
    found = {
        id(value): path for path in reversed(paths) if _is_ours(value := value_of(path))
    }
    return found


def _is_ours(value: Any) -> bool:
    home = (
        value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", "")
    )
    return str(home).startswith("fedlearn_edu")


def names(module: str) -> list[str]:
    """The public names of a module: those it lists, or else what it defines itself."""
    offered = vars(value_of(module))
    own = [
        name
        for name, value in offered.items()
        if name[0] != "_" and getattr(value, "__module__", "") == offered["__name__"]
    ]
    return sorted(offered.get("__all__", own))


def value_of(path: str) -> Any:
    """What has this name; some are made when they are asked for."""
    first, *others = path.split(".")
    try:
        return reduce(getattr, others, import_module(first))
    except AttributeError:
        return import_module(path)


def doc_of_data(path: str, value: Any) -> str:
    """What stands below the assignment of a constant, wherever that is.

    Its class may know nothing of it: what `float` says would be said of each number.
    """
    from sphinx.pycode import ModuleAnalyzer

    module, _, name = path.rpartition(".")
    below = value_of(module).__name__
    for place, loaded in sorted(sys.modules.items()):
        if place.startswith(below) and vars(loaded).get(name) is value:
            told = ModuleAnalyzer.for_module(place).find_attr_docs()
            if lines := told.get(("", name)):
                return "\n".join(lines)
    if isinstance(value, ModuleType):
        return f"The package `{value.__name__}`, loaded when it is asked for."
    return (inspect.getdoc(value) or "") if _is_ours(value) else ""
