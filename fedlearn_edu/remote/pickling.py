# SPDX-License-Identifier: Apache-2.0
"""How messages become bytes: what workers keep travels once, and then by name.

Leaf code, constants, loaders and shipped data are *parts*: a message only names them.
Their own bytes are sent to a worker that does not have them, and may name other parts.
Leaf code travels as what made it, functions by value (cloudpickle), so that a worker
can run many clients together as this process could; where that fails, as its graph.
"""

import itertools
import pickle
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from threading import RLock
from typing import Any, final
from weakref import WeakKeyDictionary

import cloudpickle
import numpy as np

from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.remote.data import Loader, Shipped

_PROTOCOL = 5
# From this size on, arrays of zeros travel as their shape: a fold begins with them.
_MIN_BYTES = 1024


@final
@dataclass(frozen=True)
class Packed:
    """Bytes, and by name all parts that are needed to read them."""

    data: bytes
    parts: Mapping[str, Any]


@final
class Library:
    """The parts that one coordinator has named, for as long as they exist."""

    def __init__(self) -> None:
        self.prefix = uuid.uuid4().hex[:8]
        self._numbers = itertools.count()
        self._names = WeakKeyDictionary[Any, str]()
        self._packed = WeakKeyDictionary[Any, Packed]()
        self._lock = RLock()

    def dumps(self, thing: Any) -> Packed:
        """The bytes of a message."""
        file, named = BytesIO(), dict[str, Any]()
        _Pickler(file, partial(self._named, named)).dump(thing)
        parts = dict(named)
        for part in named.values():
            if not isinstance(part, Shipped):  # it names nothing
                parts |= self.part(part).parts
        return Packed(file.getvalue(), parts)

    def part(self, thing: Any) -> Packed:
        """The bytes of a part."""
        if isinstance(thing, Shipped):  # large, and sent once to a worker
            return self._pack(thing)
        with self._lock:
            key = _key(thing)
            if key not in self._packed:
                self._packed[key] = self._pack(thing)
            return self._packed[key]

    def _named(self, named: dict[str, Any], thing: Any) -> str | None:
        if not _is_part(thing):
            return None
        key = _key(thing)
        with self._lock:
            if key not in self._names:
                self._names[key] = f"{self.prefix}-{next(self._numbers)}"
            named[self._names[key]] = thing
            return self._names[key]

    def _pack(self, thing: Any) -> Packed:
        match thing:
            case ir.Leaf(runtime, code, type_):
                try:
                    return self.dumps((_leaf, runtime, type_, _made(code)))
                except Exception:  # a function may hold what cannot travel: its graph
                    return self.dumps((ir.Leaf, runtime, code, type_))
            case ir.Literal(value, type_):
                return self.dumps((ir.Literal, value, type_))
            case Loader(load, type_, key):
                return self.dumps((Loader, load, type_, key))
            case _:
                return self.dumps((Shipped, thing.member))


def _key(part: Any) -> Any:
    """What stands for a part: its code, which trees mention in several places."""
    return part.code if isinstance(part, ir.Leaf) else part


def _is_part(thing: Any) -> bool:
    match thing:
        case Loader() | Shipped():
            return True
        case ir.Leaf(runtime=runtime):
            return runtime != ir.ANY_RUNTIME
        case ir.Literal(captured_as=captured_as):  # others differ from call to call
            return captured_as is None
        case _:
            return False


def _made(code: Any) -> tuple[Any, ...]:
    origin = getattr(code, "origin", None)
    return (_same, code) if origin is None else (origin[0], *origin[1])


def _same(code: Any) -> Any:
    return code


def _leaf(runtime: str, type_: Any, made: tuple[Any, ...]) -> ir.Leaf:
    make, *args = made
    return ir.Leaf(runtime, make(*args), type_)


def loads(data: bytes, part: Callable[[str], Any]) -> Any:
    """Reads a message; `part` gets the things that it names."""
    return _Unpickler(BytesIO(data), part).load()


def loads_part(data: bytes, part: Callable[[str], Any]) -> Any:
    """Reads a part."""
    make, *args = loads(data, part)
    return make(*args)


@final
class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # it has no types
    def __init__(self, file: BytesIO, name: Callable[[Any], str | None]) -> None:
        super().__init__(file, protocol=_PROTOCOL)
        self._name = name

    def persistent_id(self, thing: Any) -> str | None:
        """The name of a part."""
        return self._name(thing)

    def reducer_override(self, thing: Any) -> Any:
        """Zeros as their shape; functions by value."""
        if type(thing) is np.ndarray and _is_zero(thing):
            return np.zeros, (thing.shape, thing.dtype)
        return super().reducer_override(thing)


def _is_zero(array: Any) -> bool:
    """Whether all bytes are zero: a negative zero is none."""
    is_plain = array.flags.c_contiguous and not array.dtype.hasobject
    if not is_plain or array.nbytes < _MIN_BYTES:
        return False
    data = array.reshape(-1).view(np.uint8)
    return not data[:64].any() and not data.any()


@final
class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BytesIO, part: Callable[[str], Any]) -> None:
        super().__init__(file)
        self._part = part

    def persistent_load(self, name: str) -> Any:
        """The part of that name."""
        return self._part(name)
