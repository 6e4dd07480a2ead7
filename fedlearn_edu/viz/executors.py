# SPDX-License-Identifier: Apache-2.0
"""What notebooks show of executors: boxes on top of each other, and next to each other.

Of an environment, a factory or a context the plan is shown, for any number of clients;
of an executor, perhaps built by hand, all executors below it. Whatever an executor
holds that is an executor is below it: this needs no list of executors, and shows those
of your own as well. Equal neighbors are one pile, and what all of them have below is
shown once.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from inspect import getdoc
from typing import Any, TypeAlias, final

from fedlearn_edu.contexts.execution import AsyncExecutionContext, SyncExecutionContext
from fedlearn_edu.contexts.factories import ExecutorFactory, LocalExecutorFactory
from fedlearn_edu.executors.base import Executor
from fedlearn_edu.executors.federating import FederatingExecutor, FederatingStrategy
from fedlearn_edu.simulation.environments import Environment
from fedlearn_edu.simulation.outline import LayerOutline, StackOutline, outline_of
from fedlearn_edu.types import CLIENTS as AT_CLIENTS
from fedlearn_edu.types import SERVER as AT_SERVER
from fedlearn_edu.types import Placement
from fedlearn_edu.viz.colors import CLIENTS, QUIET, SERVER
from fedlearn_edu.viz.html import FAINT, box, code, edge, figure, rows, strong, tag

_COLORS = {str(AT_CLIENTS): CLIENTS, str(AT_SERVER): SERVER}
_BETWEEN = 2
_PLACES = {str(AT_SERVER): 0, str(AT_CLIENTS): 1, "unplaced": _BETWEEN + 1}
_WORDS = {"server": str(AT_SERVER), "children": "group of clients"}
_FIGURE = "margin:.5em 0;padding:0 8px 0 0;line-height:1.4;overflow-x:auto"
_BOX = "padding:3px 8px;margin:0 0 4px"
_ABSENT = f"border:2px dashed {QUIET};border-radius:4px;{_BOX}"
_FRAME = f"border:1px solid {QUIET};border-radius:4px;padding:6px 6px 2px"
_ROW = "list-style:none;margin:0;padding:0;display:flex;gap:10px"
_LIST = f"{_ROW};margin:4px 0 0;flex-wrap:wrap;align-items:flex-start"


def draw_factory(factory: ExecutorFactory, title: str = "executor factory") -> str:
    """The stacks that a factory builds, as a `<figure>`."""
    if type(factory) is LocalExecutorFactory:
        return draw_outline(outline_of(factory), title)
    return draw_custom(factory, title)


def draw_context(context: SyncExecutionContext | AsyncExecutionContext) -> str:
    """The stacks that a context runs computations on, as a `<figure>`."""
    factory, is_awaited = context.factory, isinstance(context, AsyncExecutionContext)
    title = f"context that {'is awaited' if is_awaited else 'waits for results'}"
    return draw_factory(factory, title)


def draw_custom(factory: ExecutorFactory, title: str = "executor factory") -> str:
    """What is known of a user's own factory: the intrinsics it runs."""
    native = ", ".join(sorted(factory.native({})))
    kind = code(type(factory).__name__)
    name = f"{strong(title.capitalize())}, built by hand: {kind}"
    implements = f"implements {native or 'no intrinsic'}; others are expanded"
    return figure(title, tag("figcaption", name), implements, style=_FIGURE)


def draw_environment(environment: Environment) -> str:
    """The stack of an environment, as a `<figure>`.

    >>> from fedlearn_edu.simulation import local_executor_factory
    >>> "sequence operators: <strong>no</strong>" in draw_environment(
    ...     local_executor_factory()
    ... )
    True
    """
    status = "environment, closed" if environment.is_closed else "environment"
    return draw_outline(environment.outline, status)


def draw_outline(outline: StackOutline, status: str) -> str:
    """A stack of executors and its title, as a `<figure>`."""
    answer = outline.has_sequence_operators
    article = "an" if status[0] in "aeiou" else "a"
    title = f"{strong(status.capitalize())}, sequence operators: {strong(answer)}"
    remarks = "<br>".join(
        f"<em>{escape(word)}</em>: {escape(what)}" for word, what in outline.remarks
    )
    own = _chain(outline.own)
    groups = [(g.name, " ".join([g.count, *g.on_top]), own) for g in outline.groups]
    return figure(
        f"Stack of executors of {article} {status}, sequence operators: {answer}",
        tag("figcaption", title, style="margin-bottom:6px"),
        _box(_chain(outline.shared, tuple(groups))),
        tag("div", remarks, style="font-size:.9em;margin-top:6px"),
        style=_FIGURE,
    )


_Parts: TypeAlias = "tuple[tuple[str, int | str, Layer], ...]"


@final
@dataclass(frozen=True)
class Layer:
    """An executor, and what is below it.

    Attributes:
        name: of its class.
        task: what it is for, the first sentence of its documentation.
        below: the executors it holds, as (what for, how many, the executor).
        is_there: whether the stack has it, or is shown to do without.
    """

    name: str
    task: str
    below: _Parts = ()
    is_there: bool = True


def _chain(layers: Sequence[LayerOutline], below: _Parts = ()) -> Layer:
    """Layers on top of each other, and what is below the last one."""
    first, *rest = layers
    held = (("target", 1, _chain(rest, below)),) if rest else below
    return Layer(first.name, first.task, held, first.is_there)


def draw_executor(executor: Executor) -> str:
    """The executor on top of those it passes work to, as a `<figure>`.

    >>> from fedlearn_edu import framework
    >>> stack = framework.ReferenceResolvingExecutor(framework.NumPyExecutor())
    >>> "NumPyExecutor" in draw_executor(stack)
    True
    """
    layer = layer_of(executor)
    return figure(f"Stack of executors below {layer.name}", _box(layer), style=_FIGURE)


def layer_of(executor: Executor, above: tuple[int, ...] = ()) -> Layer:
    """The tree of an executor, which is below those with these ids."""
    path = (*above, id(executor))
    held: Counter[tuple[str, Layer]] = Counter()
    for word, below in _held(executor):
        if id(below) not in path:
            held[word, layer_of(below, path)] += 1
    parts = [(word, count, layer) for (word, layer), count in held.items()]
    parts.sort(key=lambda part: _PLACES.get(part[0], _BETWEEN))
    task = (getdoc(type(executor)) or "").partition("\n")[0]
    return Layer(type(executor).__name__, task, tuple(parts))


def _held(holder: object) -> Iterator[tuple[str, Executor]]:
    """Every executor that an executor or a strategy holds, with a word for it."""
    for name, value in vars(holder).items():
        if isinstance(value, FederatingStrategy):
            yield from _held(value)
        elif name != "targets":  # of a strategy: those it holds, once more
            word = name.strip("_")
            if isinstance(holder, FederatingExecutor) and value is holder.unplaced:
                word = "unplaced"
            yield from _executors(value, _WORDS.get(word, word))


def _executors(value: Any, word: str) -> Iterator[tuple[str, Executor]]:
    if isinstance(value, Executor):
        yield word, value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            inner = str(key) if isinstance(key, Placement | str) else word
            yield from _executors(part, inner)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _executors(part, word)


def _box(layer: Layer) -> str:
    name = layer.name if layer.is_there else f"no {layer.name}"
    text = f"{strong(name)} {escape(layer.task)}"
    is_there = layer.is_there
    shown = box(text, style=_BOX) if is_there else tag("div", text, style=_ABSENT)
    kinds = {below for _, _, below in layer.below}
    match layer.below:
        case ():
            return shown
        case ((_, 1, only),):
            return shown + _box(only)
        case below if len(kinds) == 1:
            return shown + _box_of_all(below)
        case below:
            return shown + rows([_pile(*part) for part in below], _LIST)


def _box_of_all(below: _Parts) -> str:
    """Who is there, and what each of them has."""
    line = tag("div", style=f"width:2px;height:12px;margin:auto;background:{QUIET}")
    lines = len(below) * tag("div", line, style="flex:1 1 0")
    joined = tag("div", lines, aria_hidden="true", style="display:flex;gap:10px")
    own = tag("div", "each of them has its own:", style="margin-bottom:4px")
    piles = rows([_pile(word, count) for word, count, _ in below], _ROW)
    return f"{joined}{piles}{joined}{tag('div', own, _box(below[0][2]), style=_FRAME)}"


def _pile(word: str, count: int | str, layer: Layer | None = None) -> str:
    """Participants in the color of their placement, and what they have below."""
    color = _COLORS.get(word, QUIET)
    inner = [tag("div", f"{strong(word)} ×&nbsp;{escape(str(count))}")]
    look = f"margin:0;padding:4px 8px;{edge(':2px', color)};border-radius:4px"
    if str(count) != "1":
        look += f";box-shadow:3px 3px {color}99,6px 6px {color}55"
    if layer is None:
        look += f";flex:1 1 0;background:{color}{FAINT}"
    else:
        look += ";flex:1 1 14em"
        inner += [tag("div", _box(layer), style="margin-top:4px")]
    return tag("li", *inner, style=look)
