# SPDX-License-Identifier: Apache-2.0
"""Writes random functions for one participant, while they are traced.

Each step picks something that can be done with the values there are already: leaf code
called, a field taken, a sequence mapped or folded, a function written and called.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

import fedlearn_edu as fl
from fedlearn_edu.framework import Value
from fedlearn_edu.types import SequenceType, StructType, Type, is_sum_compatible
from tests.conformance.random_leaves import (
    BATCH,
    BATCHES,
    INTS,
    LEAVES,
    MODEL,
    TENSORFLOW_ONLY,
    leaf,
)

NAMES = ("z", "a", "m", "b")
MAX_DEPTH = 2
# What reads these is drawn more often; it would be rare otherwise.
READ = (BATCH, BATCHES, INTS)
Wanted = Callable[[Type], bool]


@dataclass(frozen=True)
class Chooser:
    """Turns chance into choices."""

    random: Random

    def number(self, least: int, most: int) -> int:
        """A number between two others."""
        return self.random.randint(least, most)

    def flip(self) -> bool:
        """Heads or tails."""
        return self.number(0, 1) == 1

    def pick(self, options: Sequence[Any]) -> Any:
        """One of several."""
        return options[self.number(0, len(options) - 1)]

    def some(self, options: Sequence[Any], at_most: int = 3) -> list[Any]:
        """One or several, perhaps the same twice."""
        return [self.pick(options) for _ in range(self.number(1, at_most))]

    def few(self, options: Sequence[Any]) -> list[Any]:
        """Several, or none."""
        return self.some(options) if options and self.flip() else []

    def structure(self, parts: Sequence[Any]) -> Any:
        """A structure of these parts, with or without names."""
        if self.flip():
            return list(parts)
        return OrderedDict(zip(NAMES, parts, strict=False))


@dataclass
class FunctionWriter:
    """Writes functions with leaf code of some runtimes.

    Attributes:
        choose: what decides.
        runtimes: of what leaf code.
        most_steps: how many steps a function has, at most.
        depth: how many functions inside of each other are being written.
    """

    choose: Chooser
    runtimes: Sequence[str]
    most_steps: int
    depth: int = 0

    def leaf(self, name: str) -> Any:
        """A piece of leaf code, of some runtime."""
        return leaf(name, self.choose.pick(self.runtimes))

    def function(
        self,
        parameter: Type | None,
        captured: Sequence[Value],
        wanted: Wanted | None = None,
    ) -> Any:
        """A function of one parameter, or of none, which may capture some values.

        If it can, it returns something of a type that is wanted.
        """

        def body(*held: Value) -> Any:
            used = self.choose.few(captured) if held else captured
            values = self.grown([*held, *fields_of(held), *used])[::-1]
            if wanted is not None:
                good = [v for v in values if wanted(v.type_signature)]
                return self.choose.pick(good[:3] or values[:1])
            if self.choose.flip():
                return values[0]
            return self.choose.structure(self.choose.some(values))

        if parameter is None:
            return fl.federated_computation(lambda: body())
        return fl.federated_computation(lambda held: body(held), parameter)

    def fold(self, state: Type, item: Type, captured: Sequence[Value]) -> Any:
        """A function of a state and an item that returns the next state."""

        def body(so_far: Value, new: Value) -> Any:
            given = [so_far, new, *fields_of([so_far, new])]
            values = self.grown([*given, *self.choose.few(without_sequences(captured))])
            return self.choose.pick(of_type(values[::-1], state)[:2])

        return fl.federated_computation(body, state, item)

    def grown(self, values: list[Value]) -> list[Value]:
        """The values, and what some steps make of them."""
        self.depth += 1
        for _ in range(self.choose.number(1, self.most_steps)):
            values.append(self.step(values))
        self.depth -= 1
        return values

    def step(self, values: Sequence[Value]) -> Value:
        """One thing that can be done with some of the values."""
        structs = [v for v in values if isinstance(v.type_signature, StructType)]
        sequences = [v for v in values if isinstance(v.type_signature, SequenceType)]
        batches, models = of_type(values, BATCHES), of_type(values, MODEL)
        pick, kinds = self.choose.pick, list[Callable[[], Any]]()
        if calls := self.leaf_calls(values):
            kinds += [lambda: pick(calls)()] * 4
        if structs:
            kinds += [lambda: self.field_of(pick(structs))] * 2
        if batches and models:
            kinds += [lambda: self.trained(pick(batches), pick(models))] * 4
        if sequences and self.depth < MAX_DEPTH:
            kinds += [lambda: self.mapped(pick(sequences), values)] * 2
            kinds += [lambda: self.reduced(pick(sequences), values)] * 2
        if self.depth < MAX_DEPTH:
            kinds += [lambda: self.called(pick(values), values)]
        found: Value = pick(kinds)() if kinds else pick(values)
        return found

    def leaf_calls(self, values: Sequence[Value]) -> list[Callable[[], Any]]:
        """The pieces of leaf code that some of the values can be given to."""
        runtime = self.choose.pick(self.runtimes)
        calls: list[Callable[[], Any]] = []
        for name, piece in LEAVES.items():
            fitting = [of_type(values, parameter) for parameter in piece.parameters]
            runs = runtime != "numpy" or name not in TENSORFLOW_ONLY
            if runs and all(fitting):
                call = partial(self.leaf_call, leaf(name, runtime), fitting)
                calls += 4 * [call] if piece.parameters[-1] in READ else [call]
        return calls

    def leaf_call(self, code: Any, fitting: Sequence[Sequence[Value]]) -> Any:
        """Leaf code called with some of the values that fit its parameters."""
        return code(*map(self.choose.pick, fitting))

    def field_of(self, value: Value) -> Any:
        """One field of a structure, if it has any."""
        return self.choose.pick(list(value) or [value])

    def mapped(self, sequence: Value, values: Sequence[Value]) -> Any:
        """A function of each element."""
        type_: Any = sequence.type_signature
        captured = without_sequences(values)
        return fl.sequence_map(self.function(type_.element, captured), sequence)

    def reduced(self, sequence: Value, values: Sequence[Value]) -> Any:
        """A fold of all elements."""
        type_: Any = sequence.type_signature
        starts = without_sequences(values)
        if is_sum_compatible(type_.element) and (self.choose.flip() or not starts):
            return fl.sequence_sum(sequence)
        if not starts:
            return sequence
        start = self.choose.pick(starts)
        step = self.fold(start.type_signature, type_.element, values)
        return fl.sequence_reduce(sequence, start, step)

    def trained(self, batches: Value, model: Value) -> Any:
        """A model after some batches."""
        return fl.sequence_reduce(batches, model, self.leaf("train"))

    def called(self, value: Value, values: Sequence[Value]) -> Any:
        """A function written on the spot, and called."""
        return self.function(value.type_signature, values)(value)


def fields_of(values: Sequence[Value]) -> list[Value]:
    """The fields of those values that are structures."""
    structs = [v for v in values if isinstance(v.type_signature, StructType)]
    return [field for value in structs for field in value]


def of_type(values: Sequence[Value], type_: Type) -> list[Value]:
    """The values of a type."""
    return [v for v in values if type_.is_equivalent_to(v.type_signature)]


def without_sequences(values: Sequence[Value]) -> list[Value]:
    """The values that no sequence is a part of: a sequence cannot hold others."""
    return [v for v in values if not v.type_signature.contains(is_sequence)]


def is_sequence(type_: Type) -> bool:
    """Whether it is the type of a sequence."""
    return isinstance(type_, SequenceType)
