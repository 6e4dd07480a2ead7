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
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from threading import RLock
from typing import Any, final

import cloudpickle
import numpy as np

from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.remote.data import Loader, Shipped

_PROTOCOL = 5
_MAX_PARTS = 4096
# From this size on, arrays of zeros travel as their shape: a fold begins with them.
_MIN_BYTES = 1024


@final
@dataclass(frozen=True)
class Packed:
    """Bytes, and the names of all parts that are needed to read them."""

    data: bytes
    parts: frozenset[str]


@final
@dataclass(frozen=True, eq=False)
class _Part:
    """Something with a name, kept as long as its name may be used."""

    thing: Any
    name: str
    packed: list[Packed]


@final
class Library:
    """The parts that one coordinator has named."""

    def __init__(self) -> None:
        self.prefix = uuid.uuid4().hex[:8]
        self._numbers = itertools.count()
        self._parts: OrderedDict[int, _Part] = OrderedDict()
        self._by_name: dict[str, _Part] = {}
        self._lock = RLock()

    def dumps(self, thing: Any) -> Packed:
        """The bytes of a message."""
        file, named = BytesIO(), set[str]()
        _Pickler(file, partial(self._named, named)).dump(thing)
        needed = set(named)
        for name in named:
            if not isinstance(self._by_name[name].thing, Shipped):  # it names nothing
                needed |= self.part(name).parts
        return Packed(file.getvalue(), frozenset(needed))

    def part(self, name: str) -> Packed:
        """The bytes of a part."""
        part = self._by_name[name]
        if part.packed:
            return part.packed[0]
        packed = self._pack(part.thing)
        if not isinstance(part.thing, Shipped):  # those are large, and seldom lost
            part.packed.append(packed)
        return packed

    def _named(self, named: set[str], thing: Any) -> str | None:
        if not _is_part(thing):
            return None
        key = id(thing.code) if isinstance(thing, ir.Leaf) else id(thing)
        with self._lock:
            if key not in self._parts:
                name = f"{self.prefix}-{next(self._numbers)}"
                self._parts[key] = self._by_name[name] = _Part(thing, name, [])
            self._parts.move_to_end(key)
            while len(self._parts) > _MAX_PARTS:
                _, old = self._parts.popitem(last=False)
                del self._by_name[old.name]
            named.add(self._parts[key].name)
            return self._parts[key].name

    def _pack(self, thing: Any) -> Packed:
        match thing:
            case ir.Leaf(runtime, code, type_):
                try:
                    return self.dumps((_leaf, runtime, type_, _made(code)))
                except Exception:  # what a function holds may not travel: its graph may
                    return self.dumps((ir.Leaf, runtime, code, type_))
            case ir.Literal(value, type_):
                return self.dumps((ir.Literal, value, type_))
            case Loader(load, type_, key):
                return self.dumps((Loader, load, type_, key))
            case _:
                return self.dumps((Shipped, thing.member))


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
