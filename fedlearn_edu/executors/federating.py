# SPDX-License-Identifier: Apache-2.0
"""Placements and federated intrinsics: who computes what, and what moves.

    FederatingExecutor            what may be embedded and called
      ├─ FederatingStrategy       how federated values and intrinsics are realized
      │    └─ target executors    one for each participant, or for each group of them
      └─ unplaced executor        everything without a placement

Lambdas and leaf code that will be given to an intrinsic are kept as trees, and embedded
only where they run. Names and blocks are not understood here: a reference-resolving
executor sits above.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, ClassVar, NewType, TypeAlias, TypeVar, final

from fedlearn_edu.errors import (
    ExecutorError,
    TypeMismatchError,
    UnsupportedIntrinsicError,
    describe,
)
from fedlearn_edu.executors import traffic
from fedlearn_edu.executors.base import Executor, ExecutorValue
from fedlearn_edu.executors.layer import Handle, Layer, is_data_of_one
from fedlearn_edu.executors.reference_resolving import ReferenceResolvingExecutor
from fedlearn_edu.executors.sequence import IMPLEMENTED as SEQUENCE_INTRINSICS
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.language.intrinsic import IntrinsicDef, expansion, intrinsic_named
from fedlearn_edu.signals import add_place
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    FederatedType,
    FunctionType,
    Placement,
    StructType,
    Type,
    normalize,
    to_type,
)

Method = TypeVar("Method", bound=Callable[..., Awaitable[Any]])
# What a strategy has made of a federated value; only the strategy looks into it.
Placed = NewType("Placed", object)
# What a handle holds beside fields and values of the unplaced executor.
Own: TypeAlias = ir.Lambda | ir.Leaf | ir.Intrinsic | Placement | Placed


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

    def close(self) -> None:
        """Closes the target executors."""
        for target in self.targets:
            target.close()

    async def call(self, uri: str, type_: FunctionType, args: list[Handle]) -> Any:
        """Runs the method that implements `uri`."""
        if uri in self.implemented:
            return await getattr(self, self.implemented[uri])(type_, *args)
        raise UnsupportedIntrinsicError(
            f"{type(self).__name__} does not implement {uri}",
            expected=", ".join(sorted(self.implemented)) or "no intrinsic",
            found=uri,
            do=f'add a method marked @implements("{uri}") to the strategy',
        )


@final
class FederatingExecutor(Layer[Own]):
    """Handles federated types and intrinsics through a strategy, the rest unplaced.

    It embeds intrinsics, placements, lambdas, leaf code, a list for a federated type
    and Python values for unplaced ones. It calls intrinsics, a derived one by its
    expansion if the strategy has no method for it, and leaf code.

    Args:
        strategy_factory: makes the strategy, given this executor.
        unplaced_executor: handles unplaced types, computations and processing.

    Source: `tff.framework.FederatingExecutor`.
    """

    def __init__(
        self,
        strategy_factory: Callable[["FederatingExecutor"], FederatingStrategy],
        unplaced_executor: Executor,
    ) -> None:
        given: Any = (strategy_factory, unplaced_executor)
        if not (callable(given[0]) and isinstance(given[1], Executor)):
            raise TypeMismatchError(
                "a federating executor needs a strategy factory and an executor",
                expected="FederatingExecutor(strategy_factory, unplaced_executor)",
                found=", ".join(map(describe, given)),
                where="the arguments",
                do="make the first by FederatedResolvingStrategy.factory(targets)",
            )
        super().__init__(unplaced_executor)
        self.strategy = strategy_factory(self)

    @property
    def unplaced(self) -> Executor:
        """What handles everything without a placement."""
        return self._target

    def close(self) -> None:
        """Closes the strategy's targets and the unplaced executor, each once."""
        self.strategy.close()
        if self._target not in self.strategy.targets:
            super().close()

    async def create_value(self, value: Any, type_spec: Any = None) -> Handle:
        """Embeds trees of some kinds, placements, federated and plain values.

        Raises:
            TypeMismatchError: if value and type do not match.
            ExecutorError: for values and trees of any other kind.
        """
        if isinstance(value, IntrinsicDef):
            value = value.at(to_type(type_spec))
        if isinstance(value, Placement):
            value = ir.PlacementLiteral(value)
        return await super().create_value(value, type_spec)

    async def accept(self, node: ir.Node | None, value: Any, type_: Type) -> Any:
        """Functions as trees, federated values by the strategy, others unplaced."""
        match node:
            case None:
                return await self._embed(value, type_)
            case ir.Literal(value=literal):
                return await self._embed(literal, type_)
            case ir.PlacementLiteral(placement=placement):
                return placement
            case ir.Intrinsic(uri=uri):
                intrinsic_named(uri)
                return node
            case ir.Lambda() | ir.Leaf():
                return node
            case _:
                raise _refusal("interpret this kind of tree", type(node).__name__)

    async def _embed(self, value: Any, type_: Type) -> Any:
        match type_:
            case FederatedType():
                return Handle(self, await self.strategy.embed(value, type_), type_)
            case FunctionType():
                cure = "make it a computation: np_computation(function, type), …"
                what, found = "embed this kind of function", describe(value)
                raise _refusal(what, found, cure)
            case StructType() if not is_data_of_one(type_):
                pairs = zip(normalize(value, type_), type_, strict=True)
                return type_._with_values([await self.create_value(*p) for p in pairs])
            case _:
                return await self._target.create_value(value, type_)

    async def apply(self, fn: Handle, arg: Handle | None, type_: FunctionType) -> Any:
        """Calls an intrinsic by the strategy, or leaf code by the unplaced executor.

        Raises:
            ExecutorError: if `fn` is a lambda.
            UnsupportedIntrinsicError: if this executor cannot run the intrinsic.
        """
        match self.held(fn):
            case ir.Intrinsic(uri=uri) if uri not in SEQUENCE_INTRINSICS:
                return await self._run(uri, type_, arg)
            case ir.Lambda():
                raise _refusal("call lambdas", type_)
            case _:
                return await self.call_below(fn, arg)

    async def _run(self, uri: str, type_: FunctionType, arg: Handle | None) -> Any:
        definition = intrinsic_named(uri)
        if uri not in self.strategy.implemented and not definition.is_primitive:
            return await call_expansion(self, uri, type_, arg)
        args = [] if arg is None else [arg]
        if arg is not None and definition.takes_several_arguments:
            fields = self.held(arg)
            args = list(fields) if isinstance(fields, Struct) else args
        with traffic.crossing(traffic.NO_EDGE):  # unless the strategy says so
            made = await self.strategy.call(uri, type_, args)
        return Handle(self, made, type_.result)

    async def materialize(self, handle: Handle) -> Any:
        """Materializes a federated value by the strategy, others unplaced."""
        held, type_ = self.held(handle), handle.type_signature
        if isinstance(type_, FederatedType):
            return await self.strategy.compute(held, type_)
        return (
            held if isinstance(held, Placement) else await super().materialize(handle)
        )

    async def select(self, source: Handle, at: int) -> Handle:
        """A field, here or in the unplaced executor."""
        if isinstance(self.held(source), Struct | ExecutorValue):
            return await super().select(source, at)
        cure = "let the strategy return a Struct of embedded values"
        what = "select from this kind of value"
        raise _refusal(what, repr(source), cure)

    async def embed_below(self, handle: Handle) -> ExecutorValue:
        """Embeds a function where it runs."""
        return await self._target.create_value(handle.node, handle.node.type)


async def call_expansion(
    executor: FederatingExecutor, uri: str, type_: FunctionType, arg: Handle | None
) -> ExecutorValue:
    """A value of `executor`: the derived intrinsic `uri` applied to `arg`.

    Raises:
        UnsupportedIntrinsicError: if `executor` lacks a primitive that it comes to.
    """
    names = ReferenceResolvingExecutor(executor)

    async def lifted(handle: Handle) -> Handle:
        """The same value above: its functions opened, its data left where they are."""
        match executor.held(handle):
            case Struct() as fields:
                above = [await lifted(field) for field in fields]
                return await names.create_struct(fields.with_values(above))
            case ir.Lambda() | ir.Leaf() | ir.Intrinsic() as function:
                return await names.create_value(function)
            case _:
                return names.hold(handle, handle.type_signature)

    fn = await names.create_value(expansion(intrinsic_named(uri), type_))
    argument = None if arg is None else await lifted(arg)
    try:
        return await names.lower(await names.create_call(fn, argument))
    except UnsupportedIntrinsicError as error:
        add_place(error, f"in the expansion of {uri}")
        raise


def _refusal(
    what: str, found: object, do: str = "put a ReferenceResolvingExecutor on top"
) -> ExecutorError:
    summary = f"the federating executor does not {what}"
    return ExecutorError(summary, found=found, do=do)
