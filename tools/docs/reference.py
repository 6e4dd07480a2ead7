# SPDX-License-Identifier: Apache-2.0
"""Which names the pages of the reference have, by kind, for their template.

A name stands on the page of each module that offers it: described where it comes first,
and elsewhere with the way there.
"""

import inspect
import re
import sys
from functools import cache, reduce
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

INDEX = Path(__file__).with_suffix(".rst")
MODULES = re.findall(r"^   (fedlearn_edu\S*)$", INDEX.read_text("utf-8"), re.M)
_KINDS = ("Classes", "Functions", "Errors", "Constants", "Modules")


class Entry(NamedTuple):
    """A name of a module: what describes it, and where that is."""

    path: str
    home: str
    directive: str


def groups(module: str) -> dict[str, list[Entry]]:
    """The names of a module, by kind."""
    found: dict[str, list[Entry]] = {kind: [] for kind in _KINDS}
    for path in (f"{module}.{name}" for name in names(module)):
        kind, directive = _kind(value := value_of(path))
        found[kind].append(Entry(path, _homes().get(id(value), path), directive))
    return {kind: entries for kind, entries in found.items() if entries}


def _kind(value: Any) -> tuple[str, str]:
    """The heading that a value stands under, and the directive that describes it."""
    if inspect.ismodule(value) and _home(value):
        return "Modules", ""
    if inspect.isclass(value):
        is_error = issubclass(value, BaseException)
        return ("Errors", "autoexception") if is_error else ("Classes", "autoclass")
    if inspect.isfunction(value):
        return "Functions", "autofunction"
    return "Functions" if callable(value) else "Constants", "autodata"


@cache
def _homes() -> dict[int, str]:
    """Where what is ours is offered first; two modules may have one number."""
    paths = [f"{module}.{name}" for module in MODULES for name in names(module)]
    return {id(v): path for path in reversed(paths) if _home(v := value_of(path))}


def _home(value: Any) -> str:
    """Our module that a value comes from, if it is ours."""
    home = getattr(value, "__module__", getattr(value, "__name__", ""))
    return str(home) if str(home).startswith("fedlearn_edu") else ""


def names(module: str) -> list[str]:
    """The public names of a module: those it lists, or else what it defines itself."""
    offered = dict(vars(value_of(module)))  # reading a name may load more of them
    own = [n for n in offered if _home(offered[n]) == offered["__name__"]]
    return sorted(offered.get("__all__", (n for n in own if n[0] != "_")))


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

    name = path.rpartition(".")[2]
    for place, loaded in sorted(sys.modules.items()):
        if place.startswith("fedlearn_edu") and vars(loaded).get(name) is value:
            told = ModuleAnalyzer.for_module(place).find_attr_docs()
            if lines := told.get(("", name)):
                return "\n".join(lines)
    if inspect.ismodule(value):
        return f"The package `{value.__name__}`, loaded when it is asked for."
    return (inspect.getdoc(value) or "") if _home(value) else ""
