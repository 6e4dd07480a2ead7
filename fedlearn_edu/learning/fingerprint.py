# SPDX-License-Identifier: Apache-2.0
"""What a function of yours does, as a digest that the next program finds again.

It is made of the code and of what the code reads: captured values, defaults, globals,
and what these hold in turn. What comes from a library counts by its name.
"""

import dis
import functools
import hashlib
import sys
from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, final

import numpy as np

from fedlearn_edu.errors import is_yours

_COUNTED = ("keras", "tensorflow", "tf_keras")  # they number their objects
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))


def fingerprint(thing: Any) -> str:
    """Eight hexadecimal digits: others for another function, or what it reads.

    >>> def rate(start):
    ...     return lambda number: start / (number + 1)
    >>> fingerprint(rate(0.1)) == fingerprint(rate(0.1))
    True
    >>> fingerprint(rate(0.1)) == fingerprint(rate(0.1000000001))
    False
    """
    found = hashlib.sha256()
    for part in _Reader().parts(thing):
        found.update(f"{len(part)} ".encode() + part)
    return found.hexdigest()[:8]


@final
class _Reader:
    """Reads each object once: functions may call each other in circles."""

    def __init__(self) -> None:
        self._met: dict[int, tuple[int, Any]] = {}  # kept, so that no id comes again

    def parts(self, thing: Any) -> Iterator[bytes]:
        yield type(thing).__qualname__.encode()
        if isinstance(thing, _PLAIN):
            yield repr(thing).encode()
        elif id(thing) in self._met:
            yield b"%d" % self._met[id(thing)][0]
        else:
            self._met[id(thing)] = len(self._met), thing
            yield from self._inside(thing)

    def _each(self, *things: Any) -> Iterator[bytes]:
        for thing in things:
            yield from self.parts(thing)

    def _inside(self, thing: Any) -> Iterator[bytes]:
        match thing:
            case CodeType():
                yield thing.co_code
                yield from self._each(*thing.co_names, *thing.co_consts)
            case FunctionType():
                yield from self._function(thing)
            case MethodType():
                yield from self._each(thing.__func__, thing.__self__)
            case functools.partial():
                yield from self._each(thing.func, thing.args, thing.keywords)
            case type():
                yield from self._class(thing)
            case ModuleType():
                yield thing.__name__.encode()
            case list() | tuple():
                yield from self._each(*thing)
            case Set():
                yield from sorted(fingerprint(each).encode() for each in thing)
            case Mapping():
                yield from self._each(*thing.keys(), *thing.values())
            case _:
                yield from self._object(thing)

    def _function(self, function: FunctionType) -> Iterator[bytes]:
        code = function.__code__
        yield code.co_name.encode()
        if is_yours(code.co_filename):
            yield from self.parts(code)
            reads, attributes = _names(code)
            for name in sorted(reads & function.__globals__.keys()):
                yield from self._read(name, function.__globals__[name], attributes)
        for cell in function.__closure__ or ():
            try:
                yield from self.parts(cell.cell_contents)
            except ValueError:
                yield b"empty"
        yield from self._each(function.__defaults__, function.__kwdefaults__)

    def _read(self, name: str, value: Any, attributes: set[str]) -> Iterator[bytes]:
        yield name.encode()
        yield from self.parts(value)
        if isinstance(value, ModuleType) and _is_file_of_yours(value):
            for each in sorted(attributes & vars(value).keys()):
                yield from self._read(each, vars(value)[each], attributes)

    def _class(self, kind: type) -> Iterator[bytes]:
        yield f"{kind.__module__}.{kind.__qualname__}".encode()
        if _is_of_yours(kind):
            yield from self._each(*kind.__bases__)
            for name, value in sorted(vars(kind).items()):
                is_written = hasattr(value, "__get__")
                if is_written or not name.startswith("__"):
                    yield name.encode()
                    yield from self.parts(value)

    def _object(self, thing: Any) -> Iterator[bytes]:
        kind: Any = type(thing)
        yield from self._class(kind)
        for inner in ("fget", "__func__", "__wrapped__", "python_function"):
            yield from self.parts(getattr(thing, inner, None))
        held = {**getattr(thing, "__dict__", {}), **_slots(thing)}
        if kind.__module__.partition(".")[0] in _COUNTED:
            yield from self._of_tensorflow(thing)
        elif hasattr(thing, "__array__"):
            yield from self._array(np.asarray(thing))
        elif _is_of_yours(kind):
            yield from self.parts(held)
        elif kind.__repr__ is not object.__repr__ and " at 0x" not in repr(thing):
            yield repr(thing).encode()
        else:
            yield from self.parts({k: held[k] for k in held if k[:1] != "_"})

    def _of_tensorflow(self, thing: Any) -> Iterator[bytes]:
        if hasattr(thing, "numpy") and not hasattr(thing, "assign"):
            yield from self._array(np.asarray(thing))  # a constant
        elif hasattr(thing, "get_config") and not hasattr(thing, "layers"):
            # A variable of a graph that is being traced has no number yet.
            with suppress(NotImplementedError):
                config = thing.get_config()
                yield from self.parts({k: config[k] for k in config if k != "name"})

    def _array(self, array: np.ndarray[Any, Any]) -> Iterator[bytes]:
        yield f"{array.dtype} {array.shape}".encode()
        if array.dtype == object:
            yield from self.parts(array.tolist())
        else:
            yield array.tobytes()


def _names(code: CodeType) -> tuple[set[str], set[str]]:
    """The globals that code reads, with functions inside of it, and attributes."""
    reads, attributes = set(), set()
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            reads.add(step.argval)
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            attributes.add(step.argval)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            more = _names(inner)
            reads, attributes = reads | more[0], attributes | more[1]
    return reads, attributes


def _is_of_yours(kind: type) -> bool:
    module = sys.modules.get(kind.__module__)
    return kind.__module__ == "__main__" or _is_file_of_yours(module)


def _is_file_of_yours(module: ModuleType | None) -> bool:
    return is_yours(getattr(module, "__file__", None) or __file__)


def _slots(thing: Any) -> dict[str, Any]:
    slots = [vars(kind).get("__slots__", ()) for kind in type(thing).__mro__]
    names = [n for each in slots for n in ((each,) if isinstance(each, str) else each)]
    return {name: getattr(thing, name) for name in names if hasattr(thing, name)}
