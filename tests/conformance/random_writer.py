# SPDX-License-Identifier: Apache-2.0
"""Writes random programs, while they are traced: chains of steps, and what they end in.

A chain begins with some values at the clients, goes on with what clients do, and mostly
ends at the server. The next chain may use what is there by then: the end of another
one, a step in the middle of it, or what the server sends back.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import fedlearn_edu as fl
from fedlearn_edu.framework import Value
from fedlearn_edu.types import (
    CLIENTS,
    SERVER,
    FederatedType,
    Placement,
    StructType,
    Type,
    is_average_compatible,
    is_sum_compatible,
)
from tests.conformance.random_functions import (
    Chooser,
    FunctionWriter,
    Wanted,
    is_sequence,
    of_type,
)
from tests.conformance.random_leaves import INT, STEP, TEXT


@dataclass
class Writer:
    """Writes one program.

    Attributes:
        choose: what decides.
        local: writes what one participant does.
        most_chains: how many chains there are, at most.
        most_steps: how many steps a chain has, at most, before it ends.
        depends_on_groups: whether the program's meaning depends on how clients are
            grouped: a zero that is not neutral counts once for each group.
    """

    choose: Chooser
    local: FunctionWriter
    most_chains: int
    most_steps: int
    depends_on_groups: bool = False

    def program(self, given: Sequence[Value]) -> Any:
        """The body of a program that is given some values."""
        values = list(given)
        for _ in range(self.choose.number(1, self.most_chains)):
            if self.choose.flip():
                values.append(self.somewhere(values))
            values.append(self.chain(values))
        new = values[len(given) :]
        if self.choose.number(0, 3) == 0:
            return new
        return self.choose.structure([new[-1], *self.choose.few(new)])

    def chain(self, values: list[Value]) -> Value:
        """Steps at the clients, and an aggregation of what comes out."""
        clients = at(values, CLIENTS)
        data = [v for v in clients if not has_no_sequence(member_of(v))]
        current = self.choose.some([*clients, *data, *data, *clients[-2:]])
        if self.choose.flip():
            current.append(fl.federated_broadcast(self.choose.pick(at(values, SERVER))))
        for _ in range(self.choose.number(0, self.most_steps)):
            current = [self.step(current, values)]
            if self.choose.number(0, 3) == 0:
                values.append(current[0])
            if self.choose.number(0, 3) == 0:
                current += self.choose.some(clients)
        wanted, end = self.choose.pick(self.ends())
        last: Value = self.map_of(current, values, wanted)
        if not wanted(member_of(last)):
            return last
        if self.choose.number(0, 3) == 0:
            values.append(last)
        result: Value = end(last, values)
        return result

    def step(self, current: Sequence[Value], values: Sequence[Value]) -> Any:
        """One thing that clients do."""
        match self.choose.number(0, 6):
            case 0:
                return fl.federated_zip(self.nested(current))
            case 1 if structs := [v for v in current if is_struct(member_of(v))]:
                return self.local.field_of(self.choose.pick(structs))
            case 2:
                return self.called(self.choose.pick(current))
            case _:
                return self.map_of(current, values)

    def map_of(
        self,
        current: Sequence[Value],
        values: Sequence[Value],
        wanted: Wanted | None = None,
    ) -> Any:
        """A function of what each participant holds of all these values."""
        types = [member_of(value) for value in current]
        if len(current) == 1:
            fn = self.local.function(types[0], plain(values), wanted)
            return fl.federated_map(fn, current[0])
        fn = self.local.function(fl.to_type(types), plain(values), wanted)
        return fl.federated_map(fn, list(current))

    def nested(self, current: Sequence[Value], depth: int = 2) -> Any:
        """A structure of structures of values."""
        parts = self.choose.some(current)
        if depth and self.choose.flip():
            parts[-1] = self.nested(current, depth - 1)
        return self.choose.structure(parts)

    def called(self, value: Value) -> Any:
        """Two maps in a computation of their own, which is called."""

        def body(inner: Value) -> Any:
            first = self.map_of([inner], [])
            return self.map_of([first, inner], [])

        return fl.federated_computation(body, value.type_signature)(value)

    def somewhere(self, values: Sequence[Value]) -> Any:
        """One thing that is not a step of the clients."""
        where = self.choose.pick([CLIENTS, SERVER])
        match self.choose.number(0, 3):
            case 0:
                return fl.federated_value(self.choose.pick(plain(values)), where)
            case 1:
                return fl.federated_eval(
                    self.local.function(None, plain(values)), where
                )
            case 2:
                return fl.federated_broadcast(self.choose.pick(at(values, SERVER)))
            case _:
                return self.map_of(self.choose.some(at(values, SERVER), 2), values)

    # ------------------------------------------------------ from clients to the server

    def ends(self) -> list[tuple[Wanted, Callable[[Value, Sequence[Value]], Any]]]:
        """What a member has to be, and what is made of all of them."""
        return [
            (is_sum_compatible, lambda value, _: fl.federated_sum(value)),
            (is_sum_compatible, lambda value, _: fl.federated_min(value)),
            (is_sum_compatible, lambda value, _: fl.federated_max(value)),
            (is_average_compatible, lambda value, _: fl.federated_mean(value)),
            (is_average_compatible, self.weighted_mean),
            (is_int, self.steps_in_order),
            (is_int, self.any_fold),
            (is_int, self.reduced),
            (is_text, self.joined),
            (has_no_sequence, lambda value, _: fl.federated_collect(value)),
        ]

    def weighted_mean(self, value: Value, values: Sequence[Value]) -> Any:
        """With weights that are never zero."""
        ints = [v for v in at(values, CLIENTS) if is_int(member_of(v))]
        weight = fl.federated_map(self.local.leaf("weight"), self.choose.pick(ints))
        if self.choose.flip():
            weight = fl.federated_map(self.local.leaf("number plus one"), weight)
        return fl.federated_mean(value, weight)

    def steps_in_order(self, value: Value, values: Sequence[Value]) -> Any:
        """The order matters, groups do not, unless the zero is not neutral."""
        after, as_step = self.local.leaf("after"), self.local.leaf("as step")
        zero: Any = [np.int32(1), np.int32(0)]
        if self.choose.flip():
            self.depends_on_groups = True
            zero = [self.choose.pick(of_type(plain(values), INT)), np.int32(5)]
        accumulate = fl.federated_computation(
            lambda state, item: after(state, as_step(item)), STEP, INT
        )
        report = self.local.function(STEP, plain(values))
        return fl.federated_aggregate(value, zero, accumulate, after, report)

    def any_fold(self, value: Value, values: Sequence[Value]) -> Any:
        """Whatever it is, it is the same for the same groups."""
        self.depends_on_groups = True
        zero = self.choose.pick(of_type(plain(values), INT))
        accumulate = self.local.fold(INT, INT, plain(values))
        merge = self.local.fold(INT, INT, [])
        report = self.local.function(INT, plain(values))
        return fl.federated_aggregate(value, zero, accumulate, merge, report)

    def reduced(self, value: Value, values: Sequence[Value]) -> Any:
        """Without groups: whatever it is, it is the same everywhere."""
        zero = self.choose.pick(of_type(plain(values), INT))
        return fl.federated_reduce(
            value, zero, self.local.fold(INT, INT, plain(values))
        )

    def joined(self, value: Value, values: Sequence[Value]) -> Any:
        """All texts one after the other."""
        join, zero = self.local.leaf("join"), self.choose.pick(["", "<"])
        self.depends_on_groups |= bool(zero)
        report = fl.federated_computation(lambda x: x, TEXT)
        return fl.federated_aggregate(value, zero, join, join, report)


def plain(values: Sequence[Value]) -> list[Value]:
    """The values that have no placement, and may be captured."""
    return [v for v in values if not v.type_signature.contains(Type.is_federated)]


def at(values: Sequence[Value], placement: Placement) -> list[Value]:
    """The values at a placement."""
    pairs = [(v, v.type_signature) for v in values]
    return [
        v for v, t in pairs if isinstance(t, FederatedType) and t.placement is placement
    ]


def member_of(value: Value) -> Type:
    """What one participant holds."""
    assert isinstance(value.type_signature, FederatedType)
    return value.type_signature.member


def is_struct(type_: Type) -> bool:
    """Whether it has fields."""
    return isinstance(type_, StructType)


def is_int(type_: Type) -> bool:
    """Whether it is one number that wraps around."""
    return type_.is_equivalent_to(INT)


def is_text(type_: Type) -> bool:
    """Whether it is one text."""
    return type_.is_equivalent_to(TEXT)


def has_no_sequence(type_: Type) -> bool:
    """Whether a sequence can hold it."""
    return not type_.contains(is_sequence)
