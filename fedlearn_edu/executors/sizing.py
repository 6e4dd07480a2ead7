# SPDX-License-Identifier: Apache-2.0
"""Counting what crosses the edge of an executor, in bytes, by direction and type.

Wrapped around each client's stack it measures communication: what is embedded went
*down* to the client, what is computed came *up*. Sequences do not count: a client's
data set stays where it is. Of a function, only captured values count.
"""

import math
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from fedlearn_edu.executors.base import Executor, as_node
from fedlearn_edu.executors.wrapping import EventKind, Work, WrappingExecutor
from fedlearn_edu.ir.traversal import captured_constants
from fedlearn_edu.structure import Struct, leaves
from fedlearn_edu.types import FederatedType, TensorType, Type
from fedlearn_edu.types.sequences import unwrap


@final
@dataclass(frozen=True)
class SizeInfo:
    """Bytes that crossed, by type in the notation.

    Attributes:
        down: bytes embedded, from above into the sized executors.
        up: bytes computed, out of the sized executors.
    """

    down: dict[str, int] = field(default_factory=dict)
    up: dict[str, int] = field(default_factory=dict)

    @property
    def bytes_down(self) -> int:
        """All bytes that went down."""
        return sum(self.down.values())

    @property
    def bytes_up(self) -> int:
        """All bytes that came up."""
        return sum(self.up.values())


@final
class Meter:
    """Adds up bytes from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.reset()

    def add(self, direction: str, type_: Type, plain: Any) -> None:
        """Counts one value that crossed, `"down"` or `"up"`."""
        if size := size_bytes(plain):
            with self._lock:
                self._counts[direction][str(type_)] += size

    def read(self) -> SizeInfo:
        """What has crossed so far."""
        with self._lock:
            return SizeInfo(**{d: dict(count) for d, count in self._counts.items()})

    def reset(self) -> None:
        """Starts again from zero."""
        with self._lock:
            self._counts = {"down": Counter[str](), "up": Counter[str]()}


def size_bytes(plain: Any) -> int:
    """The size of a value in plain form: numbers by dtype, text by length.

    >>> size_bytes(np.zeros([10], np.float32))
    40
    """
    match plain:
        case Struct():
            return sum(map(size_bytes, plain))
        case bytes():
            return len(plain)
        case np.ndarray() if plain.dtype == object:
            return sum(len(text) for text in plain.flat)
        case np.ndarray() | np.generic():
            return int(plain.nbytes)
        case _:
            return 0


def size_of(type_: Type) -> int | None:
    """How many bytes the numbers of one value have; `None` if the type does not say.

    >>> import fedlearn_edu as fl
    >>> size_of(fl.parse_type("<w=float32[784,10],b=float32[10]>"))
    31400
    >>> print(size_of(fl.parse_type("float32[?]")))
    None
    """
    sizes = list(map(_size_of_leaf, leaves(type_)))
    return None if None in sizes else sum(filter(None, sizes))


def type_bytes(type_: Type) -> int:
    """The size of a value of that type, 0 for the parts whose size is not known.

    >>> import fedlearn_edu as fl
    >>> type_bytes(fl.to_type([(np.float32, [784, 10]), np.int32]))
    31364
    """
    return sum(filter(None, map(_size_of_leaf, leaves(type_))))


def _size_of_leaf(type_: Type) -> int | None:
    match type_:
        case FederatedType(member=member):
            return size_of(member)
        case TensorType(dtype=dtype) if type_.has_static_shape and dtype.kind != "O":
            return int(dtype.itemsize * math.prod(type_.shape or ()))  # type: ignore[arg-type]
        case _:
            return None


@final
class SizingExecutor(WrappingExecutor):
    """Measures what goes into its target and comes out of it.

    Source: `tff.framework.SizingExecutor`.
    """

    def __init__(self, target_executor: Executor, meter: Meter) -> None:
        super().__init__(target_executor)
        self._meter = meter

    async def around(self, what: EventKind, work: Work, subject: Any) -> Any:
        """Runs `work()` and counts plain data that went in or came out."""
        result = await work()
        node = as_node(subject)
        if what is EventKind.COMPUTE:
            self._meter.add("up", subject.type_signature, result)
        elif what is EventKind.CREATE_VALUE and node is None:
            self._meter.add("down", result.type_signature, unwrap(subject))
        elif what is EventKind.CREATE_VALUE and node is not None:
            for literal in captured_constants(node):
                self._meter.add("down", literal.type, literal.value)
        return result
