# SPDX-License-Identifier: Apache-2.0
"""What the server sees of its clients, by the intrinsics that send it."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, final

from fedlearn_edu.dataflow.flow import Flow, Item, Lane, Node
from fedlearn_edu.dataflow.from_ir import UNKNOWN_CALL, read
from fedlearn_edu.errors import TypeMismatchError, describe, short_traceback
from fedlearn_edu.language.computation import (
    Computation,
    PolymorphicComputation,
    check_closed,
)
from fedlearn_edu.types import Type
from fedlearn_edu.types.messages import clip


@final
class Exposure(StrEnum):
    """How much of a client's value the server sees.

    `SINGLE`: the value. `COMBINED`: one value made of those of all clients. `MASKED`:
    their sum, and masks hide each of them from the machine that adds up. `UNKNOWN`:
    anything up to the value; the program does not say.
    """

    SINGLE = "single"
    COMBINED = "combined"
    MASKED = "masked"
    UNKNOWN = "unknown"


_ONE_BY_ONE = Exposure.SINGLE, "one by one: each is seen"
_MASKED = Exposure.MASKED, "masked: only the sum is seen"
_AS_WEIGHT = Exposure.COMBINED, "as a weight"
_UNKNOWN = Exposure.UNKNOWN, "in a way that is not known here"
WAYS = {
    "federated_collect": _ONE_BY_ONE,
    "federated_select": _ONE_BY_ONE,
    "federated_sum": (Exposure.COMBINED, "added up"),
    "federated_mean": (Exposure.COMBINED, "averaged"),
    "federated_weighted_mean": (Exposure.COMBINED, "averaged by weight"),
    "federated_max": (Exposure.COMBINED, "the largest counts"),
    "federated_min": (Exposure.COMBINED, "the smallest counts"),
    "federated_aggregate": (Exposure.COMBINED, "folded into one"),
    "federated_reduce": (Exposure.COMBINED, "folded into one"),
    "federated_secure_sum": _MASKED,
    "federated_secure_modular_sum": _MASKED,
}


@final
@dataclass(frozen=True)
class SentValue:
    """What each client sends to the server.

    Attributes:
        path: where it is from, as the program calls it: `sent.update`.
        type: of one client's value.
        intrinsic: what sends it.
        exposure: how much of it the server sees.
        way: the same in a few words.
        nbytes: the size of one client's value; `None` if the type does not say.
    """

    path: str
    type: Type
    intrinsic: str
    exposure: Exposure
    way: str
    nbytes: int | None


@final
@dataclass(frozen=True, repr=False)
class ServerView:
    """What the server sees of its clients in a program; printed, a table.

    Attributes:
        name: of the computation.
        values: what each client sends, in order.
    """

    name: str
    values: tuple[SentValue, ...]

    def of(self, exposure: str) -> tuple[SentValue, ...]:
        """The values that are seen so: `"single"`, `"combined"`, and so on."""
        return tuple(value for value in self.values if value.exposure == exposure)

    @property
    def sentence(self) -> str:
        """The table in a sentence."""
        if not self.values:
            return f"{self.name}: nothing of a client reaches the server."
        unknown, single = (
            " and ".join(dict.fromkeys(value.path for value in self.of(exposure)))
            for exposure in (Exposure.UNKNOWN, Exposure.SINGLE)
        )
        if unknown:
            seen = f"; it sees each client's {single}" if single else ""
            when = "is not known before the program is called"
            return f"{self.name}: what the server sees of {unknown} {when}{seen}."
        if single:
            return f"{self.name}: the server sees each client's {single}."
        if self.of(Exposure.COMBINED):
            seen = "the server's program sees no single client's value"
            return f"{self.name}: {seen}; the machine that combines them could."
        return f"{self.name}: the server sees sums alone; masks hide what is added up."

    def __repr__(self) -> str:
        if not self.values:
            return self.sentence
        rows = [("value", "type", "bytes", "sent by", "how it is seen")]
        rows += [
            (v.path, clip(v.type), _size(v.nbytes), v.intrinsic, v.way)
            for v in self.values
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = []
        for row in rows:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            cells[2] = row[2].rjust(widths[2])
            lines.append("  ".join(cells))
        return "\n".join([self.sentence, *map(str.rstrip, lines)])


def _size(nbytes: int | None) -> str:
    return "varies" if nbytes is None else f"{nbytes:,}"


@short_traceback
def what_the_server_sees(program: Any) -> ServerView:
    """Lists what of its clients reaches the server in a program, and in which way.

    The program is read, not run. Each value is seen in one of these ways:

    - one by one, after `federated_collect`, or as keys of `federated_select`: the
      server sees each client's value;
    - combined with those of other clients, as a sum, mean, extreme or fold: the
      program sees one value made of all. The machine that combines them gets each of
      them, and has to be trusted with it;
    - masked, by secure sums: that machine, too, can know no more than the sum;
    - in a way that is not known, where the program calls a function that is its
      parameter, or an intrinsic that is not of this package: perhaps one by one.

    It is the program that is judged, not its data or code. A sum of one client's value
    is that value, masked or not, so a round needs several clients. The largest value
    is that of some client. A fold (`federated_aggregate`, `federated_reduce`) is called
    combined, though an accumulator with room for all values, such as a list, keeps each
    of them: no type tells. `{T}@CLIENTS` results stay with the clients.

    Args:
        program: a computation with types; or what has one as `next`, such as a learning
            process.

    Raises:
        ContextError: if it uses values of the computation it was defined in.
        TypeMismatchError: if it is no computation with types.

    >>> import numpy as np
    >>> import fedlearn_edu as fl
    >>> @fl.federated_computation(
    ...     fl.type_at_clients((np.float32, [10])), fl.type_at_clients(np.int32)
    ... )
    ... def gather(update, count):
    ...     total = fl.federated_secure_sum(count, 1000)
    ...     return fl.federated_collect(update), fl.federated_mean(update), total
    >>> fl.what_the_server_sees(gather)
    gather: the server sees each client's update.
    value   type         bytes  sent by               how it is seen
    count   int32            4  federated_secure_sum  masked: only the sum is seen
    update  float32[10]     40  federated_collect     one by one: each is seen
    update  float32[10]     40  federated_mean        averaged
    """
    computation = program if isinstance(program, Computation) else _next_of(program)
    check_closed(computation)
    flow = read(computation, named=WAYS.keys())
    return ServerView(flow.name, tuple(_values(flow)))


def reveals(flow: Flow, message: Node) -> bool:
    """Whether the server sees in a message what a single client sent."""
    to_server = message.lane is Lane.SERVER and flow.origin(message) is Lane.CLIENTS
    return to_server and WAYS.get(message.name) == _ONE_BY_ONE


def _values(flow: Flow) -> Iterator[SentValue]:
    for message in flow.messages(Lane.SERVER):
        is_unknown = message.name == UNKNOWN_CALL and message.items
        if is_unknown or flow.origin(message) is Lane.CLIENTS:
            way = WAYS.get(message.name, _UNKNOWN)
            for item in message.items[:-1]:
                yield _value(item, message.name, *way)
            is_weight = message.name == "federated_weighted_mean"
            way = _AS_WEIGHT if is_weight else way
            yield _value(message.items[-1], message.name, *way)


def _value(item: Item, intrinsic: str, exposure: Exposure, way: str) -> SentValue:
    path, size = item.name or "a value", item.size_bytes
    return SentValue(path, item.type, intrinsic, exposure, way, size)


def _next_of(program: Any) -> Computation:
    """The round of a process.

    Raises:
        TypeMismatchError: if it is none.
    """
    found = getattr(program, "next", None)
    if isinstance(found, Computation):
        return found
    cure = "pass what federated_computation returned, or a learning process"
    if isinstance(program, PolymorphicComputation):
        cure = "give it types where it is decorated: it has none before it is called"
    raise TypeMismatchError(
        "only a computation with types says what the server sees",
        expected="a computation with types, or a process with such a computation, next",
        found=describe(program),
        do=cure,
    )
