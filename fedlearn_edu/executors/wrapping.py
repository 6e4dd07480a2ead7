# SPDX-License-Identifier: Apache-2.0
"""Wrappers: they forward every call unchanged, and do something around it.

`threads.py` adds a thread, `recording.py` a tape, `sizing.py` a byte counter, each in
one method; the calls are forwarded here.
"""

from abc import abstractmethod
from collections.abc import Callable, Coroutine, Iterable
from enum import StrEnum
from functools import partial
from typing import Any, final

from fedlearn_edu.executors.base import Executor, ExecutorValue, as_struct, check_owned
from fedlearn_edu.types import Type

Work = Callable[[], Coroutine[Any, Any, Any]]


@final
class EventKind(StrEnum):
    """What can be recorded: contract calls, and what executors do on their own.

    Members are text, and are shown as such.
    """

    CREATE_VALUE = "create_value"
    CREATE_CALL = "create_call"
    CREATE_STRUCT = "create_struct"
    CREATE_SELECTION = "create_selection"
    COMPUTE = "compute"
    CLOSE = "close"
    CONVERT = "convert"
    BATCHED_CALL = "batched_call"
    # The context's own:
    COMPILED = "compiled"
    BUILT = "built"
    REUSED = "reused"
    AGAIN = "again, step by step"

    __repr__ = str.__repr__


@final
class WrappedValue(ExecutorValue):
    """A value of the target, held by the executor around it.

    Attributes:
        made_by: the number of the event that made it; `None` if none is on a tape.
    """

    __slots__ = ("made_by", "owner", "value")

    def __init__(self, owner: "WrappingExecutor", value: ExecutorValue) -> None:
        self.owner, self.value = owner, value
        self.made_by: int | None = None

    @property
    def type_signature(self) -> Type:
        """The type of the value."""
        return self.value.type_signature

    async def compute(self) -> Any:
        """Materializes the target's value."""
        work = self.value.compute
        return await self.owner.passed_on(EventKind.COMPUTE, work, self.value, (self,))


class WrappingExecutor(Executor):
    """Passes every contract call on to its target, through `around`."""

    def __init__(self, target_executor: Executor) -> None:
        self.target = target_executor

    def close(self) -> None:
        """Closes the target."""
        self.target.close()

    @abstractmethod
    async def around(self, what: EventKind, work: Work, subject: Any) -> Any:
        """Runs `work()`, the contract call named `what`, and returns its result.

        `subject` is the value that is embedded, the function that is called, the
        elements of the structure, the selected position, or the value that is computed.
        """

    async def passed_on(
        self, what: EventKind, work: Work, subject: Any, operands: Iterable[Any]
    ) -> Any:
        """The same, for a wrapper that also needs the handles the call was given."""
        return await self.around(what, work, subject)

    async def create_value(
        self, value: Any, type_spec: Type | None = None
    ) -> WrappedValue:
        """Embeds a value in the target."""
        work = partial(self.target.create_value, value, type_spec)
        return await self._create(EventKind.CREATE_VALUE, work, value)

    async def create_call(
        self, comp: ExecutorValue, arg: ExecutorValue | None = None
    ) -> WrappedValue:
        """Calls a function in the target."""
        fn = self._below(comp)
        argument = None if arg is None else self._below(arg)
        given = [comp] if arg is None else [comp, arg]
        work = partial(self.target.create_call, fn, argument)
        return await self._create(EventKind.CREATE_CALL, work, fn, given)

    async def create_struct(self, elements: Any) -> WrappedValue:
        """Makes a structure in the target."""
        given = as_struct(elements)
        fields = given.map(self._below)
        work = partial(self.target.create_struct, fields)
        return await self._create(EventKind.CREATE_STRUCT, work, fields, given)

    async def create_selection(
        self, source: ExecutorValue, index: int | None = None, name: str | None = None
    ) -> WrappedValue:
        """Selects in the target."""
        field = index if name is None else name
        work = partial(self.target.create_selection, self._below(source), index, name)
        return await self._create(EventKind.CREATE_SELECTION, work, field, (source,))

    async def _create(
        self, what: EventKind, work: Work, subject: Any, operands: Iterable[Any] = ()
    ) -> WrappedValue:
        async def wrapped() -> WrappedValue:
            return WrappedValue(self, await work())

        made: WrappedValue = await self.passed_on(what, wrapped, subject, operands)
        return made

    def _below(self, value: ExecutorValue) -> ExecutorValue:
        return check_owned(value, WrappedValue, self).value
