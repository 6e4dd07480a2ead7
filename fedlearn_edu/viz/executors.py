# SPDX-License-Identifier: Apache-2.0
"""Draws an executor, perhaps built by hand, and all executors below it, in HTML.

Whatever an executor holds that is an executor is below it: this needs no list of
executors, and shows those of your own as well. Equal neighbors are one pile.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from inspect import getdoc
from typing import Any, final

from fedlearn_edu.executors.base import Executor
from fedlearn_edu.executors.strategies.base import FederatingStrategy
from fedlearn_edu.types import CLIENTS as AT_CLIENTS
from fedlearn_edu.types import SERVER as AT_SERVER
from fedlearn_edu.types import Placement
from fedlearn_edu.viz.colors import CLIENTS, QUIET, SERVER

_FAINT = "1f"
_BETWEEN = 2
_PLACES = {str(AT_SERVER): 0, str(AT_CLIENTS): 1, "unplaced": _BETWEEN + 1}
_WORDS = {"server": str(AT_SERVER), "children": "group of clients"}
_COLORS = {str(AT_CLIENTS): CLIENTS, str(AT_SERVER): SERVER}
_LIST = "list-style:none;margin:4px 0 0;padding:0;display:flex;flex-wrap:wrap;gap:8px;"
_LIST += "align-items:flex-start"


@final
@dataclass(frozen=True)
class Layer:
    """An executor, and what is below it.

    Attributes:
        name: of its class.
        task: what it is for, the first sentence of its documentation.
        below: the executors it holds, as (what for, how many, the executor).
    """

    name: str
    task: str
    below: tuple[tuple[str, int, "Layer"], ...] = ()


def layer_of(executor: Executor) -> Layer:
    """The tree of an executor."""
    return _layer(executor, ())


def draw_executor(executor: Executor) -> str:
    """The executor on top of those it passes work to, as a `<figure>`.

    >>> from fedlearn_edu import framework
    >>> stack = framework.ReferenceResolvingExecutor(framework.NumPyExecutor())
    >>> "NumPyExecutor" in draw_executor(stack)
    True
    """
    layer = layer_of(executor)
    return (
        f'<figure role="group" aria-label="Stack of executors below {layer.name}" '
        'style="margin:.5em 0;padding:0 8px 0 0;line-height:1.4;overflow-x:auto">'
        f"{_box(layer)}</figure>"
    )


def _layer(executor: Executor, above: tuple[int, ...]) -> Layer:
    path = (*above, id(executor))
    held: Counter[tuple[str, Layer]] = Counter()
    for word, below in _held(executor):
        if id(below) not in path:
            held[word, _layer(below, path)] += 1
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
    below = layer.below
    is_chain = len(below) == 1 and below[0][1] == 1
    parts = "" if is_chain else _row(_part(*part) for part in below)
    box = (
        f'<div style="background:{QUIET}{_FAINT};border:1px solid {QUIET};'
        'border-radius:4px;padding:3px 8px;margin:0 0 4px">'
        f"<strong>{escape(layer.name)}</strong> {escape(layer.task)}</div>"
    )
    return f"{box}{_box(below[0][2])}" if is_chain else f"{box}{parts}"


def _row(items: Iterable[str]) -> str:
    text = "".join(items)
    return f'<ul role="list" style="{_LIST}">{text}</ul>' if text else ""


def _part(word: str, count: int, layer: Layer) -> str:
    color = _COLORS.get(word, QUIET)
    pile = "" if count == 1 else f"box-shadow:3px 3px {color}99,6px 6px {color}55;"
    title = f"<strong>{escape(word)}</strong>"
    if count > 1 or word in _COLORS:
        title += f" ×&nbsp;{count}"
    return (
        f'<li style="flex:1 1 14em;{pile}border:2px solid {color};border-radius:4px;'
        f'padding:4px 8px;margin:0 0 6px"><div style="margin-bottom:4px">{title}</div>'
        f"{_box(layer)}</li>"
    )
