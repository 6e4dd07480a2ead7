# SPDX-License-Identifier: Apache-2.0
"""Placements and federated intrinsics: who computes what, and what moves.

    FederatingExecutor            what may be embedded and called
      ├─ FederatingStrategy       how federated values and intrinsics are realized
      │    └─ target executors    one for each participant, or for each group of them
      └─ unplaced executor        everything that is nowhere in particular

Lambdas and leaf code that will be given to an intrinsic are kept as trees, and embedded
only where they run. Names and blocks are not understood here: a reference-resolving
executor sits above.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, TypeVar, final

from fedlearn_edu.errors import ExecutorError, UnsupportedIntrinsicError
from fedlearn_edu.executors.base import (
    Executor,
    ExecutorValue,
    as_node,
    check_call,
    resolve_type,
)
from fedlearn_edu.executors.layer import Handle, Layer
from fedlearn_edu.executors.sequence import IMPLEMENTED as SEQUENCE_INTRINSICS
from fedlearn_edu.intrinsics.definition import intrinsic_named
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    FederatedType,
    FunctionType,
    Placement,
    PlacementType,
    Type,
)

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
    """

    implemented: ClassVar[Mapping[str, str]] = {}

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
            raise UnsupportedIntrinsicError(
                f"{type(self).__name__} does not implement {uri}",
                expected="one of " + ", ".join(sorted(self.implemented)),
                found=uri,
                do="expand derived intrinsics first: "
                "framework.compile_tree(computation.tree, strategy.implemented)",
            )
        return await getattr(self, self.implemented[uri])(type_, *args)


StrategyFactory = Callable[["FederatingExecutor"], FederatingStrategy]


@final
class FederatingExecutor(Layer):
    """Handles federated types and intrinsics through a strategy, the rest unplaced.

    Args:
        strategy_factory: makes the strategy, given this executor.
        unplaced_executor: handles unplaced types, computations and processing.

    Source: `tff.framework.FederatingExecutor`.
    """

    def __init__(
        self, strategy_factory: StrategyFactory, unplaced_executor: Executor
    ) -> None:
        self.unplaced = unplaced_executor
        self.strategy = strategy_factory(self)

    def close(self) -> None:
        """Closes the strategy's targets and the unplaced executor."""
        self.strategy.close()
        self.unplaced.close()

    async def create_value(self, value: Any, type_spec: Type | None = None) -> Handle:
        """Embeds trees of some kinds, placements, federated and plain values.

        Raises:
            TypeMismatchError: if value and type do not match.
            ExecutorError: for trees of any other kind.
        """
        if isinstance(value, Placement):
            value = ir.PlacementLiteral(value)
        type_ = resolve_type(value, type_spec)
        match as_node(value):
            case None:
                return await self._embed(value, type_)
            case ir.Literal(value=literal):
                return await self._embed(literal, type_)
            case ir.PlacementLiteral(placement=placement):
                return Handle(self, placement, PlacementType())
            case ir.Intrinsic(uri=uri) as node:
                intrinsic_named(uri)
                return Handle(self, node, type_)
            case ir.Lambda() | ir.Leaf() as node:
                return Handle(self, node, type_)
            case node:
                raise ExecutorError(
                    "the federating executor does not interpret this kind of tree",
                    expected="an intrinsic, a placement, a lambda, leaf code, a value",
                    found=type(node).__name__,
                    do="put a ReferenceResolvingExecutor on top",
                )

    async def create_call(
        self, comp: ExecutorValue, arg: ExecutorValue | None = None
    ) -> Handle:
        """Calls an intrinsic by the strategy, or leaf code by the unplaced executor.

        Raises:
            TypeMismatchError: if `comp` is no function or does not take `arg`.
            ExecutorError: if `comp` is a lambda.
        """
        fn = self.own(comp)
        value = None if arg is None else self.own(arg)
        type_ = check_call(fn, value)
        match fn.representation:
            case ir.Intrinsic(uri=uri) if uri not in SEQUENCE_INTRINSICS:
                args = [] if value is None else _arguments(uri, value)
                result = await self.strategy.call(uri, type_, args)
                return Handle(self, result, type_.result)
            case ir.Lambda():
                raise ExecutorError(
                    "the federating executor does not call lambdas",
                    expected="an intrinsic or leaf code",
                    found=str(type_),
                    do="put a ReferenceResolvingExecutor on top",
                )
            case _:
                below = (
                    None if value is None else await self.lower(value, self.unplaced)
                )
                target = await self.lower(fn, self.unplaced)
                return self.wrap(await self.unplaced.create_call(target, below))

    async def fetch(self, handle: Handle) -> Any:
        """Materializes a federated value by the strategy, others unplaced."""
        if isinstance(handle.type_signature, FederatedType):
            return await self.strategy.compute(
                handle.representation, handle.type_signature
            )
        if isinstance(handle.representation, Placement):
            return handle.representation
        return await handle.representation.compute()

    async def select_below(self, handle: Handle, at: int) -> Handle:
        """Selects in the unplaced executor."""
        below = await self.unplaced.create_selection(handle.representation, at)
        return self.wrap(below)

    async def embed_below(self, handle: Handle, target: Executor) -> ExecutorValue:
        """Embeds a function where it runs."""
        return await target.create_value(handle.node, handle.node.type)

    async def _embed(self, value: Any, type_: Type) -> Handle:
        if isinstance(type_, FederatedType):
            members = await self.strategy.embed(value, type_)
            return Handle(self, members, type_)
        return self.wrap(await self.unplaced.create_value(value, type_))


def _arguments(uri: str, arg: Handle) -> list[Handle]:
    several = intrinsic_named(uri).takes_several_arguments
    if several and isinstance(arg.representation, Struct):
        return list(arg.representation)
    return [arg]
