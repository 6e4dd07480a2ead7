# SPDX-License-Identifier: Apache-2.0
"""Numbers for pictures, taken from a real run: who was asked for what, and what it was.

A stack built by hand, as `framework` offers it, with an executor around each
participant that writes down every call and every value that leaves. Nothing is computed
here.

    ReferenceResolving → Federating ─┬─ Watched("server")   → NumPy
                                     └─ Watched("client 0") → NumPy, one per client

With groups, the same above groups: a server over group servers, each with its clients.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedlearn_edu import framework
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import CLIENTS, SERVER, FunctionType

Groups = Sequence[Any]
"""Who is together: client numbers, or groups of groups, as in `[[0, 1], [2]]`."""

_UNTOLD = "unplaced"


@final
@dataclass(frozen=True)
class Call:
    """One function called at one participant.

    Attributes:
        who: `"server"`, `"client 3"`, or the server of a group, `"server 0.1"`.
        argument: what it was called with, in plain form; `None` without one.
        result: what came out, in plain form.
    """

    who: str
    argument: Any
    result: Any


@final
@dataclass(frozen=True)
class Left:
    """One value that left a participant.

    Attributes:
        who: as in `Call`.
        value: in plain form.
    """

    who: str
    value: Any


Seen = Call | Left


@final
class Watched(framework.WrappingExecutor):
    """Does what its target does, and writes down what that was."""

    def __init__(self, target: framework.Executor, who: str, log: list[Seen]) -> None:
        super().__init__(target)
        self._who, self._log = who, log

    def close(self) -> None:
        """Closes the target; the log stays."""
        self.target.close()

    async def create_call(self, comp: Any, arg: Any = None) -> Any:
        """Calls, and looks at the argument and at what came out."""
        result = await super().create_call(comp, arg)
        if not isinstance(result.type_signature, FunctionType):
            argument = None if arg is None else await arg.value.compute()
            call = Call(self._who, argument, await result.value.compute())
            self._log.append(call)
        return result

    async def around(self, what: str, work: Any, subject: Any) -> Any:
        """Runs `work()`; values that leave are written down."""
        result = await work()
        if what == "compute":
            self._log.append(Left(self._who, result))
        return result


def watch(
    program: Any, *args: Any, groups: Groups | None = None
) -> tuple[Any, list[Seen]]:
    """Runs a program on NumPy and returns its result, and all that was seen.

    Args:
        program: a computation, or a function to call.
        args: its arguments.
        groups: the clients of each group; without it there is one group of all.

    Raises:
        FedLearnError: whatever the run raises.
    """
    log: list[Seen] = []

    def build(cardinalities: Any) -> framework.Executor:
        clients = range(cardinalities.get(CLIENTS, 0))
        below, _ = _stack(groups or clients, "server", log)
        return framework.ReferenceResolvingExecutor(below)

    native = set(framework.FederatedResolvingStrategy.implemented)
    if groups is not None:
        native &= set(framework.FederatedComposingStrategy.implemented)
    factory = framework.CustomExecutorFactory(build, native)
    with framework.SyncExecutionContext(factory):
        return program(*args), log


def _stack(group: Groups, name: str, log: list[Seen]) -> tuple[framework.Executor, int]:
    """The stack of a group, and how many clients it has."""
    server = _participant(name, log)
    strategy: Any
    if all(isinstance(member, int) for member in group):
        targets: dict[Any, Any] = {
            SERVER: server,
            CLIENTS: [_participant(f"client {i}", log) for i in group],
        }
        strategy, count = (
            framework.FederatedResolvingStrategy.factory(targets),
            len(group),
        )
    else:
        path = name.removeprefix("server").strip()
        names = [f"server {path}.{i}".replace(" .", " ") for i in range(len(group))]
        parts = [_stack(g, each, log) for g, each in zip(group, names, strict=True)]
        counts = [count for _, count in parts]
        strategy = framework.FederatedComposingStrategy.factory(
            server, [executor for executor, _ in parts], counts
        )
        count = sum(counts)
    unplaced = _participant(_UNTOLD, log)
    return framework.FederatingExecutor(strategy, unplaced), count


def _participant(who: str, log: list[Seen]) -> framework.Executor:
    leaf = framework.ReferenceResolvingExecutor(framework.NumPyExecutor())
    return Watched(leaf, who, log)


def numbers(value: Any) -> tuple[Any, ...]:
    """The numbers in a plain value, one after the other.

    >>> numbers(Struct([(None, Struct([(None, 1.0), (None, 2.0)])), (None, 3)]))
    (1.0, 2.0, 3)
    """
    return tuple(_each(value))


def _each(value: Any) -> Iterator[Any]:
    if isinstance(value, Struct | tuple):
        for part in value:
            yield from _each(part)
    else:
        yield value.item() if isinstance(value, np.generic | np.ndarray) else value
