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

from fedlearn_edu.errors import (
    ExecutorError,
    TypeMismatchError,
    UnsupportedIntrinsicError,
)
from fedlearn_edu.executors.base import (
    Executor,
    ExecutorValue,
    as_node,
    as_struct,
    check_call,
    check_owned,
    position,
    resolve_type,
    struct_type_of,
)
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


def implements(uri: str) -> Callable[[Method], Method]:
    """Marks a strategy's method as the realization of an intrinsic.

    Raises:
        StructureError: if there is no intrinsic of this name.
    """
    intrinsic_named(uri)

    def mark(method: Method) -> Method:
        method._implements = uri  # type: ignore[attr-defined]
        return method

    return mark


class FederatingStrategy(ABC):
    """How federated values are represented and federated intrinsics are realized.

    A strategy marks its methods with `@implements(uri)`. Such a method receives the
    concrete type of the intrinsic and its arguments as `FederatingValue`s, and returns
    the representation of the result, which only the strategy looks into.
    """

    implemented: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        marked = {
            member._implements: name
            for name, member in vars(cls).items()
            if hasattr(member, "_implements")
        }
        cls.implemented = {**cls.implemented, **marked}

    @abstractmethod
    async def embed(self, value: Any, type_: FederatedType) -> Any:
        """Represents a plain federated value: one entry per member, or the one value."""

    @abstractmethod
    async def compute(self, representation: Any, type_: FederatedType) -> Any:
        """Materializes a federated value: a tuple of members, or the one value."""

    @abstractmethod
    def close(self) -> None:
        """Closes the target executors."""

    async def call(
        self, uri: str, type_: FunctionType, args: "list[FederatingValue]"
    ) -> Any:
        """Runs the method that implements `uri`."""
        if uri not in self.implemented:
            raise UnsupportedIntrinsicError(
                f"{type(self).__name__} does not implement {uri}",
                expected="one of " + ", ".join(sorted(self.implemented)),
                found=uri,
            )
        return await getattr(self, self.implemented[uri])(type_, *args)


StrategyFactory = Callable[["FederatingExecutor"], FederatingStrategy]


@final
class FederatingValue(ExecutorValue):
    """A tree to be embedded later, a federated value, unplaced data, or a structure.

    `representation` is an `ir.Node`, a `Placement`, the strategy's representation (if
    the type is federated), the unplaced executor's value, or a `Struct` of
    FederatingValues.
    """

    __slots__ = ("_type", "owner", "representation")

    def __init__(
        self, owner: "FederatingExecutor", representation: Any, type_: Type
    ) -> None:
        self.owner = owner
        self.representation = representation
        self._type = type_

    @property
    def type_signature(self) -> Type:
        """The type of the value."""
        return self._type

    @property
    def node(self) -> ir.Node:
        """The tree of a function that has not been embedded yet."""
        node = as_node(self.representation)
        if node is None:
            raise ExecutorError(
                "a function was expected here",
                expected="a lambda, leaf code or an intrinsic",
                found=str(self._type),
            )
        return node

    async def compute(self) -> Any:
        """Materializes the value."""
        if isinstance(self._type, FederatedType):
            return await self.owner.strategy.compute(self.representation, self._type)
        match self.representation:
            case Struct() as fields:
                return Struct([(n, await v.compute()) for n, v in fields.items()])
            case ExecutorValue() as unplaced:
                return await unplaced.compute()
            case Placement() as placement:
                return placement
            case _:
                raise TypeMismatchError(
                    "a function cannot be materialized",
                    expected="data",
                    found=str(self._type),
                    do="call it",
                )


@final
class FederatingExecutor(Executor):
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

    async def create_value(
        self, value: Any, type_spec: Type | None = None
    ) -> FederatingValue:
        """Embeds intrinsics, placements, lambdas, leaf code, federated and plain
        values.

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
                return FederatingValue(self, placement, PlacementType())
            case ir.Intrinsic(uri=uri) as node:
                intrinsic_named(uri)
                return FederatingValue(self, node, type_)
            case ir.Lambda() | ir.Leaf() as node:
                return FederatingValue(self, node, type_)
            case node:
                raise ExecutorError(
                    "the federating executor does not interpret this kind of tree",
                    expected="an intrinsic, a placement, a lambda, leaf code or a value",
                    found=type(node).__name__,
                    do="put a ReferenceResolvingExecutor on top",
                )

    async def create_call(
        self, comp: ExecutorValue, arg: ExecutorValue | None = None
    ) -> FederatingValue:
        """Calls an intrinsic by the strategy, or leaf code by the unplaced executor.

        Raises:
            TypeMismatchError: if `comp` is no function or does not take `arg`.
            ExecutorError: if `comp` is a lambda.
        """
        fn = check_owned(comp, FederatingValue, self)
        value = None if arg is None else check_owned(arg, FederatingValue, self)
        type_ = check_call(fn, value)
        match fn.representation:
            case ir.Intrinsic(uri=uri) if not uri.startswith("sequence_"):
                args = await self._arguments(uri, value)
                result = await self.strategy.call(uri, type_, args)
                return FederatingValue(self, result, type_.result)
            case ir.Lambda():
                raise ExecutorError(
                    "the federating executor does not call lambdas",
                    expected="an intrinsic or leaf code",
                    found=str(type_),
                    do="put a ReferenceResolvingExecutor on top",
                )
            case _:
                below = None if value is None else await self.to_unplaced(value)
                target = await self.to_unplaced(fn)
                return self._wrap(await self.unplaced.create_call(target, below))

    async def create_struct(self, elements: Any) -> FederatingValue:
        """Keeps the elements side by side."""
        fields = as_struct(elements)
        for element in fields:
            check_owned(element, FederatingValue, self)
        return FederatingValue(self, fields, struct_type_of(fields))

    async def create_selection(
        self, source: ExecutorValue, index: int | None = None, name: str | None = None
    ) -> FederatingValue:
        """Picks an element, here or in the unplaced executor.

        Raises:
            TypeMismatchError: if `source` is not embedded here or not a structure.
            ValueError: if both or neither of `index` and `name` are given.
        """
        value = check_owned(source, FederatingValue, self)
        at = position(value.type_signature, index, name)
        match value.representation:
            case Struct() as fields:
                selected: FederatingValue = fields[at]
                return selected
            case unplaced:
                return self._wrap(await self.unplaced.create_selection(unplaced, at))

    async def to_unplaced(self, value: FederatingValue) -> ExecutorValue:
        """The same value in the unplaced executor."""
        match value.representation:
            case Struct() as fields:
                pairs = [(n, await self.to_unplaced(v)) for n, v in fields.items()]
                return await self.unplaced.create_struct(Struct(pairs))
            case ExecutorValue() as unplaced:
                return unplaced
            case _:
                return await self.unplaced.create_value(value.node, value.node.type)

    async def _embed(self, value: Any, type_: Type) -> FederatingValue:
        if isinstance(type_, FederatedType):
            members = await self.strategy.embed(value, type_)
            return FederatingValue(self, members, type_)
        return self._wrap(await self.unplaced.create_value(value, type_))

    async def _arguments(
        self, uri: str, arg: FederatingValue | None
    ) -> list[FederatingValue]:
        if arg is None:
            return []
        several = intrinsic_named(uri).takes_several_arguments
        if several and isinstance(arg.representation, Struct):
            return list(arg.representation)
        return [arg]

    def _wrap(self, value: ExecutorValue) -> FederatingValue:
        return FederatingValue(self, value, value.type_signature)
