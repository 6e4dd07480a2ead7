# SPDX-License-Identifier: Apache-2.0
"""Draws an environment, or what it is made of: executors as boxes on top of each other.

Text in boxes rather than a picture: it wraps on a phone, can be read aloud and found,
and takes its color from the page, so that it is as readable on black as on white.
"""

from collections.abc import Iterable
from html import escape

from fedlearn_edu.contexts.execution import AsyncExecutionContext, SyncExecutionContext
from fedlearn_edu.contexts.factories import ExecutorFactory, LocalExecutorFactory
from fedlearn_edu.simulation.environments import Environment
from fedlearn_edu.simulation.outline import (
    GroupOutline,
    LayerOutline,
    StackOutline,
    outline_of,
)
from fedlearn_edu.viz.colors import CLIENTS, QUIET, SERVER

_COLORS = {"SERVER": SERVER, "CLIENTS": CLIENTS}
_LIST = "list-style:none;margin:0;padding:0;display:flex;gap:4px"
_FAINT = "1f"  # what is added to a color for a fill that any text can be read on


def draw_factory(factory: LocalExecutorFactory) -> str:
    """The stacks that a factory builds, as a `<figure>`."""
    return draw_outline(outline_of(factory.plan), "executor factory")


def draw_context(context: SyncExecutionContext | AsyncExecutionContext) -> str:
    """The stacks that a context runs computations on, as a `<figure>`."""
    factory = context.factory
    title = "context that waits for results"
    if isinstance(context, AsyncExecutionContext):
        title = "context that is awaited"
    if isinstance(factory, LocalExecutorFactory):
        return draw_outline(outline_of(factory.plan), title)
    return draw_custom(factory, title)


def draw_custom(factory: ExecutorFactory, title: str = "executor factory") -> str:
    """What can be said of a factory of somebody's own: the intrinsics it knows."""
    native = sorted(factory.native({}))
    name = escape(type(factory).__name__)
    return (
        f'<figure role="group" aria-label="{title}" '
        'style="margin:.5em 0;max-width:36em;line-height:1.4">'
        f"<figcaption><strong>{title.capitalize()}</strong>, built by hand: "
        f"<code>{name}</code></figcaption>"
        f"implements {', '.join(native) or 'no intrinsic'}; others are expanded"
        "</figure>"
    )


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
    label = f"Stack of executors of {article} {status}, sequence operators: {answer}"
    caption = f"<strong>{status.capitalize()}</strong>, "
    caption += f"sequence operators: <strong>{answer}</strong>"
    remarks = "<br>".join(
        f"<em>{escape(word)}</em>: {escape(what)}" for word, what in outline.remarks
    )
    return (
        f'<figure role="group" aria-label="{label}" '
        'style="margin:.5em 0;max-width:36em;line-height:1.4">'
        f'<figcaption style="margin-bottom:6px">{caption}</figcaption>'
        f"{_column(map(_layer, outline.shared))}"
        f"{_lines(outline)}{_row(map(_group, outline.groups))}{_lines(outline)}"
        f'<div style="border:1px solid {QUIET};border-radius:4px;padding:6px">'
        '<div style="margin-bottom:4px">each of them has its own:</div>'
        f"{_column(map(_layer, outline.own))}</div>"
        f'<div style="font-size:.9em;margin-top:6px">{remarks}</div>'
        "</figure>"
    )


def _column(items: Iterable[str]) -> str:
    return (
        f'<ol role="list" style="{_LIST};flex-direction:column">{"".join(items)}</ol>'
    )


def _row(items: Iterable[str]) -> str:
    return f'<ul role="list" style="{_LIST}">{"".join(items)}</ul>'


def _lines(outline: StackOutline) -> str:
    """What joins each group to the layers above and below it."""
    line = f'<div style="width:2px;height:12px;margin:auto;background:{QUIET}"></div>'
    lines = len(outline.groups) * f'<div style="flex:1 1 0">{line}</div>'
    return f'<div aria-hidden="true" style="display:flex">{lines}</div>'


def _layer(layer: LayerOutline) -> str:
    border, name = f"1px solid {QUIET}", escape(layer.name)
    fill = f"background:{QUIET}{_FAINT};"
    if not layer.is_there:
        border, name, fill = f"2px dashed {QUIET}", f"no {name}", ""
    return (
        f'<li style="{fill}border:{border};border-radius:4px;padding:3px 8px;margin:0">'
        f"<strong>{name}</strong> {escape(layer.task)}</li>"
    )


def _group(group: GroupOutline) -> str:
    color = _COLORS.get(group.name, QUIET)
    pile = (
        "" if group.count == "1" else f"box-shadow:3px 3px {color}99,6px 6px {color}55;"
    )
    on_top = "".join(f"<br>{escape(layer)}" for layer in group.on_top)
    title = f"<strong>{escape(group.name)}</strong> ×&nbsp;{escape(group.count)}"
    return (
        f'<li style="flex:1 1 0;{pile}background:{color}{_FAINT};'
        f'border:2px solid {color};border-radius:4px;padding:3px 8px;margin:0">'
        f"{title}{on_top}</li>"
    )
