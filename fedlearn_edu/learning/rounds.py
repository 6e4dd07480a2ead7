# SPDX-License-Identifier: Apache-2.0
"""A round in four parts: distribute, work, aggregate, finish.

All averaging algorithms are this round with other parts (`averaging.py` makes them).
What a part does not need is the empty structure `<>`: the aggregator's state where it
keeps none, what clients keep where they keep nothing.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Any, NamedTuple, final

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.learning.aggregators.base import (
    Aggregator,
    AggregatorOutputWithClients,
)


class Told(NamedTuple):
    """What the server tells its clients, `TOLD`.

    Attributes:
        weights: of the server's model.
        round_number: `int32`, rounds finished.
        common: what they need of the aggregator's state, in SCAFFOLD; `<>` for most.
    """

    weights: Any
    round_number: Any
    common: Any = ()


class Output(NamedTuple):
    """What `next` returns: `state, metrics = process.next(state, data)`."""

    state: Any
    metrics: Any


class OutputWithClients(NamedTuple):
    """What `next` returns where clients keep something, one entry per client."""

    state: Any
    metrics: Any
    client_states: Any


@final
@dataclass(frozen=True, eq=False)
class Poison:
    """What attackers do in a round; `fedlearn_edu.attacks` makes them.

    Both computations get an `int32`, the number of an attacker from 1 on. For 0, an
    honest client, they return what they were given.

    Attributes:
        clients: those that attack, by their positions, in ascending order.
        data: `(<BATCH*,int32> -> BATCH*)`, before the client works; `None` for nothing.
        update: `(<UPDATE,float32,WEIGHTS,int32,int32> -> UPDATE)`, of a client's update
            and its weight, the server's weights and the number of rounds finished,
            before it is sent; `None` for nothing.
    """

    clients: tuple[int, ...]
    data: fl.Computation | None
    update: fl.Computation | None

    def numbers(self, positions: Iterable[int]) -> list[int]:
        """What `next` is told of the clients at these positions."""
        known = {client: number for number, client in enumerate(self.clients, 1)}
        return [known.get(position, 0) for position in positions]


@final
@dataclass(frozen=True, eq=False)
class Round:
    """The four parts of a round; `program` puts them together.

    Attributes:
        distribute: `STATE@SERVER -> {TOLD}@CLIENTS`, in the body of a computation.
        work: `(<TOLD,BATCH*,KEPT> -> <update=SENT,weight=float32,counts=COUNTS,
            kept=KEPT>)`, of one client: what it sends, what that weighs, what is summed
            for the metrics, and what it keeps.
        aggregator: from what clients send to one update; its state is
            `STATE.aggregator`. If clients keep something for it, `work` gets `<>`.
        finish: `(<STATE,UPDATE,AGGREGATOR_STATE,COUNTS> -> STATE)`, at the server.
        report: `(<COUNTS,UPDATE,AGGREGATOR_METRICS> -> METRICS)`, at the server.
        poison: what attackers do before and after their work; `None` without any.
    """

    distribute: Callable[[Any], Told]
    work: fl.Computation
    aggregator: Aggregator
    finish: fl.Computation
    report: fl.Computation
    poison: Poison | None = None

    def program(self) -> fl.Computation:
        """`(<STATE@SERVER,{BATCH*}@CLIENTS> -> <STATE@SERVER,METRICS@SERVER>)`.

        With attackers, `{int32}@CLIENTS` is one more argument. Where clients keep
        something, `{KEPT}@CLIENTS` is the last argument, and the last result.
        """
        types = self._parameters()

        def next_round(*values: Any) -> Any:
            return self._next(**dict(zip(types, values, strict=True)))

        # Tracing names the arguments after those of the function.
        named = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in types]
        next_round.__signature__ = Signature(named)  # type: ignore[attr-defined]
        made: fl.Computation = fl.federated_computation(next_round, *types.values())
        return made

    @property
    def _remembers(self) -> bool:
        """Whether `work` itself takes and returns what a client keeps."""
        return not is_nothing(parameter_types(self.work)[2])

    def _parameters(self) -> dict[str, fl.Type]:
        """The arguments of `next`, by their names."""
        _, batches, kept = parameter_types(self.work)
        if self.aggregator.initialize_client is not None:
            kept = self.aggregator.initialize_client.type_signature.result
        return OrderedDict(
            state=fl.type_at_server(parameter_types(self.finish)[0]),
            data=fl.type_at_clients(batches),
            **({"attackers": fl.type_at_clients(np.int32)} if self.poison else {}),
            **({} if is_nothing(kept) else {"client_states": fl.type_at_clients(kept)}),
        )

    def _next(
        self, state: Any, data: Any, attackers: Any = None, client_states: Any = ()
    ) -> Any:
        """The body of `next`: the four parts, one after the other."""
        told = self.distribute(state)

        poison, own = self.poison, client_states if self._remembers else ()
        if poison and poison.data:
            data = fl.federated_map(poison.data, [data, attackers])
        done = fl.federated_map(self.work, [told, data, own])
        sent, weight = done["update"], done["weight"]
        if poison and poison.update:
            known = [sent, weight, told.weights, told.round_number, attackers]
            sent = fl.federated_map(poison.update, known)

        kept = done["kept"] if self._remembers else client_states
        made = combine(self.aggregator, state, sent, weight, kept)
        counts = fl.federated_sum(done["counts"])

        metrics = fl.federated_map(self.report, [counts, made.update, made.metrics])
        state = fl.federated_map(self.finish, [state, made.update, made.state, counts])
        if isinstance(client_states, tuple):
            return Output(state, metrics)
        return OutputWithClients(state, metrics, made.client_states)


def combine(
    aggregator: Aggregator, state: Any, updates: Any, weights: Any, kept: Any
) -> Any:
    """What the aggregator makes of the updates; what it does not keep goes through."""
    if aggregator.name == "mean()":  # is one line of the program, without its `next`
        mean = fl.federated_mean(updates, weights)
        return AggregatorOutputWithClients((), mean, (), kept)
    if aggregator.initialize_client is not None:
        return aggregator.next(state.aggregator, updates, weights, kept)
    made = aggregator.next(state.aggregator, updates, weights)
    return AggregatorOutputWithClients(made.state, made.update, made.metrics, kept)


def parameter_types(computation: fl.Computation) -> Any:
    """The types of a computation's arguments."""
    return computation.type_signature.parameter


def is_nothing(type_: Any) -> bool:
    """Whether this is `<>`, the type of what is not there."""
    return isinstance(type_, fl.StructType) and not len(type_)
