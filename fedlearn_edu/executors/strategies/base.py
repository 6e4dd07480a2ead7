# SPDX-License-Identifier: Apache-2.0
"""What a federating strategy is: methods, each marked with the intrinsics it realizes.

`resolving.py` and `composing.py` have one each; `executors/federating.py` has the
executor that uses them.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, ClassVar, TypeVar

from fedlearn_edu.executors import messages
from fedlearn_edu.executors.base import Executor
from fedlearn_edu.executors.layer import Handle
from fedlearn_edu.language.intrinsic import intrinsic_named
from fedlearn_edu.types import FederatedType, FunctionType

Method = TypeVar("Method", bound=Callable[..., Awaitable[Any]])


def implements(*uris: str) -> Callable[[Method], Method]:
    """Marks a strategy's method as the realization of one or several intrinsics.

    Raises:
        StructureError: if there is no intrinsic of this name.
    """
    for uri in uris:
        intrinsic_named(uri)

    def mark(method: Method) -> Method:
        method._implements = uris  # type: ignore[attr-defined]
        return method

    return mark


class FederatingStrategy(ABC):
    """How federated values are represented and federated intrinsics are realized.

    A strategy marks its methods with `@implements(uri)`. Such a method receives the
    concrete type of the intrinsic and its arguments as `Handle`s, and returns
    the representation of the result, which only the strategy looks into.

    Attributes:
        implemented: from the intrinsics it realizes to the names of the methods.
        targets: the executors that `close` closes, if it lists them.
    """

    implemented: ClassVar[Mapping[str, str]] = {}
    targets: Collection[Executor] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        marked = {
            uri: name
            for name, member in vars(cls).items()
            for uri in getattr(member, "_implements", ())
        }
        cls.implemented = {**cls.implemented, **marked}

    @abstractmethod
    async def embed(self, value: Any, type_: FederatedType) -> Any:
        """Represents a plain value: one entry for each member, or the one value."""

    @abstractmethod
    async def compute(self, representation: Any, type_: FederatedType) -> Any:
        """Materializes a federated value: a tuple of members, or the one value."""

    @abstractmethod
    def close(self) -> None:
        """Closes the target executors."""

    async def call(self, uri: str, type_: FunctionType, args: list[Handle]) -> Any:
        """Runs the method that implements `uri`."""
        if uri not in self.implemented:
            raise messages.not_implemented(self, uri, self.implemented)
        return await getattr(self, self.implemented[uri])(type_, *args)
