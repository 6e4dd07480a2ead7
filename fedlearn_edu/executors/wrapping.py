# SPDX-License-Identifier: Apache-2.0
"""Executors that change nothing about a value, only how or under whose eyes it is made.

`threads.py`, `recording.py` and `sizing.py` each say in one method what happens around
a contract call; the calls themselves are passed on here.
"""

from abc import abstractmethod
from collections.abc import Callable, Coroutine
from typing import Any, final

from fedlearn_edu.executors.base import Executor, ExecutorValue, as_struct, check_owned
from fedlearn_edu.types import Type

Work = Callable[[], Coroutine[Any, Any, Any]]


@final
class WrappedValue(ExecutorValue):
    """A value of the target, in the hands of the executor around it."""

    __slots__ = ("owner", "value")

    def __init__(self, owner: "WrappingExecutor", value: ExecutorValue) -> None:
        self.owner = owner
        self.value = value

    @property
    def type_signature(self) -> Type:
        """The type of the value."""
        return self.value.type_signature

    async def compute(self) -> Any:
        """Materializes the target's value."""
        return await self.owner.around("compute", self.value.compute, self.value)


class WrappingExecutor(Executor):
    """Passes every contract call on to its target, through `around`."""

    def __init__(self, target_executor: Executor) -> None:
        self.target = target_executor

    @abstractmethod
    async def around(self, what: str, work: Work, subject: Any) -> Any:
        """Runs `work()`, the contract call named `what`, and returns its result.

        `subject` is the value that is embedded, the function that is called, the
        elements of the structure, the selected position, or the value that is computed.
        """

    async def create_value(
        self, value: Any, type_spec: Type | None = None
    ) -> WrappedValue:
        """Embeds a value in the target."""
        return await self._create(
            "create_value", lambda: self.target.create_value(value, type_spec), value
        )

    async def create_call(
        self, comp: ExecutorValue, arg: ExecutorValue | None = None
    ) -> WrappedValue:
        """Calls a function in the target."""
        fn = self._below(comp)
        argument = None if arg is None else self._below(arg)
        return await self._create(
            "create_call", lambda: self.target.create_call(fn, argument), fn
        )

    async def create_struct(self, elements: Any) -> WrappedValue:
        """Makes a structure in the target."""
        fields = as_struct(elements).map(self._below)
        return await self._create(
            "create_struct", lambda: self.target.create_struct(fields), fields
        )

    async def create_selection(
        self, source: ExecutorValue, index: int | None = None, name: str | None = None
    ) -> WrappedValue:
        """Selects in the target."""
        below = self._below(source)
        return await self._create(
            "create_selection",
            lambda: self.target.create_selection(below, index, name),
            index if name is None else name,
        )

    async def _create(self, what: str, work: Work, subject: Any) -> WrappedValue:
        return WrappedValue(self, await self.around(what, work, subject))

    def _below(self, value: ExecutorValue) -> ExecutorValue:
        return check_owned(value, WrappedValue, self).value
