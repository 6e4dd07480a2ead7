# SPDX-License-Identifier: Apache-2.0
"""`graph`: a computation as a figure, the server on the left, the clients on the right.

Time runs down. What crosses the middle travels between machines.
"""

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fedlearn_edu.errors import describe, short_traceback
from fedlearn_edu.language.computation import Computation, check_closed
from fedlearn_edu.viz import style
from fedlearn_edu.viz.dataflow import ink
from fedlearn_edu.viz.dataflow.places import Places, places
from fedlearn_edu.viz.dataflow.reading import read
from fedlearn_edu.viz.dataflow.record import Flow
from fedlearn_edu.viz.dataflow.rows import plan
from fedlearn_edu.viz.dataflow.saying import sentence, summary
from fedlearn_edu.viz.dataflow.text import LINE_IN, NAME, PLAIN, Line, wrapped

_MAX_NODES = 150
_EDGE_IN = 0.1


@short_traceback
@style.in_our_look
def graph(
    comp: Computation, *, expanded: bool = False, width_in: float = style.WIDE_IN
) -> Figure:
    """Draws who computes what in a computation, and what travels between them.

    Args:
        comp: With types; a learning process has two, `initialize` and `next`.
        expanded: Whether derived intrinsics, such as `federated_mean`, are written out.
        width_in: Width in inches; the height follows from the program.

    Raises:
        FigureDataError: if it is no computation with types, or too long for a picture.

    >>> import numpy as np
    >>> import fedlearn_edu as fl
    >>> @fl.federated_computation(fl.type_at_clients(np.float32))
    ... def average(values):
    ...     return fl.federated_mean(values)
    >>> print(fl.viz.graph(average).get_label())
    average: each client sends values (float32, 4 B), averaged.
    """
    style.check_width(width_in)
    return draw_flow(read(check_computation(comp), expanded=expanded), width_in)


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


def draw_flow(flow: Flow, width_in: float) -> Figure:
    """The flow as a figure with words."""
    if len(flow.nodes) > _MAX_NODES:
        raise style.FigureDataError(
            "this program is too long for one picture",
            expected=f"at most {_MAX_NODES} boxes and messages",
            found=f"{len(flow.nodes)} in {flow.name}",
            do="draw the computations that it calls, one by one",
        )
    heading = wrapped(flow.name, NAME, width_in - 2 * _EDGE_IN)
    heading += wrapped(summary(flow), PLAIN, width_in - 2 * _EDGE_IN)
    top = _EDGE_IN + len(heading) * LINE_IN + _EDGE_IN
    where = places(flow, plan(flow), width_in, top)
    figure, axes = page(width_in, where.bottom + _EDGE_IN)
    _write_heading(axes, heading)
    _draw(axes, where)
    return style.say(figure, sentence(flow))


def page(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure, and axes over all of it, in inches from the upper left corner."""
    dots = math.ceil(height * style.DPI)
    height = (dots + 0.5) / style.DPI  # safe from rounding: so many dots, whatever
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    return figure, axes


def _write_heading(axes: Axes, lines: list[Line]) -> None:
    ink.write(axes, lines, _EDGE_IN, _EDGE_IN, align="left")


def _draw(axes: Any, where: Places) -> None:
    for column in where.plan.columns:
        ink.lane(axes, where, column)
    for edge in where.plan.straight:
        ink.straight(axes, where, edge)
    for net in where.plan.nets:
        ink.net(axes, where, net)
    for node in where.flow.nodes:
        ink.node(axes, where, node)
