# SPDX-License-Identifier: Apache-2.0
"""`draw_server_view`: what each client sends to the server, and how it is seen.

A row for each value: from three clients, through the ring where values are combined,
to the server. Without a ring, all three arrive.
"""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fedlearn_edu.dataflow.flow import Lane
from fedlearn_edu.dataflow.server_view import (
    Exposure,
    SentValue,
    ServerView,
    what_the_server_sees,
)
from fedlearn_edu.errors import short_traceback
from fedlearn_edu.viz import colors, style
from fedlearn_edu.viz.dataflow import primitives
from fedlearn_edu.viz.dataflow.drawing import too_long
from fedlearn_edu.viz.dataflow.primitives import (
    EDGE_IN,
    LINE_IN,
    NAME,
    PLAIN,
    QUIET,
    Line,
    wrapped,
)
from fedlearn_edu.viz.shortening import short, size_text

Row = tuple[list[Line], list[Line]]
_MAX_ROWS = 50
_PAD_IN, _HEAD_IN = 0.16, 0.36
_SHARES = (0.0, 0.34, 0.62, 1.0)  # where the server ends, and where clients begin
_FAN_IN = 0.2  # between two clients
_RING = 0.6  # of the way, from the server
_ALONE: dict[str, Any] = {"color": colors.CLIENTS_EDGE}
_JOINING = _ALONE | {"arrowstyle": "-", "linewidth": 1.8}
_MASKED = _JOINING | {"linestyle": (0, (1.0, 1.6))}
_TOGETHER = _ALONE | primitives.THICK
_CLIENT: dict[str, Any] = {
    "marker": "o",
    "mfc": colors.CLIENTS_EDGE,
    "ms": 7,
    "mec": "w",
}
_MASK: dict[str, Any] = {"marker": "s", "mfc": colors.INK, "ms": 8, "mec": colors.INK}
_RING_LOOK = _CLIENT | {"mfc": "w", "mec": colors.CLIENTS_EDGE, "mew": 2.4, "ms": 13}


@short_traceback
@style.in_our_look
def draw_server_view(
    program: Any, *, width_in: float = style.WIDE_IN, figure: Figure | None = None
) -> Figure:
    """Draws what each client sends to the server, and how the server sees it.

    Three clients stand for all. What they send arrives by itself, or joins in a ring:
    there it is combined. Dotted lines from squares are masked.

    Args:
        program: What `fl.what_the_server_sees` takes, or what it returned.
        width_in: Width in inches; the height follows from the program.
        figure: An empty one to draw in, such as `plt.figure()`; it is made as large as
            the picture. By default a new one.

    Raises:
        FigureDataError: if it sends too many values for a picture.
        TypeMismatchError: if it is no computation with types.

    >>> import numpy as np
    >>> import fedlearn_edu as fl
    >>> @fl.federated_computation(fl.type_at_clients(np.float32))
    ... def gather(values):
    ...     return fl.federated_collect(values)
    >>> print(fl.viz.draw_server_view(gather).get_label())
    gather: the server sees each client's values. Each client sends values
    (float32, 4 B), one by one: each is seen.
    """
    style.check_width(width_in)
    view = program if isinstance(program, ServerView) else what_the_server_sees(program)
    if len(view.values) > _MAX_ROWS:
        raise too_long(view.name, len(view.values), _MAX_ROWS, "values sent")
    inner_in = width_in - 2 * EDGE_IN
    heading = wrapped(view.sentence, NAME, inner_in)
    top = len(heading) * LINE_IN + 2 * EDGE_IN
    edges = [EDGE_IN + share * inner_in for share in _SHARES]
    paths = [value.path for value in view.values]
    names = [f"{p}{' again' * (p in paths[:row])}" for row, p in enumerate(paths)]
    rows = [_words(*each, edges) for each in zip(view.values, names, strict=True)]
    heights = [_height_in(row) for row in rows]
    bottom = top + (_HEAD_IN + sum(heights) + EDGE_IN if rows else 0)
    figure, axes = primitives.page(width_in, bottom + EDGE_IN, figure, heading)
    if rows:
        server, clients = ((a, top, b, bottom) for a, b in (edges[:2], edges[2:]))
        primitives.column(axes, Lane.SERVER, "SERVER", server)
        primitives.column(axes, Lane.CLIENTS, "CLIENTS × n", clients)
    y = top + _HEAD_IN
    for value, row, height in zip(view.values, rows, heights, strict=True):
        _arrows(axes, value.exposure, edges, y + height / 2)
        for lines, left, right in zip(row, edges[::2], edges[1::2], strict=True):
            first = y + (height - len(lines) * LINE_IN) / 2
            primitives.write(axes, lines, (left + right) / 2, first)
        y += height
    return style.say(figure, _said(view))


def _words(value: SentValue, name: str, edges: list[float]) -> Row:
    """What is written at the server, and at the clients."""
    server_in, clients_in = edges[1] - edges[0], edges[3] - edges[2]
    seen = wrapped(value.way, PLAIN, server_in - _PAD_IN)
    seen += wrapped(value.intrinsic, QUIET, server_in - _PAD_IN)
    told = " · ".join(filter(None, [name, size_text(value.nbytes)]))
    sent = wrapped(told, NAME, clients_in - 3 * _PAD_IN)
    return seen, sent + wrapped(short(value.type), PLAIN, clients_in - 3 * _PAD_IN)


def _height_in(row: Row) -> float:
    return max(2 * _FAN_IN, *(len(part) * LINE_IN for part in row)) + 2 * _PAD_IN


def _arrows(axes: Axes, exposure: Exposure, edges: list[float], y: float) -> None:
    """The way of one value, from three clients to the server."""
    server, clients = edges[1], edges[2] + _PAD_IN / 2
    ring = server + _RING * (clients - server)
    is_single = exposure in (Exposure.SINGLE, Exposure.UNKNOWN)  # it may be seen
    is_masked = exposure is Exposure.MASKED
    for place in (y - _FAN_IN, y, y + _FAN_IN):
        end = (server, place) if is_single else (ring, y)
        look = _ALONE if is_single else _MASKED if is_masked else _JOINING
        primitives.arrow(axes, (clients, place), end, **look)
        axes.plot(clients, place, zorder=6, **(_MASK if is_masked else _CLIENT))
    if not is_single:
        primitives.arrow(axes, (ring, y), (server, y), **_TOGETHER)
        axes.plot(ring, y, zorder=7, **_RING_LOOK)


def _said(view: ServerView) -> str:
    """The sentence of the view, and each of its values."""
    parts = [view.sentence]
    for value in view.values:
        details = filter(None, [short(value.type), size_text(value.nbytes)])
        sent = f"{value.path} ({', '.join(details)})"
        parts.append(f"Each client sends {sent}, {value.way}.")
    return " ".join(parts)
