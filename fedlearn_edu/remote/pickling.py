# SPDX-License-Identifier: Apache-2.0
"""How messages become bytes: what workers keep travels once, and then by name.

Leaf code, constants, loaders and shipped data are *parts*: a message only names them.
Their own bytes are sent to a worker that does not have them, and may name other parts.
So is the form of a message, which is the same round after round: trees and types, with
holes. What a round brings travels: the name of a form, and what fills its holes.
Leaf code travels as what made it, functions by value (cloudpickle), so that a worker
can run many clients together as this process could; where that fails, as its graph.
"""

import inspect
import itertools
import pickle
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from io import BytesIO
from threading import RLock
from typing import Any, final
from weakref import WeakKeyDictionary

import cloudpickle
import numpy as np

from fedlearn_edu.errors import TypeMismatchError
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.remote.data import Loader, Shipped
from fedlearn_edu.remote.expressions import Given
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import Type
from fedlearn_edu.types.references import ValueReference
from fedlearn_edu.types.sequences import Members

_PROTOCOL = 5
_MAX_FORMS = 256
_MAX_TYPES = 1024
# From this size on, arrays of zeros travel as their shape: a fold begins with them.
_MIN_BYTES = 1024
# What nearly every message mentions; a number is shorter than a module and a name.
_KNOWN: tuple[Any, ...] = (
    *(Struct, Members, range, np.zeros),
    *(np.zeros(1).__reduce_ex__(_PROTOCOL)[0], np.float32(0).__reduce__()[0]),
    *map(np.dtype, ("float32", "float64", "int32", "int64", "bool")),
)
_NUMBERS = {id(thing): ~number for number, thing in enumerate(_KNOWN)}


@final
@dataclass(frozen=True)
class Packed:
    """Bytes, and by name all parts that are needed to read them.

    Messages have a `form`, by which they are alike from round to round.
    """

    data: bytes
    parts: Mapping[str, Any]
    form: Any = None


@final
@dataclass(frozen=True, eq=False)
class _Form:
    """A message with holes, and the parts it names."""

    data: bytes
    parts: Mapping[str, Any]


@final
class Library:
    """The parts that one coordinator has named, for as long as they exist."""

    def __init__(self) -> None:
        self.prefix = uuid.uuid4().hex[:8]
        self._numbers = itertools.count()
        self._names = WeakKeyDictionary[Any, str]()
        self._globals = WeakKeyDictionary[Any, list[Any]]()
        self._packed = WeakKeyDictionary[Any, Packed]()
        self._forms = OrderedDict[bytes, _Form]()
        self._lock = RLock()

    def message(self, thing: Any) -> Packed:
        """The bytes of a message."""
        file, named, given = BytesIO(), dict[str, Any](), list[Any]()

        def name(part: Any) -> str | int | None:
            if not _is_given(part):
                return self._named(named, part)
            given.append(part.value if isinstance(part, Given) else part)
            return len(given) - 1

        _Pickler(file, name).dump(thing)
        form = self._form(file.getvalue(), named)
        return replace(self.dumps((form, *given)), form=form)

    def _form(self, data: bytes, parts: Mapping[str, Any]) -> _Form:
        with self._lock:
            form = self._forms.setdefault(data, _Form(data, parts))
            self._forms.move_to_end(data)
            while len(self._forms) > _MAX_FORMS:
                self._forms.popitem(last=False)
            return form

    def dumps(self, thing: Any) -> Packed:
        """The bytes of anything."""
        file, named = BytesIO(), dict[str, Any]()
        _Pickler(file, partial(self._named, named)).dump(thing)
        return self._with_parts(file.getvalue(), named)

    def _with_parts(self, data: bytes, named: Mapping[str, Any]) -> Packed:
        parts = dict(named)
        for part in named.values():
            if not isinstance(part, Shipped | ValueReference):  # they name nothing
                parts |= self.part(part).parts
        return Packed(data, parts)

    def part(self, thing: Any) -> Packed:
        """The bytes of a part."""
        if isinstance(thing, Shipped):  # large, and sent once to a worker
            return self._pack(thing)
        with self._lock:
            key = _key(thing)
            if key not in self._packed:
                self._packed[key] = self._pack(thing)
            return self._packed[key]

    def names(self) -> frozenset[str]:
        """The names of all parts that exist."""
        with self._lock:
            return frozenset(self._names.values())

    def _named(self, named: dict[str, Any], thing: Any) -> str | None:
        if not _is_part(thing):
            return None
        if isinstance(thing, ValueReference):
            named[thing.name] = thing
            return thing.name
        key, uses = _key(thing), _globals(thing)
        with self._lock:
            if not _are_same(self._globals.setdefault(key, uses), uses):
                self._globals[key] = uses
                del self._names[key]
                self._packed.pop(key, None)
            if key not in self._names:
                self._names[key] = f"{self.prefix}-{next(self._numbers)}"
            named[self._names[key]] = thing
            return self._names[key]

    def _pack(self, thing: Any) -> Packed:
        match thing:
            case ir.Leaf(runtime, code, type_):
                try:
                    return self.dumps((_leaf, runtime, type_, _made(code)))
                except Exception as error:
                    return self._by_graph(thing, error)
            case ir.Literal(value, type_):
                return self.dumps((ir.Literal, value, type_))
            case Loader(load, type_, key):
                return self.dumps((Loader, load, type_, key))
            case _Form(data, parts):
                return self._with_parts(pickle.dumps((bytes, data)), parts)
            case _:
                return self.dumps((Shipped, thing.member))

    def _by_graph(self, leaf: ir.Leaf, error: Exception) -> Packed:
        """A function may hold what cannot travel; its graph may do."""
        with suppress(Exception):
            return self.dumps((ir.Leaf, leaf.runtime, leaf.code, leaf.type))
        fn = getattr(leaf.code, "fn", None)
        raise cannot_travel(fn, leaf.code.name, error) from None


def cannot_travel(fn: Any, name: str, error: Exception) -> TypeMismatchError:
    """The error for a function that holds what belongs to this process."""
    held = inspect.getclosurevars(fn) if inspect.isfunction(fn) else None
    found = str(error)
    for variable, value in ({**held.globals, **held.nonlocals} if held else {}).items():
        try:
            cloudpickle.dumps(value)
        except Exception as cause:
            found = f"its variable {variable}: {cause}"
            break
    return TypeMismatchError(
        f"{name} cannot travel to a worker",
        expected="a function that uses numbers, arrays, modules and such functions",
        found=found,
        where=name,
        do="open, connect or create it inside of the function, where it runs",
    )


def _globals(part: Any) -> list[Any]:
    """What the names in NumPy code mean now: it is looked up whenever the code runs."""
    fn: Any = getattr(part.code, "fn", None) if isinstance(part, ir.Leaf) else None
    if not hasattr(fn, "__code__"):
        return []
    return [fn.__globals__.get(name) for name in fn.__code__.co_names]


def _are_same(some: list[Any], others: list[Any]) -> bool:
    return all(one is other for one, other in zip(some, others, strict=True))


def _key(part: Any) -> Any:
    """What stands for a part: its code, which trees mention in several places."""
    return part.code if isinstance(part, ir.Leaf) else part


def _is_part(thing: Any) -> bool:
    match thing:
        case Loader() | Shipped() | ValueReference() | _Form():
            return True
        case ir.Leaf(runtime=runtime):
            return runtime != ir.ANY_RUNTIME
        case ir.Literal(captured_as=captured_as):  # others differ from call to call
            return captured_as is None
        case _:
            return False


def _is_given(thing: Any) -> bool:
    """Whether it may differ from round to round."""
    match thing:
        case Given() | range():
            return True
        case ir.Literal(captured_as=captured_as):
            return captured_as is not None
        case _:
            return False


_MAY_HAVE_A_NAME = {
    *(Loader, Shipped, ValueReference, _Form, Given, range),
    *(ir.Leaf, ir.Literal),
}


def _made(code: Any) -> tuple[Any, ...]:
    origin = getattr(code, "origin", None)
    return (_same, code) if origin is None else (origin[0], *origin[1])


def _same(code: Any) -> Any:
    return code


def _leaf(runtime: str, type_: Any, made: tuple[Any, ...]) -> ir.Leaf:
    make, *args = made
    return ir.Leaf(runtime, make(*args), type_)


def loads_message(data: bytes, part: Callable[[str], Any]) -> Any:
    """Reads a message; `part` gets the things that it names."""
    form, *given = loads(data, part)

    def found(name: str | int) -> Any:
        return given[name] if isinstance(name, int) else part(name)

    return loads(form, found)


def loads(data: bytes, part: Callable[[Any], Any]) -> Any:
    """The inverse of `Library.dumps`."""
    return _Unpickler(BytesIO(data), part).load()


def value_part(plain: Any) -> bytes:
    """The bytes of a part that is a value."""
    return Library().dumps((_same, plain)).data


def loads_part(data: bytes, part: Callable[[str], Any]) -> Any:
    """Reads a part."""
    make, *args = loads(data, part)
    return make(*args)


@final
class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # it has no types
    def __init__(self, file: BytesIO, name: Callable[[Any], str | int | None]) -> None:
        super().__init__(file, protocol=_PROTOCOL)
        self._name = name

    def persistent_id(self, thing: Any) -> str | int | None:
        """The name of a part, or the number of a hole or of what is known."""
        # Asked of every string and number, too, and most things have none.
        name = self._name(thing) if type(thing) in _MAY_HAVE_A_NAME else None
        return name if name is not None else _NUMBERS.get(id(thing))

    def reducer_override(self, thing: Any) -> Any:
        """Zeros as their shape; types as bytes; functions by value."""
        if type(thing) is np.ndarray and _is_zero(thing):
            return np.zeros, (thing.shape, thing.dtype)
        if isinstance(thing, Type):
            return _read_type, (_type_bytes(thing),)
        return super().reducer_override(thing)


@lru_cache(_MAX_TYPES)  # a message has many, and all messages have the same
def _type_bytes(type_: Type) -> bytes:
    # By value: it may have a container of the notebook.
    data: bytes = cloudpickle.dumps(type_, _PROTOCOL)
    return data


@lru_cache(_MAX_TYPES)
def _read_type(data: bytes) -> Any:
    return pickle.loads(data)


def _is_zero(array: Any) -> bool:
    """Whether all bytes are zero: a negative zero is none."""
    is_plain = array.flags.c_contiguous and not array.dtype.hasobject
    if not is_plain or array.nbytes < _MIN_BYTES:
        return False
    data = array.reshape(-1).view(np.uint8)
    return not data[:64].any() and not data.any()


@final
class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BytesIO, part: Callable[[Any], Any]) -> None:
        super().__init__(file)
        self._part = part

    def persistent_load(self, name: Any) -> Any:
        """The part of that name, or what fills that hole, or what is known."""
        is_known = isinstance(name, int) and name < 0
        return _KNOWN[~name] if is_known else self._part(name)
