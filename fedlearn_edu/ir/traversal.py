# SPDX-License-Identifier: Apache-2.0
"""Walking and rebuilding trees, knowing which names are free.

The compiler and the executors use these; no meaning is given to any node here.
"""

from collections import ChainMap, defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.types import Type

T = TypeVar("T")


def children(node: ir.Node) -> tuple[ir.Node, ...]:
    """The nodes directly below `node`, in the order they are written."""
    match node:
        case ir.Selection(source=source):
            return (source,)
        case ir.Struct(elements=elements):
            return tuple(element for _, element in elements)
        case ir.Call(function=function, argument=argument):
            return (function,) if argument is None else (function, argument)
        case ir.Lambda(body=body):
            return (body,)
        case ir.Block(locals=bound, result=result):
            return (*(value for _, value in bound), result)
        case _:
            _check_atom(node)
            return ()


def rebuild(node: ir.Node, fn: Callable[[ir.Node], ir.Node]) -> ir.Node:
    """The same node with `fn` applied to each child (one level)."""
    match node:
        case ir.Selection(source=source, index=index):
            return ir.Selection(fn(source), index)
        case ir.Struct(elements=elements, python_container=container):
            return ir.Struct(tuple((n, fn(e)) for n, e in elements), container)
        case ir.Call(function=function, argument=argument):
            return ir.Call(fn(function), None if argument is None else fn(argument))
        case ir.Lambda(parameter=parameter, parameter_type=type_, body=body):
            return ir.Lambda(parameter, type_, fn(body))
        case ir.Block(locals=bound, result=result):
            return ir.Block(tuple((n, fn(v)) for n, v in bound), fn(result))
        case _:
            _check_atom(node)
            return node


def _check_atom(node: ir.Atom) -> None:
    """Nothing to do: a type checker sees here that no kind of node was forgotten."""


def rebuild_atoms(node: ir.Node, fn: Callable[[ir.Node], ir.Node]) -> ir.Node:
    """The same tree with `fn` applied to everything that has nothing below it.

    No recursion: programs are deeper than Python's stack sooner than types are.
    """
    stack, made = [(node, False)], list[ir.Node]()
    while stack:
        here, is_ready = stack.pop()
        below = children(here)
        if is_ready:
            parts = iter(made[len(made) - len(below) :])
            del made[len(made) - len(below) :]
            made.append(rebuild(here, lambda _, parts=parts: next(parts)))  # type: ignore[misc]
        elif below:
            stack.append((here, True))
            stack.extend((child, False) for child in reversed(below))
        else:
            made.append(fn(here))
    return made[0]


def field(source: ir.Node, index: int) -> ir.Node:
    """The field of a structure: its node, where the structure is written down."""
    if isinstance(source, ir.Struct):
        return source.elements[index][1]
    return ir.Selection(source, index)


def walk(node: ir.Node) -> Iterator[ir.Node]:
    """`node` and everything below it, parents first."""
    stack = [node]
    while stack:
        yield (here := stack.pop())
        stack.extend(reversed(children(here)))


def free_references(node: ir.Node) -> dict[str, Type]:
    """The names used in `node` but bound outside it, with their types."""
    return {reference.name: reference.type for reference in free_nodes(node)}


def free_nodes(node: ir.Node) -> Iterator[ir.Reference]:
    """Every mention of a name that is bound outside `node`, in order."""
    bound = defaultdict[str, int](int)
    stack: list[ir.Node | tuple[str | None, int]] = [node]
    while stack:
        match stack.pop():
            case (name, change):
                bound[name or ""] += change
            case ir.Reference(name=name) as here:
                if not bound[name]:
                    yield here
            case ir.Lambda(parameter=parameter, body=body):
                stack += [(parameter, -1), body, (parameter, 1)]
            case ir.Block(locals=locals_, result=result):
                stack += [(name, -1) for name, _ in locals_]
                stack.append(result)
                for name, value in reversed(locals_):
                    stack += [(name, 1), value]
            case other:
                stack.extend(reversed(children(other)))


def substitute(node: ir.Node, bindings: Mapping[str, ir.Node]) -> ir.Node:
    """Replaces free references by name; the replacements must be closed."""
    if not bindings:
        return node
    match node:
        case ir.Reference(name=name):
            return bindings.get(name, node)
        case ir.Lambda(parameter=parameter, parameter_type=type_, body=body):
            inner = {n: b for n, b in bindings.items() if n != parameter}
            return ir.Lambda(parameter, type_, substitute(body, inner))
        case ir.Block(locals=bound, result=result):
            inner = dict(bindings)
            rebound = []
            for name, value in bound:
                rebound.append((name, substitute(value, inner)))
                inner.pop(name, None)
            return ir.Block(tuple(rebound), substitute(result, inner))
        case _:
            return rebuild(node, lambda child: substitute(child, bindings))


def with_name(name: str, value: T, scope: ChainMap[str, T]) -> ChainMap[str, T]:
    """The scope of a block with one more name bound; extended in place where possible.

    A function that was written before may mean another value of the same name.
    """
    if name in scope:
        return scope.new_child({name: value})
    scope[name] = value
    return scope


def captured_constants(node: ir.Node) -> tuple[ir.Literal, ...]:
    """The values that travel with a function because it captured them."""
    literals = (n for n in walk(node) if isinstance(n, ir.Literal))
    return tuple(literal for literal in literals if literal.captured_as)


def runtimes(node: ir.Node) -> frozenset[str]:
    """The runtimes whose leaf code `node` contains."""
    found = {n.runtime for n in walk(node) if isinstance(n, ir.Leaf)}
    return frozenset(found - {ir.ANY_RUNTIME})


def leaves(node: ir.Node) -> tuple[ir.Leaf, ...]:
    """All pieces of leaf code in a tree, operations included."""
    return tuple(part for part in walk(node) if isinstance(part, ir.Leaf))


def is_pure(node: ir.Node) -> bool:
    """Whether it makes no difference how often its leaf code runs."""
    return all(getattr(leaf.code, "is_pure", False) for leaf in leaves(node))


def intrinsics(node: ir.Node) -> tuple[ir.Intrinsic, ...]:
    """The intrinsics `node` mentions, in the order of first mention."""
    found = [n for n in walk(node) if isinstance(n, ir.Intrinsic)]
    return tuple(dict.fromkeys(found))
