# SPDX-License-Identifier: Apache-2.0
"""A program before and after each pass of the compiler, and what became of each step.

The passes are the compiler's own; a step is one call of the program in normal form.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import final

from fedlearn_edu.compiler.expansion import expand_intrinsics
from fedlearn_edu.compiler.normal_form import to_normal_form
from fedlearn_edu.compiler.pipeline import fuse, join_steps
from fedlearn_edu.contexts.factories import local_executor_factory
from fedlearn_edu.dataflow.flow import Lane, lane_of, parts
from fedlearn_edu.dataflow.from_ir import as_program, function_name
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.ir.traversal import intrinsics, leaves, walk
from fedlearn_edu.runtimes.registry import fusers

Origin = tuple[int, ...]  # the steps of the stage before that a step was made of
_ARRANGING = ("federated_zip", "federated_value")
_TOGETHER = "federated_map_aggregate"
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
    comes_from: Origin = ()
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
    written = normalized(as_program(tree))
    expanded = normalized(as_program(expand_intrinsics(written, native)))
    steps = _steps(expanded, _origins_of_expansion(written, native))
    found = [
        Stage("as written", "one box for each call", _steps(written)),
        Stage("expanded", "means and sums written out", steps),
    ]
    if (joined := as_program(join_steps(expanded, fusers(), native))) is not expanded:
        origins = _origins_of_joining(expanded, joined)
        steps = _renamed(_steps(joined, origins), steps)
        found.append(Stage("joined", "steps at one place become one", steps))
        fused = fuse(joined, fusers())
        same: list[Origin] = [(place,) for place in range(len(steps))]
        if isinstance(fused, ir.Leaf):  # all of it became one
            fused, same = normalized(as_program(fused)), [tuple(range(len(steps)))]
        steps = _renamed(_steps(fused, same), steps)
        found.append(Stage("fused", "functions become leaves", steps))
    return _without_repetition(found)


def normalized(program: ir.Lambda) -> ir.Lambda:
    """One call for each binding; normalized once more, it keeps all its names.

    The first pass names what functions captured, the second one drops those names.
    """
    return to_normal_form(to_normal_form(program))


def _renamed(steps: tuple[Step, ...], before: tuple[Step, ...]) -> tuple[Step, ...]:
    """Steps named by what they were made of; what only arranges is left out."""
    return tuple(
        replace(step, name=_together([before[i].name for i in step.comes_from]))
        if step.comes_from
        else step
        for step in steps
    )


def _together(names: list[str]) -> str:
    named = [name for name in names if not name.startswith((".", *_ARRANGING))]
    working = [name for name in named if name != "federated_aggregate"]
    return " + ".join(dict.fromkeys(named if working else names))


def _without_repetition(found: list[Stage]) -> tuple[Stage, ...]:
    kept = found[:1]
    for stage in found[1:]:
        before = [(step.name, step.is_leaf) for step in kept[-1].steps]
        if [(step.name, step.is_leaf) for step in stage.steps] != before:
            kept.append(stage)
    return tuple(kept)


def _bound(program: ir.Node) -> tuple[tuple[str, ir.Node], ...]:
    assert isinstance(program, ir.Lambda)
    assert isinstance(program.body, ir.Block)
    return program.body.locals


def _steps(program: ir.Node, origins: Iterable[Origin] = ()) -> tuple[Step, ...]:
    values = (value for _, value in _bound(program))
    return tuple(map(_step, values, chain(origins, repeat(()))))


def _step(value: ir.Node, comes_from: Origin) -> Step:
    end = lane_of(value.type)
    if not isinstance(value, ir.Call):
        return Step("pick", end, end, comes_from)
    given = [] if value.argument is None else list(parts(value.argument))
    lanes = [lane_of(part.type) for part in given]
    start = next((lane for lane in lanes if lane not in (end, Lane.UNPLACED)), end)
    uri = value.function.uri if isinstance(value.function, ir.Intrinsic) else ""
    code = given[0] if uri in (*_NAMED_BY_FUNCTION, _TOGETHER) else value.function
    name = function_name(value.function if uri == _TOGETHER else code)
    is_leaf = len(leaves(code)) == 1 and not intrinsics(code)
    return Step(name, start, end, comes_from, is_leaf)


def _origins_of_expansion(written: ir.Lambda, native: frozenset[str]) -> list[Origin]:
    """What a step adds to the program so far, once that is expanded, comes from it."""
    bound = _bound(written)
    origins: list[Origin] = []
    for place in range(len(bound)):
        until = ir.Block(bound[: place + 1], ir.Struct(()))
        program = ir.Lambda(written.parameter, written.parameter_type, until)
        made = _bound(normalized(as_program(expand_intrinsics(program, native))))
        origins += [(place,)] * (len(made) - len(origins))
    return origins


def _origins_of_joining(expanded: ir.Lambda, joined: ir.Node) -> list[Origin]:
    """A step that is gone has become part of the only one that used its result."""
    users = {
        part.name: user
        for user, value in _bound(expanded)
        for part in walk(value)
        if isinstance(part, ir.Reference)
    }
    origins: dict[str, Origin] = {name: () for name, _ in _bound(joined)}
    for place, (name, _) in enumerate(_bound(expanded)):
        owner = name
        while owner not in origins and owner in users:
            owner = users[owner]
        if owner in origins:
            origins[owner] += (place,)
    return list(origins.values())
