# SPDX-License-Identifier: Apache-2.0
"""The executor of a group of clients whose stack is in another process.

It writes down what it is asked for (`expressions.py`), and sends it in one message when
a result is wanted: a result at the server at once, so that all groups work side by
side; any other one when it is materialized. It holds no data and keeps no connection;
the dispatcher does (`dispatcher.py`).
"""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, final

from fedlearn_edu.executors.base import (
    Executor,
    ExecutorValue,
    as_struct,
    check_call,
    check_owned,
    position,
    resolve,
)
from fedlearn_edu.executors.driving import Begun, is_in_place
from fedlearn_edu.remote.data import in_memory, to_ship
from fedlearn_edu.remote.expressions import (
    Embedded,
    Expression,
    Given,
    Selected,
    Structure,
    call,
)
from fedlearn_edu.signals import add_place
from fedlearn_edu.types import SERVER, FederatedType, StructType, Type
from fedlearn_edu.types.data_types import struct_type
from fedlearn_edu.types.sequences import Members


@final
@dataclass(frozen=True)
class Group:
    """Some clients, and the stack they need.

    Attributes:
        clients: their numbers.
        max_fanout: how many a group has at most.
        runtimes: what their leaf code needs.
    """

    clients: range
    max_fanout: int
    runtimes: frozenset[str]

    @property
    def who(self) -> str:
        """The clients, as messages call them."""
        match len(self.clients):
            case 0:
                return "no clients"
            case 1:
                return f"client {self.clients[0]}"
        return f"clients {self.clients[0]} to {self.clients[-1]}"


Send = Callable[[Group, Expression], Coroutine[Any, Any, Any]]


@final
class RemoteValue(ExecutorValue):
    """The expression of a value, and its plain form once it was asked for."""

    def __init__(
        self, owner: "RemoteExecutor", expression: Expression, type_: Type
    ) -> None:
        self.owner = owner
        self.expression = expression
        self._type = type_
        self._result: Begun[Any] | None = None

    @property
    def type_signature(self) -> Type:
        """The type of the value."""
        return self._type

    def begin(self) -> Begun[Any]:
        """Sends the expression, unless it was sent before."""
        if self._result is None:
            self._result = Begun(self.owner.send(self.expression))
        return self._result

    async def compute(self) -> Any:
        """The plain form, made by a worker."""
        return await self.begin()


def _to_ship(value: Any, type_: Type, clients: range) -> Any:
    """Clients' data one by one, so that those of a placed value travel only once."""
    if not isinstance(type_, FederatedType) or type_.all_equal:
        return in_memory(value, type_)
    if isinstance(value, Members):
        return value
    found = []
    for client, member in zip(clients, value, strict=True):
        try:
            found.append(to_ship(member, type_.member))
        except Exception as error:
            add_place(error, f"at client {client}")  # reading it runs the user's code
            raise
    return found


@final
class RemoteExecutor(Executor):
    """A federated stack over a group of clients, in another process.

    Args:
        group: which clients, and which stack.
        send: evaluates an expression at a worker.

    Source: `tff.framework.RemoteExecutor`.
    """

    def __init__(self, group: Group, send: Send) -> None:
        self._group = group
        self._send = send

    async def send(self, expression: Expression) -> Any:
        """The plain value of an expression."""
        return await self._send(self._group, expression)

    async def create_value(
        self, value: Any, type_spec: Type | None = None
    ) -> RemoteValue:
        """Notes a plain value or a tree."""
        node, type_ = resolve(value, type_spec)
        if node is not None:
            return RemoteValue(self, Embedded(node, type_), type_)
        data = Given(_to_ship(value, type_, self._group.clients))
        return RemoteValue(self, Embedded(data, type_), type_)

    async def create_call(
        self, comp: ExecutorValue, arg: ExecutorValue | None = None
    ) -> RemoteValue:
        """Notes a call; a result at the server is begun, since it will be wanted."""
        fn = check_owned(comp, RemoteValue, self)
        argument = None if arg is None else check_owned(arg, RemoteValue, self)
        result = check_call(fn, argument).result
        below = None if argument is None else argument.expression
        value = RemoteValue(self, call(fn.expression, below), result)
        at_server = isinstance(result, FederatedType) and result.placement is SERVER
        if at_server and not is_in_place():
            await value.begin()  # as other groups do meanwhile
        return value

    async def create_struct(self, elements: Any) -> RemoteValue:
        """Notes values side by side."""
        fields = as_struct(elements)
        values = [check_owned(field, RemoteValue, self) for field in fields]
        types = tuple([value.type_signature for value in values])
        parts = fields.with_values([value.expression for value in values])
        return RemoteValue(self, Structure(parts), struct_type(fields.names(), types))

    async def create_selection(
        self, source: ExecutorValue, index: int | None = None, name: str | None = None
    ) -> RemoteValue:
        """Notes a selection."""
        value = check_owned(source, RemoteValue, self)
        at = position(value.type_signature, index, name)
        assert isinstance(value.type_signature, StructType)
        expression = Selected(value.expression, at)
        return RemoteValue(self, expression, value.type_signature[at])

    def close(self) -> None:
        """There is nothing to release: workers keep caches only."""
