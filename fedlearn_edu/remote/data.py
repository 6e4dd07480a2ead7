# SPDX-License-Identifier: Apache-2.0
"""Clients' data at workers: made there by a loader, or shipped there once.

The coordinator keeps what is needed to have them once more at another worker: the
loader, or the data themselves.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedlearn_edu.signals import add_place
from fedlearn_edu.structure import Tree, leaves, tree_map
from fedlearn_edu.types import FederatedType, Type, normalize
from fedlearn_edu.types.sequences import (
    Cached,
    DatasetSequence,
    LazySequence,
    Members,
    cache,
)


@final
@dataclass(frozen=True, eq=False)
class Loader:
    """Makes the data of a client, in plain form, in the process that uses them.

    Attributes:
        load: from a client's id to its data; the same data each time.
        type: the type of one client's data.
        key: tells it from other loaders.
    """

    load: Callable[[Any], Any]
    type: Type
    key: str

    @property
    def name(self) -> str:
        """What the function is called."""
        return getattr(self.load, "__name__", type(self.load).__name__)

    def __call__(self, client: Any) -> Any:
        """The data of one client; an error says whose they were to be."""
        place = f"{self.name}({client!r})"
        try:
            data = self.load(client)
        except Exception as error:
            add_place(error, f"in {place}")
            raise
        plain = in_memory(normalize(data, self.type, place), self.type)
        return cache(plain, self.type)


@final
@dataclass(frozen=True, eq=False)
class Shipped:
    """The data of one client, which travel as they are."""

    member: Any


def to_ship(plain: Any, type_: Type) -> Any:
    """What stands for the data of a client; the same for the same placed data."""
    parts = leaves(plain)
    if not parts or not all(isinstance(part, Cached) for part in parts):
        return in_memory(plain, type_)
    key = ("shipped", *map(id, parts))
    return parts[0].form(key, lambda _: Shipped(plain))


def in_memory(plain: Any, type_: Type) -> Any:
    """The same plain data; what is read lazily is read to its end."""
    if isinstance(plain, Members) or not type_.contains(Type.is_sequence):
        return plain
    match type_:
        case FederatedType(member, _, True):
            return in_memory(plain, member)
        case FederatedType(member, _, _):
            return tuple([in_memory(one, member) for one in plain])
        case _:
            return tree_map(_read, type_, plain)


def _read(type_: Type, plain: Any) -> Any:
    is_lazy = isinstance(plain, LazySequence | DatasetSequence)
    return tuple(plain) if is_lazy else plain


def arrays(plain: Any) -> Iterator[Any]:
    """The tensors of plain data."""
    match plain:
        case Cached(plain=inner):
            yield from arrays(inner)
        case Tree() | tuple() | list():
            for part in plain:
                yield from arrays(part)
        case _:
            yield np.asarray(plain)


def fingerprint(plain: Any) -> tuple[str, int]:
    """A digest of plain data, and how many bytes they have."""
    digest, size = hashlib.sha256(), 0
    for array in arrays(plain):
        digest.update(repr((array.dtype.str, array.shape)).encode())
        is_text = array.dtype.kind == "O"
        data = repr(array.tolist()).encode() if is_text else array.tobytes()
        digest.update(data)
        size += len(data)
    return digest.hexdigest(), size
