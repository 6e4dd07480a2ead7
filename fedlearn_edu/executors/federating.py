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

from collections.abc import Callable
from typing import Any, NewType, TypeAlias, final

from fedlearn_edu.errors import UnsupportedIntrinsicError, add_place, describe
from fedlearn_edu.executors import messages, traffic
from fedlearn_edu.executors.base import Executor, ExecutorValue, check_call, resolve
from fedlearn_edu.executors.layer import Handle, Layer, is_data_of_one
from fedlearn_edu.executors.reference_resolving import ReferenceResolvingExecutor
from fedlearn_edu.executors.sequence import IMPLEMENTED as SEQUENCE_INTRINSICS
from fedlearn_edu.executors.strategies.base import (
    FederatingStrategy as FederatingStrategy,
)
from fedlearn_edu.executors.strategies.base import implements as implements
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.language.intrinsic import IntrinsicDef, expansion, intrinsic_named
from fedlearn_edu.structure import Struct
from fedlearn_edu.types import (
    FederatedType,
    FunctionType,
    Placement,
    PlacementType,
    StructType,
    Type,
    normalize,
    to_type,
)

StrategyFactory = Callable[["FederatingExecutor"], FederatingStrategy]
# What a strategy has made of a federated value; only the strategy looks into it.
Placed = NewType("Placed", object)
# What a handle holds beside fields and values of the unplaced executor.
Own: TypeAlias = ir.Lambda | ir.Leaf | ir.Intrinsic | Placement | Placed


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
        self, strategy_factory: StrategyFactory, unplaced_executor: Executor
    ) -> None:
        given: Any = (strategy_factory, unplaced_executor)
        if not (callable(given[0]) and isinstance(given[1], Executor)):
            raise messages.needs_strategy_and_executor(given)
        self.unplaced = unplaced_executor
        self.strategy = strategy_factory(self)

    def close(self) -> None:
        """Closes the strategy's targets and the unplaced executor, each once."""
        self.strategy.close()
        if self.unplaced not in self.strategy.targets:
            self.unplaced.close()

    async def create_value(self, value: Any, type_spec: Type | None = None) -> Handle:
        """Embeds trees of some kinds, placements, federated and plain values.

        Raises:
            TypeMismatchError: if value and type do not match.
            ExecutorError: for values and trees of any other kind.
        """
        if isinstance(value, IntrinsicDef):
            value = value.at(to_type(type_spec))
        if isinstance(value, Placement):
            value = ir.PlacementLiteral(value)
        node, type_ = resolve(value, type_spec)
        match node:
            case None:
                return await self._embed(value, type_)
            case ir.Literal(value=literal):
                return await self._embed(literal, type_)
            case ir.PlacementLiteral(placement=placement):
                return self.hold(placement, PlacementType())
            case ir.Intrinsic(uri=uri) as node:
                intrinsic_named(uri)
                return self.hold(node, type_)
            case ir.Lambda() | ir.Leaf() as node:
                return self.hold(node, type_)
            case node:
                kind = type(node).__name__
                raise messages.not_federating(
                    "interpret this kind of tree", kind, "create_value"
                )

    async def create_call(
        self, comp: ExecutorValue, arg: ExecutorValue | None = None
    ) -> Handle:
        """Calls an intrinsic by the strategy, or leaf code by the unplaced executor.

        Raises:
            TypeMismatchError: if `comp` is no function or does not take `arg`.
            ExecutorError: if `comp` is a lambda.
            UnsupportedIntrinsicError: if this executor cannot run the intrinsic.
        """
        fn = self.own(comp)
        value = None if arg is None else self.own(arg)
        type_ = check_call(fn, value)
        match self.held(fn):
            case ir.Intrinsic(uri=uri) if uri not in SEQUENCE_INTRINSICS:
                return self.hold(await self._run(uri, type_, value), type_.result)
            case ir.Lambda():
                raise messages.not_federating("call lambdas", type_, "create_call")
            case _:
                below = self.unplaced
                data = None if value is None else await self.lower(value, below)
                code = await self.lower(fn, below)
                return self.wrap(await below.create_call(code, data))

    async def materialize(self, handle: Handle) -> Any:
        """Materializes a federated value by the strategy, others unplaced."""
        held, type_ = self.held(handle), handle.type_signature
        if isinstance(type_, FederatedType):
            return await self.strategy.compute(held, type_)
        if isinstance(held, Placement):
            return held
        return await super().materialize(handle)

    async def select_below(self, handle: Handle, at: int) -> Handle:
        """Selects in the unplaced executor."""
        below = self.held(handle)
        if not isinstance(below, ExecutorValue):
            cure = "let the strategy return a Struct of embedded values"
            what = "select from this kind of value"
            raise messages.not_federating(what, repr(handle), "create_selection", cure)
        return self.wrap(await self.unplaced.create_selection(below, at))

    async def embed_below(self, handle: Handle, target: Executor) -> ExecutorValue:
        """Embeds a function where it runs."""
        return await target.create_value(handle.node, handle.node.type)

    async def _embed(self, value: Any, type_: Type) -> Handle:
        match type_:
            case FederatedType():
                return self.hold(await self.strategy.embed(value, type_), type_)
            case FunctionType():
                cure = "make it a computation: np_computation(function, type), …"
                what, found = "embed this kind of function", describe(value)
                raise messages.not_federating(what, found, "create_value", cure)
            case StructType() if not is_data_of_one(type_):
                pairs = zip(normalize(value, type_), type_, strict=True)
                parts = [await self.create_value(part, t) for part, t in pairs]
                return self.hold(type_._with_values(parts), type_)
            case _:
                return self.wrap(await self.unplaced.create_value(value, type_))

    async def _run(
        self, uri: str, type_: FunctionType, arg: Handle | None
    ) -> Struct | ExecutorValue | Own:
        """What the result of an intrinsic holds."""
        definition = intrinsic_named(uri)
        if uri in self.strategy.implemented or definition.is_primitive:
            args = [] if arg is None else [arg]
            if args and definition.takes_several_arguments:
                fields = self.held(args[0])
                args = list(fields) if isinstance(fields, Struct) else args
            with traffic.crossing(traffic.NO_EDGE):  # unless the strategy says so
                return Placed(await self.strategy.call(uri, type_, args))
        return self.held(self.own(await call_expansion(self, uri, type_, arg)))


async def call_expansion(
    executor: FederatingExecutor, uri: str, type_: FunctionType, arg: Handle | None
) -> ExecutorValue:
    """A value of `executor`: the derived intrinsic `uri` applied to `arg`.

    Raises:
        UnsupportedIntrinsicError: if `executor` lacks a primitive that it comes to.
    """
    names = ReferenceResolvingExecutor(executor)
    fn = await names.create_value(expansion(intrinsic_named(uri), type_))
    lifted = None if arg is None else await _lift(arg, executor, names)
    try:
        return await names.lower(await names.create_call(fn, lifted), executor)
    except UnsupportedIntrinsicError as error:
        add_place(error, f"in the expansion of {uri}")
        raise


async def _lift(
    handle: Handle, executor: FederatingExecutor, names: ReferenceResolvingExecutor
) -> Handle:
    """The same value above: its functions opened, its data left where they are."""
    match executor.held(handle):
        case Struct() as fields:
            lifted = [await _lift(field, executor, names) for field in fields]
            return await names.create_struct(fields.with_values(lifted))
        case ir.Lambda() | ir.Leaf() | ir.Intrinsic() as function:
            return await names.create_value(function)
        case _:
            return names.wrap(handle)
