# SPDX-License-Identifier: Apache-2.0
"""`draw_traffic`: what rounds send, against how many clients they are about."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fedlearn_edu.errors import counted, describe, is_whole_number, short_traceback
from fedlearn_edu.viz import style
from fedlearn_edu.viz.colors import CLIENTS_EDGE, INK, SERVER
from fedlearn_edu.viz.shortening import size_text

if TYPE_CHECKING:  # `remote` needs Dask
    from fedlearn_edu.remote.records import Round, Traffic

_HEIGHT_IN = 4.2
_TICK_SHARE = 0.2  # of the axis of clients, between two of its ticks
_PER_CLIENT: dict[str, Any] = {"color": CLIENTS_EDGE, "marker": "^", "ms": 13}
_PER_GROUP: dict[str, Any] = {"color": SERVER, "ls": "--", "marker": "s", "mfc": "w"}
_SENT: dict[str, Any] = {"color": INK, "ls": "none", "marker": "o", "ms": 5}


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
    paper.suptitle("Bytes of a round, down and up", x=0.01, ha="left")
    _draw(axes, found, 2 * model_bytes)
    columns = 3 if width_in >= style.STACK_BELOW_IN else 1
    style.add_keys(paper, columns)
    return style.say_of(paper, figure, _said(found, 2 * model_bytes))


def _draw(axes: Axes, rounds: "Sequence[Round]", both_ways: int) -> None:
    clients = np.array([each.num_clients for each in rounds])
    by_client = both_ways * clients
    by_group = both_ways * np.array([each.num_groups for each in rounds])
    sent = np.array([_bytes(each) for each in rounds])
    axes.loglog(clients, by_client, label="a model each way per client", **_PER_CLIENT)
    label = "a model each way per group"
    axes.loglog(clients, by_group, label=label, ms=10, **_PER_GROUP)
    axes.loglog(clients, sent, label="measured", **_SENT)
    axes.set_xlabel("clients")
    seen = np.log10([*sent, *by_group, *by_client])
    axes.set_ylim(10 ** np.floor(seen.min()), 10 ** np.ceil(seen.max()))
    axes.yaxis.set_major_formatter(lambda size, _: size_text(int(size)))
    apart = (clients[-1] / clients[0]) ** _TICK_SHARE
    counts = list[int]()
    for count in np.unique(clients)[::-1].tolist():
        if not counts or counts[-1] / count >= apart:
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
    found = [e for e in given if e.num_clients and _bytes(e)] if is_rounds else []
    if not found:
        raise style.FigureDataError(
            "there are no rounds to draw",
            expected="the Traffic of a cluster, or some of its rounds, with clients",
            found=describe(rounds).partition(":")[0],
            where="rounds",
            do="draw_traffic(cluster.traffic(), model_bytes)",
        )
    return sorted(found, key=lambda each: (each.num_clients, each.num_groups))
