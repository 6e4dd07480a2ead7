# SPDX-License-Identifier: Apache-2.0
"""`draw_messages`: the messages of a round on a time line, a lane for each worker.

Many messages at a worker are drawn in bundles, and of many workers the first and the
last ones. Lengths are inches, times milliseconds.
"""

import math
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import StrMethodFormatter

from fedlearn_edu.errors import counted, describe, short_traceback
from fedlearn_edu.viz import style
from fedlearn_edu.viz.artists import folded
from fedlearn_edu.viz.colors import ALARM, CLIENTS, INK, SERVER
from fedlearn_edu.viz.shortening import clipped, size_text, time_text

if TYPE_CHECKING:  # `remote` needs Dask
    from fedlearn_edu.remote.records import Message, Round

_CHAR_IN, _LINE_IN, _KEY_IN = 0.1, 0.26, 0.85
_NAMES_IN, _RIGHT_IN, _TITLE_IN, _FOOT_IN = 1.1, 0.3, 0.62, 0.6
_SERVER_IN, _LANE_IN, _GAP_IN, _FOLD_IN = 0.3, 0.8, 0.24, 0.3
_ROW_IN, _BAR_IN, _WAIT_IN, _LOST_IN = 0.4, 0.27, 0.06, 0.9
_THIN_IN, _BUNDLE_IN = 0.35, 1.2  # a message's share of the lane, and a bundle's
_SLACK_IN = 0.15
_MOST_ROWS = 6
_WORKERS = (5, 2)  # first and last ones

_DOWN: dict[str, Any] = {"color": SERVER, "lw": 1.5}
_WAIT: dict[str, Any] = _DOWN | {"ls": (0, (1, 2))}
_UP: dict[str, Any] = {"color": CLIENTS, "lw": 1.5}
_GONE: dict[str, Any] = {"color": ALARM, "lw": 1.5, "ls": (0, (4, 2))}
_CROSS: dict[str, Any] = {"color": ALARM, "marker": "X", "ms": 11, "mec": "w"}
_WORK: dict[str, Any] = {"facecolor": style.tint(CLIENTS, 0.45), "edgecolor": CLIENTS}
_AGAIN = _WORK | {"edgecolor": INK, "lw": 2}
_LOST: dict[str, Any] = {"facecolor": "w", "edgecolor": ALARM, "lw": 1.5, "ls": "--"}
_LEGEND: dict[str, Any] = {
    **{"handlelength": 1.3, "handletextpad": 0.4, "columnspacing": 0.9},
    **{"borderpad": 0, "borderaxespad": 0.2, "frameon": False, "loc": "lower left"},
}


@short_traceback
@style.in_our_look
def draw_messages(
    round_: "Round",
    *,
    width_in: float = style.WIDE_IN,
    figure: style.Paper | None = None,
) -> Figure:
    """Draws the messages of a round on a time line, with a lane for each worker.

    A message is an arrow down, a bar of work labelled with its clients, and an arrow
    up; dots lead to the bar of a message that waited for the one before it. What was
    lost with its worker ends in a cross, and is repeated at another worker.

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
    inner_in = width_in - _NAMES_IN - _RIGHT_IN
    lanes = _lanes(round_, inner_in)
    keys = _keys([bar for _, rows in lanes for row in rows for bar in row])
    key_rows = 1 if len(keys) * _KEY_IN <= width_in else 2
    lanes_in = _SERVER_IN + sum(_height_in(rows) for _, rows in lanes)
    size_in = (width_in, _TITLE_IN + _LINE_IN * key_rows + lanes_in + _FOOT_IN)
    paper = figure or Figure(figsize=size_in)
    sides_in = (_NAMES_IN, _FOOT_IN, inner_in, lanes_in)
    axes = style.add_axes(paper, sides_in, size_in)
    left = (0.1 - _NAMES_IN) / inner_in
    axes.set_title(_title(round_, width_in), x=left, pad=72 * _LINE_IN * key_rows)
    columns = {"ncols": math.ceil(len(keys) / key_rows), "fontsize": style.FONT_PT}
    at: Any = columns | _LEGEND | {"bbox_to_anchor": (left, 1)}
    axes.legend(keys.values(), keys.keys(), **at)
    _draw_lanes(axes, lanes, _draw_time(axes, round_, inner_in))
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


@final
@dataclass(frozen=True)
class _Bar:
    """The work on a message, or on a bundle of them."""

    count: int
    names: list[str]  # the longest first
    look: dict[str, Any]
    sent: float
    began: float
    ended: float
    received: float
    waits_from: float | None = None


_Rows: TypeAlias = list[list[_Bar]]
_Lanes: TypeAlias = list[tuple[str, _Rows]]


def _bar(messages: "list[Message]", again: "set[Message]") -> _Bar:
    sent = 1e3 * min(each.sent for each in messages)
    received = 1e3 * max(each.received for each in messages)
    began = 1e3 * min(each.began for each in messages)
    ended = 1e3 * max(each.ended for each in messages)
    first, count, look = messages[0], len(messages), _WORK
    clients, again_ = first.clients, ""
    if first.is_lost:  # nobody can say when its work began
        began, ended, look = sent, received, _LOST
    elif not again.isdisjoint(messages):
        look, again_ = _AGAIN, "again: "
    noun = f"client{'s' * (first.num_clients != 1)} "
    names = [f"{again_}{noun}{clients}", f"{again_}{clients}", clients]
    names += [f"{first.first_client:,}…"]
    if count > 1:
        names = [f"{count:,} messages", f"× {count:,}"]
    return _Bar(count, names, look, sent, began, ended, received)


def _again(round_: "Round") -> "set[Message]":
    """The messages that repeat a lost one."""
    found: set[Message] = set()
    for lost in (each for each in round_.messages if each.is_lost):
        later = (
            each
            for each in round_.messages
            if each.first_client == lost.first_client and each.sent >= lost.received
        )
        found.update(islice(later, 1))
    return found


def _lanes(round_: "Round", inner_in: float) -> _Lanes:
    """A label and rows of bars for each worker; a lane without rows is a gap."""
    by_worker: dict[str, list[Message]] = {}
    for message in round_.messages:
        by_worker.setdefault(message.worker, []).append(message)
    again, slack = _again(round_), 1e3 * round_.duration * _SLACK_IN / inner_in
    names = sorted(by_worker, key=lambda name: (len(name), name))
    lanes: _Lanes = []
    for at in folded(len(names), *_WORKERS):
        if at is None:
            lanes.append((f"{len(names) - sum(_WORKERS):,} more", []))
            continue
        theirs = by_worker[names[at]]
        down = size_text(sum(each.bytes_down for each in theirs))
        up = size_text(sum(each.bytes_up for each in theirs))
        rows = _rows(theirs, again, inner_in, slack)
        lanes.append((f"{names[at]}\n↓ {down}\n↑ {up}", rows))
    return lanes


def _rows(
    messages: "list[Message]", again: "set[Message]", inner_in: float, slack: float
) -> _Rows:
    """Single messages if there is room; or else bundles, and one of those lost."""
    done = [each for each in messages if not each.is_lost]
    done.sort(key=lambda each: each.began)
    lost = [each for each in messages if each.is_lost]
    count, most = len(messages), min(_MOST_ROWS, max(1, int(inner_in / _BUNDLE_IN)))
    rows: _Rows = []
    for size, lost_size in ((1, 1), (math.ceil(count / most), count)):
        parts = [done[at : at + size] for at in range(0, len(done), size)]
        parts += [lost[at : at + lost_size] for at in range(0, len(lost), lost_size)]
        rows = _packed([_bar(part, again) for part in parts], slack)
        if count * _THIN_IN <= inner_in and len(rows) <= _MOST_ROWS:
            break
    return rows


def _packed(bars: list[_Bar], slack: float) -> _Rows:
    """In as few rows as possible, so that those of a row follow each other.

    Times are fitted, so they may overlap by `slack`. A message waits if the one before
    was still worked on when it was sent. If that one waited, too, it has dots already.
    """
    rows: _Rows = []
    for bar in bars:
        free = (row for row in rows if row[-1].ended <= bar.began + slack)
        if (row := next(free, None)) is None:
            rows.append([bar])
        elif (before := row[-1]).ended <= bar.sent:
            row.append(bar)
        else:
            dotted = 0.0 if before.waits_from is None else before.began
            row.append(replace(bar, waits_from=max(bar.sent, dotted)))
    return rows


def _height_in(rows: _Rows) -> float:
    return max(_LANE_IN, _GAP_IN + _ROW_IN * len(rows)) if rows else _FOLD_IN


def _keys(bars: list[_Bar]) -> dict[str, Any]:
    """What there is to explain, in the order in which it happens."""
    looks = [bar.look for bar in bars]
    waits = any(bar.waits_from is not None for bar in bars)
    keys: dict[str, Any] = {"↓ down": Line2D([], [], **_DOWN)}
    keys |= {"waits": Line2D([], [], **_WAIT)} if waits else {}
    keys |= {"work": Patch(**_WORK), "↑ up": Line2D([], [], **_UP)}
    keys |= {"lost": Patch(**_LOST)} if _LOST in looks else {}
    return keys | ({"again": Patch(**_AGAIN)} if _AGAIN in looks else {})


def _draw_time(axes: Axes, round_: "Round", inner_in: float) -> float:
    """The axis of time, with room for words; returns the inches of a millisecond."""
    last = 1e3 * round_.duration or 1.0
    lost = max((1e3 * m.received for m in round_.messages if m.is_lost), default=0.0)
    last = max(last, lost + _LOST_IN * last / inner_in)
    axes.set_xlim(0, last)
    axes.set_xlabel("time (ms)")
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axes.locator_params(axis="x", nbins=min(6, int(inner_in)))
    axes.spines["left"].set_visible(False)
    return inner_in / last


def _draw_lanes(axes: Axes, lanes: _Lanes, in_per_ms: float) -> None:
    top, ticks = _SERVER_IN, {"server": _SERVER_IN / 2}
    axes.axhline(_SERVER_IN / 2, color=SERVER, lw=5, solid_capstyle="butt", zorder=3)
    for label, rows in lanes:
        bottom = top + _height_in(rows)
        ticks[label] = (top + bottom) / 2
        for number, row in enumerate(reversed(rows)):
            y = bottom - _ROW_IN * (number + 0.5)
            for bar in row:
                _draw_message(axes, bar, y)
                room = in_per_ms * (bar.ended - bar.began)
                fitting = (n for n in bar.names if len(n) * _CHAR_IN <= room)
                middle, name = (bar.began + bar.ended) / 2, next(fitting, "")
                axes.text(middle, y, name, ha="center", va="center", zorder=4)
        axes.axhline(bottom, color="#C8C8C8", lw=0.8, zorder=0)
        top = bottom
    axes.set_ylim(top, 0)
    axes.set_yticks([*ticks.values()], [*ticks])
    axes.tick_params(axis="y", length=0)


def _draw_message(axes: Axes, bar: _Bar, y: float) -> None:
    """An arrow down, a bar, and an arrow up, or the cross of what was lost."""
    server, top = _SERVER_IN / 2, y - _BAR_IN / 2
    size = (bar.ended - bar.began, _BAR_IN)
    axes.add_patch(Rectangle((bar.began, top), *size, zorder=3, **bar.look))
    if bar.waits_from is None:
        _arrow(axes, _DOWN, (bar.began, top), (bar.sent, server))
    else:
        above = top - _WAIT_IN
        axes.plot([bar.sent] * 2, [server, above], zorder=1, **_DOWN)
        axes.plot([bar.waits_from, bar.began], [above] * 2, zorder=1, **_WAIT)
        axes.plot([bar.began], [above], marker="v", ms=5, zorder=3, **_DOWN)
    if bar.look is not _LOST:
        _arrow(axes, _UP, (bar.received, server), (bar.ended, top))
        return
    axes.plot([bar.ended] * 2, [server, y], zorder=1, **_GONE)
    axes.plot([bar.ended], [y], zorder=5, **_CROSS)
    said = f"{bar.count:,} lost" if bar.count > 1 else "lost"
    aside: Any = {"xytext": (10, 0), "textcoords": "offset points", "va": "center"}
    axes.annotate(said, (bar.ended, y), **aside)


def _arrow(axes: Axes, look: dict[str, Any], end: Any, start: Any) -> None:
    shape = {"arrowstyle": "-|>", "mutation_scale": 12, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=shape | look, zorder=1)


def _name(round_: "Round") -> str:
    of = f" of {round_.name}" if round_.name else ""
    return f"Round {round_.number}{of}"


def _title(round_: "Round", width_in: float) -> str:
    count = len(round_.messages)
    answered = max(1, count - round_.num_lost)
    down, up = round_.bytes_down // count, round_.bytes_up // answered
    each = f"of about {size_text(down)} ↓, {size_text(up)} ↑"
    name = clipped(_name(round_), int(width_in / _CHAR_IN))
    return f"{name}\n{counted(count, 'message')} {each}"


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
