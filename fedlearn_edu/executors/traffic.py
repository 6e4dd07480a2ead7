# SPDX-License-Identifier: Apache-2.0
"""What moves between the participants of a stack, said by the strategy that moves it.

    outside → server, clients     arguments, and what comes with the program
    server  → clients             what is broadcast, what is selected
    clients → server              what is aggregated, keys
    server, clients → outside     what is returned

Sequences do not count: a client's data set stays where it is. Of a function, only
captured values count. Unless a recorder watches, nothing is measured.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np

from fedlearn_edu.executors.base import Executor, ExecutorValue, as_node
from fedlearn_edu.executors.batched import Entries, Same
from fedlearn_edu.executors.recording import (
    Event,
    RecordingExecutor,
    Tape,
    Transfer,
    watching,
)
from fedlearn_edu.executors.wrapping import WrappedValue
from fedlearn_edu.ir.traversal import captured_constants
from fedlearn_edu.structure import Struct, leaves
from fedlearn_edu.types import (
    CLIENTS,
    SERVER,
    FederatedType,
    Placement,
    TensorType,
    Type,
)
from fedlearn_edu.types.sequences import Cached

TO_CLIENTS, TO_SERVER = "server → clients", "clients → server"
INTO_CLIENTS, INTO_SERVER = "outside → clients", "outside → server"
FROM_CLIENTS, FROM_SERVER = "clients → outside", "server → outside"
EDGES = (TO_CLIENTS, TO_SERVER, INTO_CLIENTS, INTO_SERVER, FROM_CLIENTS, FROM_SERVER)
NO_EDGE = ""

INTO = {CLIENTS: INTO_CLIENTS, SERVER: INTO_SERVER}
FROM = {CLIENTS: FROM_CLIENTS, SERVER: FROM_SERVER}


async def sent(edge: str, target: Executor, value: Any, type_: Type) -> ExecutorValue:
    """The value, plain or a function, embedded at a participant: it moved there."""
    handle = await target.create_value(value, type_)
    moved(edge, handle, type_, value)
    return handle


async def fetched(edge: str, value: ExecutorValue) -> Any:
    """A participant's value in plain form: it moved from there."""
    plain = await value.compute()
    moved(edge, value, value.type_signature, plain)
    return plain


def moved(
    edge: str,
    participant: ExecutorValue | None,
    type_: Type,
    plain: Any,
    number: int | None = None,
) -> None:
    """Notes that data crossed an edge, if a recorder watches.

    Args:
        edge: one of `EDGES`; nothing moved if it is empty.
        participant: its handle; `None` for several clients at once.
        type_: of the data.
        plain: the data; a function, whose captured values moved; `Entries`, if there
            are several; or `Same`, of data or a type that says their size.
        number: the event in which they moved, if not the handle's or the current one.
    """
    watch = watching.get()
    if watch is None or watch.tape is None or not edge:
        return
    name = "clients" if "clients" in edge else "server"
    owner = None if participant is None else participant.owner
    if isinstance(participant, WrappedValue) and isinstance(owner, RecordingExecutor):
        name = owner.participant or name
        number = participant.last if owner.tape is watch.tape else None
    number = watch.event.number if number is None else number
    for kind, size in _sizes(type_, plain):
        if size:
            watch.event.moved.append(Transfer(number, edge, name, size, str(kind)))


def inward(placement: Placement) -> str:
    """The edge that is crossed by what is embedded at `placement` just now."""
    return _unless_told(INTO[placement])


def outward(placement: Placement) -> str:
    """The edge that is crossed by what is fetched from `placement` just now."""
    return _unless_told(FROM[placement])


def _unless_told(edge: str) -> str:
    watch = watching.get()
    return edge if watch is None or watch.edge is None else watch.edge


@contextmanager
def crossing(edge: str) -> Iterator[None]:
    """What is embedded or fetched within, here or in a stack below, crosses `edge`.

    Intrinsics embed and fetch as a means: what moves for them, they say themselves.
    """
    watch = watching.get()
    if watch is None:
        yield
        return
    token = watching.set(replace(watch, edge=edge))  # one list of what moved for both
    try:
        yield
    finally:
        watching.reset(token)


# ------------------------------------------------------------------------------ sizes


def _sizes(type_: Type, plain: Any) -> Iterator[tuple[Type, int]]:
    node = as_node(plain)
    if node is not None:
        for constant in captured_constants(node):
            yield constant.type, size_bytes(constant.value)
        return
    match plain:
        case Same(value=value, count=count):
            for kind, size in _sizes(type_, value):
                yield kind, size * count
        case Entries(values=values):
            yield type_, sum(map(size_bytes, values))
        case Type():
            yield type_, sum(_size_of_leaf(leaf) or 0 for leaf in leaves(plain))
        case _:
            yield type_, size_bytes(plain)


def size_bytes(plain: Any) -> int:
    """The size of a value in plain form: numbers by dtype, text by length.

    >>> size_bytes(np.zeros([10], np.float32))
    40
    """
    match plain:
        case Cached():
            return size_bytes(plain.plain)
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


def _size_of_leaf(type_: Type) -> int | None:
    match type_:
        case FederatedType(member=member):
            return size_of(member)
        case TensorType(dtype=dtype) if type_.has_static_shape and dtype.kind != "O":
            return int(dtype.itemsize * math.prod(type_.shape or ()))  # type: ignore[arg-type]
        case _:
            return None


# ---------------------------------------------------------------------------- readers


def transfers(events: Iterable[Event]) -> list[Transfer]:
    """Everything that crossed an edge, in the order of events."""
    found = (transfer for event in events for transfer in event.moved)
    return sorted(found, key=lambda transfer: transfer.number)


def bytes_by_edge(events: Iterable[Event]) -> dict[str, int]:
    """All bytes that crossed, by edge.

    >>> import fedlearn_edu as fl
    >>> with fl.record() as tape:
    ...     total = fl.federated_sum(fl.place([1, 2, 3], fl.CLIENTS))
    >>> bytes_by_edge(tape.events)["clients → server"]
    12
    """
    sums = Counter(dict.fromkeys(EDGES, 0))
    for transfer in transfers(events):
        sums[transfer.edge] += transfer.size
    return dict(sums)


@final
@dataclass(frozen=True)
class SizeInfo:
    """Bytes that crossed to and from clients, by type in the notation.

    Attributes:
        down: what went to clients, from the server or from outside.
        up: what came from clients.
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


def size_info(tape: Tape) -> SizeInfo:
    """What a tape says of clients."""
    down, up = Counter[str](), Counter[str]()
    for (edge, type_), size in tape.sizes.items():
        if edge.endswith("clients"):
            down[type_] += size
        elif edge.startswith("clients"):
            up[type_] += size
    return SizeInfo(dict(down), dict(up))
