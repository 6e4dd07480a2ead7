# SPDX-License-Identifier: Apache-2.0
"""The reference: which names are public, and a page for each module that offers some.

A name stands on the page of each module that offers it: described where it comes first,
and elsewhere with the way there.
"""

import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from textwrap import indent
from types import ModuleType
from typing import Any

from tools.docs import docstrings

# (`backends.native` is reached by its module; nothing above offers these two)
_FIRST = ("fedlearn_edu", "fedlearn_edu.testing", "fedlearn_edu.course")


@dataclass(frozen=True)
class Face:
    """A module under the name that it is asked for by.

    Attributes:
        name: `fedlearn_edu.framework.ir`, say, whose module is `fedlearn_edu.ir.nodes`.
        module: what offers the names.
    """

    name: str
    module: ModuleType

    @property
    def short(self) -> str:
        """The name that programs use, `fl.framework.ir`."""
        return self.name.replace("fedlearn_edu", "fl", 1)

    @cached_property
    def names(self) -> list[str]:
        """Its public names: those it lists, or else what it defines itself."""
        if listed := getattr(self.module, "__all__", None):
            return sorted(listed)
        return sorted(
            name
            for name, value in vars(self.module).items()
            if name[0] != "_"
            and getattr(value, "__module__", None) == self.module.__name__
            and (inspect.isclass(value) or inspect.isfunction(value))
        )

    def faces(self) -> Iterator["Face"]:
        """The modules of ours among its names."""
        for name in self.names:
            value = getattr(self.module, name)
            if _is_ours(value):
                yield Face(f"{self.name}.{name}", value)


def faces() -> list[Face]:
    """All modules that offer names, each under its first name."""
    found: dict[ModuleType, Face] = {}
    waiting = [Face(name, import_module(name)) for name in _FIRST]
    while waiting:
        face = waiting.pop(0)
        if face.module not in found:
            found[face.module] = face
            waiting += face.faces()
    return sorted(found.values(), key=lambda face: face.name)


def files() -> set[Path]:
    """Where public functions and classes are defined."""
    values = (getattr(face.module, name) for face in faces() for name in face.names)
    found = (_file(value) for value in values)
    return {file for file in found if file and "fedlearn_edu" in file.parts}


def _file(value: Any) -> Path | None:
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        return None
    file = inspect.getsourcefile(inspect.unwrap(value))
    return Path(file) if file else None


def pages() -> dict[str, str]:
    """The pages in reStructuredText, by the names of their faces."""
    homes: dict[int, str] = {}
    return {face.name: _page(face, homes) for face in faces()}


def _page(face: Face, homes: dict[int, str]) -> str:
    # (the contents at the side name what is on the page, and no methods)
    head = [
        ":tocdepth: 2",
        "",
        face.short,
        "=" * len(face.short),
        "",
        f".. py:module:: {face.name}",
        "",
    ]
    about = docstrings.as_rst(inspect.getdoc(face.module) or "")
    entries, summaries = [], []
    for name in face.names:
        path = f"{face.name}.{name}"
        value = getattr(face.module, name)
        # Two constants may be one number: only what has a name can be the same.
        has_name = hasattr(value, "__name__") and not isinstance(value, ModuleType)
        home = homes.setdefault(id(value), path) if has_name else path
        entry, says = _entry(path, value, home, face)
        entries.append(entry)
        summaries.append(f"* :py:obj:`{name} <{path}>`: {says}")
    return "\n".join([*head, about, "", *summaries, "", *entries])


def _entry(path: str, value: Any, home: str, face: Face) -> tuple[str, str]:
    """The directive that describes a name, and the first sentence about it."""
    if isinstance(value, ModuleType):
        says = _first_sentence(inspect.getdoc(value) or "")
        # A module of ours has a page, and its name an anchor there.
        return ("" if _is_ours(value) else _data(path, says)), says
    if home != path:
        same = f"The same as :py:obj:`{home}`."
        return _data(path, same), same
    if inspect.isclass(value):
        kind = "exception" if issubclass(value, BaseException) else "class"
        directive = f".. auto{kind}:: {path}\n   :members:\n"
        return directive, _first_sentence(inspect.getdoc(value) or "")
    if inspect.isfunction(value):
        return f".. autofunction:: {path}\n", _first_sentence(
            inspect.getdoc(value) or ""
        )
    doc = _doc_of_data(path.rpartition(".")[2], value, face)
    return _data(path, docstrings.as_fields(doc)), _first_sentence(doc)


def _data(path: str, text: str) -> str:
    module, _, name = path.rpartition(".")
    head = f".. py:data:: {name}\n   :module: {module}"
    return f"{head}\n\n{indent(text, '   ')}\n"


def _doc_of_data(name: str, value: Any, face: Face) -> str:
    """What stands below the assignment, or what its class says of it."""
    from sphinx.pycode import ModuleAnalyzer

    for module, loaded in sorted(sys.modules.items()):
        is_below = module.startswith(face.module.__name__)
        if is_below and getattr(loaded, name, None) is value:
            told = ModuleAnalyzer.for_module(module).find_attr_docs()
            if lines := told.get(("", name)):
                return "\n".join(lines)
    return inspect.cleandoc(value.__doc__ or "")


def _first_sentence(doc: str) -> str:
    lines = takewhile(str.strip, inspect.cleandoc(doc).splitlines())
    text = " ".join(lines)
    end = text.find(". ")
    return docstrings.as_rst(text if end < 0 else text[: end + 1])


def _is_ours(value: Any) -> bool:
    is_module = isinstance(value, ModuleType)
    return is_module and value.__name__.startswith("fedlearn_edu")
