# SPDX-License-Identifier: Apache-2.0
"""`draw_traffic`: what rounds send, against how many clients they are about."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fedlearn_edu.errors import counted, describe, is_whole_number, short_traceback
from fedlearn_edu.viz import style
from fedlearn_edu.viz.colors import CLIENTS, INK, SERVER
from fedlearn_edu.viz.shortening import size_text

if TYPE_CHECKING:  # `remote` needs Dask
    from fedlearn_edu.remote.records import Round, Traffic

_HEIGHT_IN = 4.2
_EDGE = 1.3  # how much further the axis of clients goes
_TICK_SHARE = 0.2  # of that axis, between two of its ticks


@short_traceback
@style.in_our_look
def draw_traffic(
    rounds: "Traffic | Sequence[Round]",
    model_bytes: int,
    *,
    width_in: float = style.WIDE_IN,
    figure: style.Paper | None = None,
) -> Figure:
    """Draws the bytes of rounds against the number of clients, on logarithmic axes.

    Each round is a point. Two lines say what it would cost to send a model down and one
    up, 2 × `model_bytes`, for each group of clients, and for each client.

    Args:
        rounds: `cluster.traffic()`, or some of its rounds, of any clusters.
        model_bytes: The size of the model.
        width_in: Width in inches.
        figure: A `Figure` or `SubFigure` to draw into; a new one by default.

    >>> from fedlearn_edu.remote import Message, Round
    >>> message = Message("worker 0", 0, 100, 0.0, 0.002, 0.05, 0.052, 31_400, 31_600)
    >>> print(draw_traffic([Round(1, "next_round", (message,))], 31_400).get_label())
    A round of 100 clients in 1 group sends 63 kB. A model down and one up are 62.8 kB
    for each group, and would be 6.28 MB for each client.

    Raises:
        FigureDataError: if there is no round with clients, or no size.
    """
    width_in = style.width_of(figure, width_in)
    found = _checked(rounds, model_bytes)
    paper, (axes,) = style.new_figure(width_in, _HEIGHT_IN, figure=figure)
    _draw(axes, found, 2 * model_bytes)
    columns = 3 if width_in >= style.STACK_BELOW_IN else 1
    look: Any = {"frameon": False, "fontsize": style.FONT_PT, "ncols": columns}
    paper.legend(loc="outside upper left", **look)
    return style.say_of(paper, figure, _said(found, 2 * model_bytes))


def _draw(axes: Axes, rounds: "Sequence[Round]", both_ways: int) -> None:
    clients = np.array([each.num_clients for each in rounds])
    by_group = both_ways * np.array([each.num_groups for each in rounds])
    sent = np.array([_bytes(each) for each in rounds])
    ends = np.array([clients.min() / _EDGE, clients.max() * _EDGE])
    axes.plot(
        ends, both_ways * ends, color=CLIENTS, label="a model each way per client"
    )
    dashed: dict[str, Any] = {"color": SERVER, "ls": "--", "marker": "s", "mfc": "w"}
    axes.plot(clients, by_group, label="a model each way per group", ms=10, **dashed)
    axes.plot(clients, sent, "o", color=INK, ms=5, label="measured")
    axes.set(xscale="log", yscale="log", xlim=ends, xlabel="clients")
    axes.set_title("Bytes of a round, down and up")
    seen = np.log10([*sent, *by_group, *(both_ways * ends)])
    decades = 10.0 ** np.arange(np.floor(seen.min()), np.ceil(seen.max()) + 1)
    axes.set_ylim(decades[0], decades[-1])
    axes.set_yticks(decades, [size_text(int(each)) for each in decades])
    counts: list[int] = []
    for count in sorted(clients.tolist(), reverse=True):
        if not counts or counts[-1] / count >= (ends[1] / ends[0]) ** _TICK_SHARE:
            counts.append(count)
    axes.set_xticks(counts, [f"{count:,}" for count in counts])
    axes.minorticks_off()


def _bytes(round_: "Round") -> int:
    return round_.bytes_down + round_.bytes_up


def _said(rounds: "Sequence[Round]", both_ways: int) -> str:
    """The round with the most clients in words, and how many there are."""
    last = rounds[-1]
    clients, groups = last.num_clients, last.num_groups
    least = rounds[0].num_clients
    others = f"{counted(len(rounds), 'round')} of {least:,} to {clients:,} clients. "
    return (
        f"{others * (least < clients)}A round of {counted(clients, 'client')} in "
        f"{counted(groups, 'group')} sends {size_text(_bytes(last))}. A model down and "
        f"one up are {size_text(groups * both_ways)} for each group, and would be "
        f"{size_text(clients * both_ways)} for each client."
    )


def _checked(rounds: Any, model_bytes: Any) -> "list[Round]":
    """The rounds that have clients, in the order of their number."""
    from fedlearn_edu.remote.records import Round, Traffic

    if not is_whole_number(model_bytes, 1):
        raise style.FigureDataError(
            "a model has a size",
            expected="a number of bytes, from 1 on",
            found=describe(model_bytes),
            where="model_bytes",
        )
    given = rounds.rounds if isinstance(rounds, Traffic) else rounds
    is_rounds = isinstance(given, list | tuple) and all(
        isinstance(each, Round) for each in given
    )
    found = (
        [each for each in given if each.num_clients and _bytes(each)]
        if is_rounds
        else []
    )
    if not found:
        raise style.FigureDataError(
            "there are no rounds to draw",
            expected="the Traffic of a cluster, or some of its rounds, with clients",
            found=describe(rounds).partition(":")[0],
            where="rounds",
            do="draw_traffic(cluster.traffic(), model_bytes)",
        )
    return sorted(found, key=lambda each: (each.num_clients, each.num_groups))
