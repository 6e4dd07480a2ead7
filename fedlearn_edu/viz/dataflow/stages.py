# SPDX-License-Identifier: Apache-2.0
"""A program before and after each pass of the compiler, and what became of each step.

The passes are the compiler's own; a step is one call of the straightened program.
"""

from dataclasses import dataclass, replace
from typing import final

from fedlearn_edu.compiler.expand_intrinsics import expand_intrinsics
from fedlearn_edu.compiler.fuse import fuse, fusers
from fedlearn_edu.compiler.map_fusion import join_chains
from fedlearn_edu.compiler.normal_form import straighten
from fedlearn_edu.contexts.factories import local_executor_factory
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import intrinsics, leaves, runtimes, walk
from fedlearn_edu.types import FederatedType
from fedlearn_edu.viz.dataflow import naming
from fedlearn_edu.viz.dataflow.reading import as_program
from fedlearn_edu.viz.dataflow.record import Lane, lane_of

Origins = dict[str, tuple[int, ...]]
_ARRANGING = ("federated_zip", "federated_value")
_NAMED_BY_FUNCTION = ("federated_map", "federated_apply", "federated_eval")


@final
@dataclass(frozen=True)
class Step:
    """One call.

    Attributes:
        name: what is called.
        start: where its arguments are.
        end: where its result is.
        comes_from: the steps of the stage before that it was made of, by place.
        is_leaf: whether it is one piece of code for a runtime.
    """

    name: str
    start: Lane
    end: Lane
    comes_from: tuple[int, ...] = ()
    is_leaf: bool = False


@final
@dataclass(frozen=True)
class Stage:
    """The program between two passes.

    Attributes:
        title: in a word.
        about: what the pass did.
        steps: in order.
    """

    title: str
    about: str
    steps: tuple[Step, ...]


def stages(tree: ir.Node) -> tuple[Stage, ...]:
    """As written, expanded, joined, fused; passes that change nothing are left out."""
    native = local_executor_factory(support_sequence_ops=True).native({})
    written = straight(as_program(tree))
    expanded = straight(as_program(expand_intrinsics(written, native)))
    origins = _origins_of_expansion(written, expanded, native)
    found = [
        Stage("as written", "one box for each call", _steps(written, {})),
        Stage("expanded", "means and sums written out", _steps(expanded, origins)),
    ]
    # As `fuse` does it, where one runtime is alone in the program and can fuse.
    if len(runtimes(expanded)) == 1 and runtimes(expanded) <= fusers.keys():
        joined = as_program(join_chains(expanded, native))
        fused = fuse(expanded, native)
        origins = _origins_of_joining(expanded, joined)
        same: Origins
        same = {name: (place,) for place, (name, _) in enumerate(_bound(joined))}
        if isinstance(fused, ir.Leaf):  # all of it became one
            fused = straight(as_program(fused))
            same = {name: tuple(range(len(same))) for name, _ in _bound(fused)}
        assert isinstance(fused, ir.Lambda)
        before = found[-1].steps
        steps = _renamed(_steps(joined, origins), before)
        found.append(Stage("joined", "steps at one place become one", steps))
        steps = _renamed(_steps(fused, same), steps)
        found.append(Stage("fused", "functions become leaves", steps))
    return tuple(_without_idle(found))


def straight(program: ir.Lambda) -> ir.Lambda:
    """One call for each binding; straightened once more, it keeps all its names.

    The first time, names are given to what functions captured; the second time they
    are no longer needed.
    """
    return straighten(straighten(program))


def _renamed(steps: tuple[Step, ...], before: tuple[Step, ...]) -> tuple[Step, ...]:
    """Steps named by what they were made of; what only arranges is left out."""
    return tuple(
        replace(step, name=_together([before[i].name for i in step.comes_from]))
        if step.comes_from
        else step
        for step in steps
    )


def _together(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    named = [name for name in names if not name.startswith((".", *_ARRANGING))]
    working = [name for name in named if name != "federated_aggregate"]
    return " + ".join(dict.fromkeys(named if working else [*names[:-1], names[-1]]))


def _without_idle(found: list[Stage]) -> list[Stage]:
    kept = found[:1]
    for stage in found[1:]:
        before = [(step.name, step.is_leaf) for step in kept[-1].steps]
        if [(step.name, step.is_leaf) for step in stage.steps] != before:
            kept.append(stage)
    return kept


def _bound(program: ir.Lambda) -> tuple[tuple[str, ir.Node], ...]:
    assert isinstance(program.body, ir.Block)
    return program.body.locals


def _steps(program: ir.Lambda, origins: Origins) -> tuple[Step, ...]:
    return tuple(_step(value, origins.get(name, ())) for name, value in _bound(program))


def _step(value: ir.Node, comes_from: tuple[int, ...]) -> Step:
    end = lane_of(value.type)
    if not isinstance(value, ir.Call):
        return Step("pick", end, end, comes_from)
    function, argument = value.function, value.argument
    start, is_leaf = end, isinstance(function, ir.Leaf)
    name = naming.function(function)
    if isinstance(function, ir.Intrinsic) and isinstance(argument, ir.Struct):
        parts = [part for _, part in argument.elements]
        code = parts[0] if parts else argument
        if function.uri in _NAMED_BY_FUNCTION:
            name, is_leaf = naming.function(code), _is_code(code)
        elif function.uri == "federated_map_aggregate":
            is_leaf = _is_code(code)
    elif isinstance(function, ir.Intrinsic) and function.uri in _NAMED_BY_FUNCTION:
        assert argument is not None
        name, is_leaf = naming.function(argument), _is_code(argument)
    if argument is not None:
        start = _start(argument, end)
    return Step(name, start, end, comes_from, is_leaf)


def _is_code(function: ir.Node) -> bool:
    """One piece of leaf code, perhaps in a thin function that hands it its argument."""
    return len(leaves(function)) == 1 and not intrinsics(function)


def _start(argument: ir.Node, end: Lane) -> Lane:
    """Where the arguments of a call are, if not where its result is."""
    parts = (
        argument.elements if isinstance(argument, ir.Struct) else ((None, argument),)
    )
    types = [part.type for _, part in parts]
    placed = {lane_of(type_) for type_ in types if isinstance(type_, FederatedType)}
    return next(iter(placed - {end}), end)


def _origins_of_expansion(
    written: ir.Lambda, expanded: ir.Lambda, native: frozenset[str]
) -> Origins:
    """Calls are made in the same order: so many have been made after each step."""
    bound = _bound(written)
    origins: Origins = {}
    done = 0
    for place in range(len(bound)):
        until = ir.Block(bound[: place + 1], ir.Struct(()))
        whole = ir.Lambda(written.parameter, written.parameter_type, until)
        made = len(_bound(straight(as_program(expand_intrinsics(whole, native)))))
        for name, _ in _bound(expanded)[done:made]:
            origins[name] = (place,)
        done = made
    return origins


def _origins_of_joining(expanded: ir.Lambda, joined: ir.Lambda) -> Origins:
    """Who is gone has become a part of the only one that used it."""
    before = _bound(expanded)
    users = {
        part.name: user
        for user, value in before
        for part in walk(value)
        if isinstance(part, ir.Reference)
    }
    kept = {name for name, _ in _bound(joined)}
    origins: Origins = {}
    for place, (name, _) in enumerate(before):
        owner = name
        while owner not in kept and owner in users:
            owner = users[owner]
        origins[owner] = (*origins.get(owner, ()), place)
    return origins
