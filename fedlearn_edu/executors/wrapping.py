# SPDX-License-Identifier: Apache-2.0
"""Wrappers: they forward every call unchanged, and do something around it.

`threads.py` adds a thread, `recording.py` a tape, each in one method; the calls are
forwarded here.
"""

from abc import abstractmethod
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, final

from fedlearn_edu.executors.base import Executor, ExecutorValue, as_struct, check_owned
from fedlearn_edu.types import Type

Work = Callable[[], Coroutine[Any, Any, Any]]


@final
class WrappedValue(ExecutorValue):
    """A value of the target, held by the executor around it.

    Attributes:
        made_by: the number of the event that made it; `None` if none is on a tape.
        last: the number of the event that made it, or that computed it last.
    """

    __slots__ = ("last", "made_by", "owner", "value")

    def __init__(self, owner: "WrappingExecutor", value: ExecutorValue) -> None:
        self.owner, self.value = owner, value
        self.made_by: int | None = None
        self.last: int | None = None

    @property
    def type_signature(self) -> Type:
        """The type of the value."""
        return self.value.type_signature

    async def compute(self) -> Any:
        """Materializes the target's value."""
        work = self.value.compute
        return await self.owner.passed_on("compute", work, self.value, (self,))


class WrappingExecutor(Executor):
    """Passes every contract call on to its target, through `around`."""

    def __init__(self, target_executor: Executor) -> None:
        self.target = target_executor

    def close(self) -> None:
        """Closes the target."""
        self.target.close()

    @abstractmethod
    async def around(self, what: str, work: Work, subject: Any) -> Any:
        """Runs `work()`, the contract call named `what`, and returns its result.

        `subject` is the value that is embedded, the function that is called, the
        elements of the structure, the selected position, or the value that is computed.
        """

    async def passed_on(
        self, what: str, work: Work, subject: Any, operands: Iterable[WrappedValue]
    ) -> Any:
        """The same, for a wrapper that also needs the handles the call was given."""
        return await self.around(what, work, subject)

    async def create_value(
        self, value: Any, type_spec: Type | None = None
    ) -> WrappedValue:
        """Embeds a value in the target."""
        return await self._create("create_value", value, (), value, type_spec)

    async def create_call(
        self, comp: ExecutorValue, arg: ExecutorValue | None = None
    ) -> WrappedValue:
        """Calls a function in the target."""
        given = [self._own(comp)] if arg is None else [self._own(comp), self._own(arg)]
        fn, *argument = [value.value for value in given]
        return await self._create("create_call", fn, given, fn, *argument)

    async def create_struct(self, elements: Any) -> WrappedValue:
        """Makes a structure in the target."""
        given = as_struct(elements).map(self._own)
        fields = given.map(lambda field: field.value)
        return await self._create("create_struct", fields, given, fields)

    async def create_selection(
        self, source: ExecutorValue, index: int | None = None, name: str | None = None
    ) -> WrappedValue:
        """Selects in the target."""
        given, field = self._own(source), index if name is None else name
        call = given.value, index, name
        return await self._create("create_selection", field, (given,), *call)

    async def _create(
        self, what: str, subject: Any, operands: Iterable[WrappedValue], *call: Any
    ) -> WrappedValue:
        async def work() -> WrappedValue:
            return WrappedValue(self, await getattr(self.target, what)(*call))

        made: WrappedValue = await self.passed_on(what, work, subject, operands)
        return made

    def _own(self, value: ExecutorValue) -> WrappedValue:
        return check_owned(value, WrappedValue, self)
