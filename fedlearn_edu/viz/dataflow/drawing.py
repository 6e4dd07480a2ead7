# SPDX-License-Identifier: Apache-2.0
"""`draw_graph`: a computation, the server on the left, the clients on the right.

Time runs down. What crosses the middle travels between machines.
"""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fedlearn_edu.dataflow.flow import Flow, Kind, Lane
from fedlearn_edu.dataflow.from_ir import read
from fedlearn_edu.dataflow.server_view import reveals
from fedlearn_edu.errors import describe, short_traceback
from fedlearn_edu.language.computation import Computation, check_closed
from fedlearn_edu.viz import style
from fedlearn_edu.viz.dataflow import primitives
from fedlearn_edu.viz.dataflow.captions import sentence, summary
from fedlearn_edu.viz.dataflow.layout import PAD_IN, PILE_IN, Box, Layout, layout
from fedlearn_edu.viz.dataflow.primitives import EDGE_IN, LINE_IN, NAME, PLAIN, wrapped

_MAX_NODES = 150
_DOT_IN = 0.14
_HEADINGS = {
    Lane.SERVER: "SERVER",
    Lane.CLIENTS: "CLIENTS × n",
    Lane.UNPLACED: "what travels",
}
_PILL_IN = 0.16
_APART_IN = 0.05
_REVEALING = "Three thin arrows: the server sees each client's value."


@short_traceback
@style.in_our_look
def draw_graph(
    comp: Computation,
    *,
    expanded: bool = False,
    width_in: float = style.WIDE_IN,
    figure: Figure | None = None,
) -> Figure:
    """Draws who computes what in a computation, and what travels between them.

    Args:
        comp: With types; a learning process has two, `initialize` and `next`.
        expanded: Whether derived intrinsics, such as `federated_mean`, are written out.
        width_in: Width in inches; the height follows from the program.
        figure: An empty one to draw in, such as `plt.figure()`; it is made as large as
            the picture. By default a new one.

    Raises:
        FigureDataError: if it is no computation with types, or too long for a picture.

    >>> import numpy as np
    >>> import fedlearn_edu as fl
    >>> @fl.federated_computation(fl.type_at_clients(np.float32))
    ... def average(values):
    ...     return fl.federated_mean(values)
    >>> print(fl.viz.draw_graph(average).get_label())
    average: each client sends values (float32, 4 B), averaged.
    """
    style.check_width(width_in)
    flow = read(check_computation(comp), named=set() if expanded else None)
    if len(flow.nodes) > _MAX_NODES:
        raise too_long(flow.name, len(flow.nodes), _MAX_NODES, "boxes and messages")
    heading = wrapped(flow.name, NAME, width_in - 2 * EDGE_IN)
    heading += wrapped(summary(flow), PLAIN, width_in - 2 * EDGE_IN)
    if any(reveals(flow, node) for node in flow.nodes):
        heading += wrapped(_REVEALING, PLAIN, width_in - 2 * EDGE_IN)
    top = len(heading) * LINE_IN + 2 * EDGE_IN
    laid = layout(flow, width_in, top)
    figure, axes = primitives.page(width_in, laid.bottom + EDGE_IN, figure, heading)
    _draw(axes, flow, laid)
    return style.say(figure, sentence(flow))


def check_computation(comp: object) -> Computation:
    """The computation, if it is one.

    Raises:
        FigureDataError: otherwise.
        ContextError: if it uses values of the computation it was defined in.
    """
    if isinstance(comp, Computation):
        check_closed(comp)
        return comp
    cure = "decorate a function with federated_computation, np_ or tf_computation"
    if hasattr(comp, "next"):
        cure = "pass one of its computations: process.next"
    elif type(comp).__name__ == "PolymorphicComputation":
        cure = "give it types where it is decorated: it has none before it is called"
    raise style.FigureDataError(
        "only a computation with types has a picture",
        expected="a computation with types",
        found=describe(comp),
        do=cure,
    )


def too_long(name: str, found: int, limit: int, things: str) -> style.FigureDataError:
    """The error for a program with more parts than a picture has room for."""
    return style.FigureDataError(
        "this program is too long for one picture",
        expected=f"at most {limit} {things}",
        found=f"{found} in {name}",
        do="draw the computations that it calls, one by one",
    )


def _draw(axes: Axes, flow: Flow, laid: Layout) -> None:
    travels = any(node.is_message for node in flow.nodes)
    headings = _HEADINGS if travels else _HEADINGS | {Lane.UNPLACED: "no placement"}
    for lane, strip in laid.strips.items():
        corners = strip.left, laid.top, strip.right, laid.bottom
        primitives.column(axes, lane, headings[lane], corners)
    for line in laid.arrows:
        look = {} if line.has_head else {"arrowstyle": "-"}
        if line.source.is_message:  # it goes on
            look["color"] = primitives.COLORS[flow.origin(line.source)]
        primitives.arrow(axes, line.start, line.end, **look)
    for box in laid.boxes:
        if box.node.is_message:
            _message(axes, box, flow)
        elif box.node.kind is not Kind.VALUE:
            _frames(axes, box)
        center = box.strip.center
        primitives.write(axes, box.above, center, box.top + PAD_IN * (not box.below))
        primitives.write(axes, box.below, center, box.y + PAD_IN)


def _frames(axes: Axes, box: Box) -> None:
    """One frame; at the clients, a pile of them."""
    node, strip = box.node, box.strip
    for copy in (2, 1, 0) if node.lane is Lane.CLIENTS else (0,):
        shift = copy * PILE_IN
        edges = strip.box_left, box.top, strip.box_right, box.bottom
        left, top, right, bottom = (edge + shift for edge in edges)
        primitives.frame(
            axes,
            (left, top, right, bottom),
            node.lane,
            radius=0.04 if node.kind is Kind.STEP else _PILL_IN,
            is_filled=node.kind is Kind.STEP,
            linewidth=2.6 if node.kind is Kind.RESULT else 1.6,
            zorder=3 - copy * 0.1,
        )


def _message(axes: Axes, box: Box, flow: Flow) -> None:
    """A thick dashed arrow across the middle; from a dot, if the program sends it.

    Three thin ones if the server sees what a single client sent.
    """
    origin = flow.origin(box.node)
    start, end, color = box.strip.left, box.strip.right, primitives.COLORS[origin]
    inward = _DOT_IN
    if box.node.lane is Lane.SERVER:
        start, end, inward = end, start, -_DOT_IN
    if origin is Lane.UNPLACED:
        start += inward
        axes.plot([start], [box.y], "o", color=color, markersize=7, zorder=4)
    if reveals(flow, box.node):
        for y in (box.y - _APART_IN, box.y, box.y + _APART_IN):
            primitives.arrow(axes, (start, y), (end, y), color=color)
        return
    look = primitives.THICK | {"linestyle": primitives.DASHES, "color": color}
    primitives.arrow(axes, (start, box.y), (end, box.y), **look)
