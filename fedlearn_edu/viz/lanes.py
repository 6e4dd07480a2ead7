# SPDX-License-Identifier: Apache-2.0
"""`draw_messages`: the messages of a round on a time line, a lane for each worker.

Each lane has the server above, the work below, and arrows between them. Across a lane
the unit is a row of work, along it a second.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil, inf
from typing import TYPE_CHECKING, Any, final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.markers import CARETDOWN, CARETUP

from fedlearn_edu.errors import counted, describe, short_traceback
from fedlearn_edu.viz import style
from fedlearn_edu.viz.artists import folded
from fedlearn_edu.viz.colors import ALARM, CLIENTS, CLIENTS_EDGE, INK, SERVER
from fedlearn_edu.viz.shortening import clipped, size_text, time_text

if TYPE_CHECKING:  # `remote` needs Dask
    from fedlearn_edu.remote.records import Message, Round

_ROW_IN, _FRAME_IN, _NAMES_IN, _KEY_IN, _CHAR_IN = 0.36, 1.5, 1.3, 1.1, 0.1
_MESSAGE_IN, _BUNDLE_IN = 0.4, 1.2  # the least share of a lane
_LANE, _GAP, _ARROW, _BAR = 2.4, 0.9, 1.25, 0.75
_WORKERS = (5, 2)  # first and last ones
_SLACK = 0.02  # of a round: times are fitted, so work in turn may overlap

_FILL = style.tint(CLIENTS, 0.4)
_WORK: dict[str, dict[str, Any]] = {
    "work": {"facecolor": _FILL, "edgecolor": CLIENTS_EDGE, "lw": 1.5},
    "lost": {"facecolor": "w", "edgecolor": ALARM, "lw": 1.5, "ls": "--"},
    "again": {"facecolor": _FILL, "edgecolor": INK, "lw": 2},
}
_HEAD: dict[str, Any] = {"lw": 1.5, "ms": 8, "markevery": [-1], "clip_on": False}
_DOWN = _HEAD | {"color": SERVER, "marker": CARETDOWN}
_UP = _HEAD | {"color": CLIENTS_EDGE, "marker": CARETUP}
_CROSS = _HEAD | {"color": ALARM, "marker": "X", "ms": 11, "mec": "w", "ls": "--"}


@short_traceback
@style.in_our_look
def draw_messages(
    round_: "Round",
    *,
    width_in: float = style.WIDE_IN,
    figure: style.Paper | None = None,
) -> Figure:
    """Draws the messages of a round on a time line, with a lane for each worker.

    A message is an arrow down from the server, a bar of work labelled with its clients,
    and an arrow up; one that waited for the work before it comes down in dots. What was
    lost with its worker ends in a cross, and is repeated at another worker. Many
    messages at a worker are drawn in bundles, and of many workers the first and last
    ones.

    Args:
        round_: One of `cluster.traffic().rounds`.
        width_in: Width in inches.
        figure: A `Figure` or `SubFigure` to draw into; a new one by default.

    >>> from fedlearn_edu.remote import Message, Round
    >>> message = Message("worker 0", 0, 100, 0.0, 0.002, 0.05, 0.052, 31_400, 31_600)
    >>> print(draw_messages(Round(1, "next_round", (message,))).get_label())
    Round 1 of next_round: 1 message about 100 clients to 1 worker in 52 ms. 31.4 kB
    went down, 31.6 kB came back.

    Raises:
        FigureDataError: if it is no round, or one without messages.
    """
    width_in = style.width_of(figure, width_in)
    _check(round_)
    paper, (axes,) = style.new_figure(width_in, 1.0, figure=figure)
    name = clipped(_name(round_), int(width_in / _CHAR_IN) - 16)
    title = f"{name}: {counted(len(round_.messages), 'message')}"
    paper.suptitle(title, x=0.01, ha="left")
    rows = _Lanes(axes, round_, width_in - _NAMES_IN).draw()
    if figure is None:
        paper.set_figheight(_FRAME_IN + _ROW_IN * rows)
    keys = len({*axes.get_legend_handles_labels()[1]})
    lines = ceil(keys * _KEY_IN / width_in)
    style.add_keys(paper, ceil(keys / lines), handlelength=1.5, columnspacing=1.2)
    return style.say_of(paper, figure, _said(round_))


def _check(round_: Any) -> None:
    from fedlearn_edu.remote.records import Round

    if not isinstance(round_, Round) or not round_.messages:
        raise style.FigureDataError(
            "there are no messages to draw",
            expected="a Round of a cluster, with at least one message",
            found=describe(round_).partition(":")[0],
            where="round_",
            do="draw_messages(cluster.traffic().rounds[-1])",
        )


def _again(round_: "Round") -> "set[Message]":
    """The messages that repeat a lost one."""
    found, noticed = set(), dict[int, float]()
    for message in round_.messages:
        if message.sent >= noticed.get(message.first_client, inf):
            found.add(message)
            del noticed[message.first_client]
        if message.is_lost:
            noticed[message.first_client] = message.received
    return found


@final
class _Lanes:
    """The time line of a round, drawn lane by lane."""

    def __init__(self, axes: Axes, round_: "Round", inner_in: float) -> None:
        self._axes, self._round, self._inner_in = axes, round_, inner_in
        self._again, self._seconds = _again(round_), round_.duration or 1.0
        unit, scale = ("ms", 1000) if self._seconds < 1 else ("s", 1)
        axes.set(xlim=(0, self._seconds), xlabel=f"time ({unit})")
        axes.xaxis.set_major_formatter(lambda second, _: f"{scale * second:,g}")
        axes.locator_params(axis="x", nbins=min(8, int(2 * inner_in)))
        axes.tick_params(axis="y", length=0, pad=10)  # arrowheads reach beyond the axes
        axes.spines["left"].set_visible(False)
        axes.grid(visible=False)

    def draw(self) -> float:
        """Draws the lanes below each other; returns how high they are."""
        top, ticks = 0.0, dict[str, float]()
        workers = {each.worker for each in self._round.messages}
        names = sorted(workers, key=lambda name: (len(name), name))
        for at in folded(len(names), *_WORKERS):
            label, height = f"{len(names) - sum(_WORKERS):,} more", _GAP
            if at is not None:
                theirs = [m for m in self._round.messages if m.worker == names[at]]
                down = size_text(sum(each.bytes_down for each in theirs))
                up = size_text(sum(each.bytes_up for each in theirs))
                label = f"{names[at]}\n↓ {down}\n↑ {up}"
                height = max(_LANE, _ARROW + self._draw_lane(theirs, top))
            ticks[label] = top + height / 2
            top += height
        self._axes.set_ylim(top, 0)
        self._axes.set_yticks([*ticks.values()], [*ticks])
        return top

    def _draw_lane(self, messages: "list[Message]", server: float) -> int:
        """Returns the rows: what was worked on at the same time is below each other."""
        line: Any = {"color": SERVER, "lw": 4, "label": "server", "clip_on": False}
        self._axes.axhline(server, **line)
        ends: list[float] = []
        for bundle in self._bundles(messages):
            whole = _whole(bundle)
            latest = whole.began + _SLACK * self._seconds
            free = (row for row, end in enumerate(ends) if end <= latest)
            row = next(free, len(ends))
            waits = row < len(ends) and ends[row] > whole.sent
            ends[row : row + 1] = [whole.ended]
            self._draw_ways(whole, server, server + _ARROW + row, waits=waits)
            self._draw_work(bundle, whole, server + _ARROW + row)
        return len(ends)

    def _bundles(self, messages: "list[Message]") -> "Iterator[list[Message]]":
        """Each message alone if there is room; those that got lost are apart."""
        count = len(messages)
        is_few = count * _MESSAGE_IN <= self._inner_in
        size = 1 if is_few else ceil(count / (self._inner_in // _BUNDLE_IN))
        done = [each for each in messages if not each.is_lost]
        done.sort(key=lambda each: each.began)
        yield from (done[at : at + size] for at in range(0, len(done), size))
        if lost := [each for each in messages if each.is_lost]:
            yield from [[each] for each in lost] if is_few else [lost]

    def _draw_ways(
        self, whole: "Message", server: float, work: float, *, waits: bool
    ) -> None:
        """An arrow down, and one up, or the cross of what was lost."""
        axes, sent, began = self._axes, whole.sent, whole.began
        if waits:
            elbow = [server, server + 0.5, server + 0.5, work]
            axes.plot([sent, sent, began, began], elbow, ls=":", label="waits", **_DOWN)
        else:
            axes.plot([sent, began], [server, work], label="↓ down", **_DOWN)
        if whole.is_lost:
            axes.plot([whole.ended] * 2, [server, work + _BAR / 2], zorder=5, **_CROSS)
        else:
            way = [whole.ended, whole.received]
            axes.plot(way, [work, server], label="↑ up", **_UP)

    def _draw_work(self, bundle: "list[Message]", whole: "Message", y: float) -> None:
        """A bar, and whose work it is if there is room for it."""
        look = "work" if self._again.isdisjoint(bundle) else "again"
        look = "lost" if whole.is_lost else look
        seconds = whole.ended - whole.began
        bar: Any = {"label": look, "zorder": 3, "clip_on": False, **_WORK[look]}
        self._axes.broken_barh([(whole.began, seconds)], (y, _BAR), **bar)
        noun = f"client{'s' * (whole.num_clients != 1)}"
        names = [f"{noun} {whole.clients}", whole.clients]
        if len(bundle) > 1:
            names = [f"{len(bundle):,} messages", f"× {len(bundle):,}"]
        room = self._inner_in * seconds / self._seconds / _CHAR_IN
        name = next((name for name in names if len(name) < room), "")
        middle = whole.began + seconds / 2, y + _BAR / 2
        self._axes.text(*middle, name, ha="center", va="center", zorder=4)


def _whole(bundle: "list[Message]") -> "Message":
    """A bundle as one message, which takes all its time."""
    first = bundle[0]
    sent = min(each.sent for each in bundle)
    began = min(each.began for each in bundle)
    ended = max(each.ended for each in bundle)
    received = max(each.received for each in bundle)
    if first.is_lost:  # when its work began is not known
        began, ended = sent, received
    return replace(first, sent=sent, began=began, ended=ended, received=received)


def _name(round_: "Round") -> str:
    of = f" of {round_.name}" if round_.name else ""
    return f"Round {round_.number}{of}"


def _said(round_: "Round") -> str:
    lost = [each for each in round_.messages if each.is_lost]
    workers = counted(len({each.worker for each in round_.messages}), "worker")
    down, up = size_text(round_.bytes_down), size_text(round_.bytes_up)
    said = (
        f"{_name(round_)}: {counted(len(round_.messages), 'message')} about "
        f"{counted(round_.num_clients, 'client')} to {workers} in "
        f"{time_text(round_.duration)}. {down} went down, {up} came back."
    )
    if lost:
        gone, heirs = (
            " and ".join(sorted({each.worker for each in some}))
            for some in (lost, _again(round_))
        )
        what, when = counted(len(lost), "message"), time_text(lost[0].received)
        to = f"sent again to {heirs}" if heirs else "not sent again"
        said += f" After {when} {what} got lost with {gone}, {to}."
    return said
