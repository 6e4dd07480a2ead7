# SPDX-License-Identifier: Apache-2.0
"""The picture of a tape: lanes with a bar for each event, and the bytes below them.

Bars too narrow to be told apart are drawn as one. The player zooms, and marks the
cursor on top of the picture, at the place `box` gives. The static picture has the
cursor drawn into it.
"""

import textwrap
from typing import Any, final

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from fedlearn_edu.errors import (
    TypeMismatchError,
    describe,
    is_whole_number,
    short_traceback,
)
from fedlearn_edu.executors.recording import Event
from fedlearn_edu.executors.traffic import TO_CLIENTS, TO_SERVER
from fedlearn_edu.framework import Tape
from fedlearn_edu.viz import style
from fedlearn_edu.viz.colors import ALARM, CLIENTS_EDGE, INK, QUIET, SERVER
from fedlearn_edu.viz.dataflow.primitives import LINE_IN, PLAIN, width_of, wrapped
from fedlearn_edu.viz.pictures import FAST_DPI
from fedlearn_edu.viz.player.timeline import NOTHING, Timeline, is_batched
from fedlearn_edu.viz.shortening import clipped, size_text
from fedlearn_edu.viz.style import in_our_look

STEPS, MILLISECONDS = "steps", "milliseconds"

_EXPLAINED = "Bars are calls; lower rows, lower layers."
_BATCHED = " Hatched: clients that run in one call."
_OPERATORS = " Operators: "
# How much of the height of its row a bar has.
_WAITS, _PALE = "a call waits", 0.25
_KINDS = {"leaf code": 0.96, _WAITS: 0.6, "values pass": 0.3}
_CROSS: dict[str, Any] = {"marker": "X", "ms": 12, "color": ALARM, "mec": "white"}
_LEAST_PX = 5  # how wide a bar is, and how wide a gap

_BYTES_IN, _AROUND_IN, _EDGE_IN, _NARROW_IN = 0.75, 1.7, 0.1, 6.0
_MAX_LABEL_CHARS, _MAX_OPERATORS_CHARS = 16, 150
_LINES = "#C8C8C8"
_NOT_MEANT = "#DDDDDD"
_LEGEND: Any = {"handlelength": 1.3, "handletextpad": 0.4, "columnspacing": 0.9}


@short_traceback
@style.in_our_look
def draw_tape(
    tape: Tape,
    at: int | None = None,
    width_in: float = style.WIDE_IN,
    figure: style.Paper | None = None,
) -> Figure:
    """Draws who worked when on a tape, and the bytes that moved.

    Args:
        tape: from `with fl.record() as tape:`, or from a stack of your own, if it is a
            `Tape(keep_values=True)`.
        at: the step that is pointed at, from 1; none by default.
        width_in: in inches.
        figure: a `Figure` or `SubFigure` to draw into; a new one by default.

    Raises:
        TypeMismatchError: if it is no tape, or kept no values.
        FigureDataError: if there is no such step.

    >>> import fedlearn_edu as fl
    >>> with fl.record() as tape:
    ...     total = fl.federated_sum(fl.place([1, 2, 3], fl.CLIENTS))
    >>> style.said(draw_tape(tape, at=3))
    'step 3 of 81: the stack (reference resolving) is handed a value of type ...'
    """
    check_tape(tape, "draw_tape")
    width_in = style.width_of(figure, width_in)
    picture = TapePicture(Timeline(tape), width_in, figure=figure)
    timeline, count = picture.timeline, len(picture.timeline)
    if at is None:
        return style.say_of(picture.figure, figure, timeline.summary())
    if not is_whole_number(at, 1) or at > count:
        raise style.FigureDataError(
            "there is no such step on the tape",
            expected=f"a step from 1 to {count}" if count else "no step",
            found=describe(at),
            where="at",
            do="leave it out, and the whole tape is drawn",
        )
    picture.point_at(at - 1)
    return style.say_of(picture.figure, figure, timeline.sentence(at - 1))


def check_tape(tape: object, where: str) -> None:
    """Refuses what is no tape."""
    if not isinstance(tape, Tape):
        raise TypeMismatchError(
            "a tape is needed",
            expected="the tape of: with fl.record() as tape: …",
            found=describe(tape),
            where=where,
            do="record a run, or run a computation: fl.viz.explore_run(computation, …)",
        )


@final
class TapePicture:
    """The figure of a timeline.

    Attributes:
        figure: always the same one.
        lanes: the axes of the lanes.
        bytes: the axes below them.
    """

    @in_our_look
    def __init__(
        self,
        timeline: Timeline,
        width_in: float,
        axis: str = STEPS,
        figure: style.Paper | None = None,
        steps: range | None = None,
    ) -> None:
        self.timeline = timeline
        self._first, self._last = _spans(timeline, axis)
        self._limits = (0.0, 1.0)
        if len(timeline):
            steps = steps or range(len(timeline))
            ends = [*self._first[steps.stop :], self._last.max()]
            self._limits = float(self._first[steps.start]), float(ends[0])
        labels = [clipped(lane.label, _MAX_LABEL_CHARS) for lane in timeline.lanes]
        names_in = max([width_of(text, PLAIN) for text in [*labels, "1000 kB"]])
        self._inches = width_in - names_in - 4 * _EDGE_IN
        words = wrapped(self._words(), PLAIN, width_in - 2 * _EDGE_IN)
        lane_in = 0.5 if len(labels) <= 5 else 0.32 if len(labels) <= 14 else 0.22
        lanes_in = max(2, len(labels)) * lane_in
        is_narrow = width_in < _NARROW_IN
        keys_wrap = is_narrow and timeline.failure() is not None
        above_in = LINE_IN * (len(words) + keys_wrap)
        height = lanes_in + _BYTES_IN + _AROUND_IN + above_in
        paper, axes = style.new_figure(width_in, height, rows=2, figure=figure)
        self.figure: Any = paper
        self.lanes, self.bytes = axes
        grid: Any = self.lanes.get_gridspec()
        grid.set_height_ratios([lanes_in, _BYTES_IN])
        self._draw_lanes(labels)
        self._draw_keys("\n".join(line.text for line in words), 4 - is_narrow)
        self._draw_bytes(axis)

    def box(self, step: int) -> tuple[float, float, float, float]:
        """Where a step's bar is: left, top, width, height, as parts of the figure."""
        first, last, top, bottom = self._sides(step)
        to_figure = self.lanes.transData - self.figure.transSubfigure
        (left, high), (right, low) = to_figure.transform([(first, top), (last, bottom)])
        return left, 1 - high, right - left, high - low

    def highlight(self, steps: np.ndarray[Any, Any]) -> None:
        """Leaves only the bars of these steps in color."""
        if len(self.timeline):
            colors = np.full_like(self._colors, to_rgb(_NOT_MEANT))
            colors[:, steps] = self._colors[:, steps]
            self._bars.set(facecolor=colors[0], edgecolor=colors[1])

    def point_at(self, step: int) -> None:
        """Draws the cursor into the picture, where it stays."""
        first, last, top, bottom = self._sides(step)
        width = max(last - first, self._pixels(4))
        look: Any = {"fill": False, "edgecolor": INK, "linewidth": 1.8, "zorder": 5}
        self.lanes.add_patch(Rectangle((first, top), width, bottom - top, **look))
        for axes in (self.lanes, self.bytes):
            axes.axvline(first, color=INK, linewidth=1.4)

    def _sides(self, step: int) -> tuple[float, float, float, float]:
        """Where a step begins and ends, and the top and the bottom of its row."""
        bar = self.timeline.bars[step]
        return self._first[step], self._last[step], bar.top, bar.bottom

    def _pixels(self, count: int) -> float:
        """So many pixels of the axis along which calls follow each other."""
        low, high = self._limits
        return count * (high - low) / (self._inches * FAST_DPI)

    def _words(self) -> str:
        """What is above the picture: how to read it, and all operators in order."""
        phases = enumerate(self.timeline.phases(), start=1)
        names = ", ".join(f"{number}\xa0{name}" for number, (_, name) in phases)
        operators = f"{_OPERATORS}{clipped(names, _MAX_OPERATORS_CHARS)}."
        batched = _BATCHED * any(map(is_batched, self.timeline.events))
        return _EXPLAINED + batched + operators * bool(names)

    def _draw_lanes(self, labels: list[str]) -> None:
        axes, count = self.lanes, max(1, len(labels))
        axes.set_xlim(*self._limits)
        axes.set_ylim(count, 0)
        axes.set_yticks(np.arange(len(labels)) + 0.5, labels)
        axes.tick_params(axis="y", length=0)
        axes.tick_params(axis="x", bottom=False, labelbottom=False)
        axes.spines[["bottom", "left"]].set_visible(False)
        axes.grid(visible=False)
        for i in range(count + 1):
            axes.axhline(i, color=_LINES, linewidth=0.8, zorder=0)
        axes.set_title(" ")  # keeps a line free for the names of operators
        if len(self.timeline):
            self._draw_bars()
            self._draw_batches()
            self._draw_operators()
            self._draw_failure()
        else:
            nothing = "\n".join(textwrap.wrap(NOTHING, 30))
            axes.text(0.5, 0.5, nothing, ha="center", va="center")

    def _draw_bars(self) -> None:
        events, bars = self.timeline.events, self.timeline.bars
        first, last, least = self._first, self._last, self._pixels(_LEAST_PX)
        shortest = (last - first).min()
        few = 2 * least <= shortest
        if least > shortest:  # ends on a grid make one bar of what is close
            first, last = (first // least) * least, -(-last // least) * least
            last = np.maximum(last, first + least)
        middle = (bars.top + bars.bottom) / 2
        shares = np.array([*map(_share, events)])
        half = (bars.bottom - bars.top) / 2 * shares
        x = np.stack([first, last, last, first], axis=1)
        y = np.stack([middle - half, middle - half, middle + half, middle + half], 1)
        of_lanes = np.array([to_rgb(lane.color) for lane in self.timeline.lanes])
        full, waits = of_lanes[bars.lane], (shares == _KINDS[_WAITS])[:, None]
        pale = 1 - _PALE * (1 - full)
        self._colors = np.where(waits, [pale, full], [full, np.ones_like(full)])
        self._bars = PolyCollection(
            list(np.stack([x, y], axis=2)),
            facecolors=self._colors[0],
            edgecolors=self._colors[1],
            linewidths=np.where(waits[:, 0] | few, 0.7, 0),
            antialiaseds=few,
        )
        self._bars.set_in_layout(False)  # which would look at each bar
        self.lanes.add_collection(self._bars)

    def _draw_batches(self) -> None:
        """Hatches in the lane of each client what clients do in one call."""
        look: Any = {"fc": "white", "ec": CLIENTS_EDGE, "hatch": "////"}
        for step, event in enumerate(self.timeline.events):
            if is_batched(event):
                # It is recorded when it ends; it began with its caller.
                caller = self.timeline.caller(event)
                first = self._first[step if caller is None else caller]
                width = self._last[step] - first
                for i, lane in enumerate(self.timeline.lanes):
                    if lane.is_clients:
                        box = Rectangle((first, i + 0.1), width, 0.8, **look)
                        self.lanes.add_patch(box)

    def _draw_operators(self) -> None:
        """A line where each one begins, and its number above, with its name if it fits.

        Of lines that are close to each other, the first one has the numbers of all.
        """
        steps, names = [*zip(*self.timeline.phases(), strict=True)] or [(), ()]
        (low, high), begins = self._limits, self._first[[*steps]]
        begin = max(0, int(np.searchsorted(begins, low, "right")) - 1)
        final = int(np.searchsorted(begins, high))
        starts, inches = [*np.clip(begins, low, high), high], self._inches
        for end in range(begin + 1, final + 1):
            self.lanes.axvline(starts[end - 1], color=_LINES, linewidth=0.8, zorder=0)
            number = f"{end}" if end == begin + 1 else f"{begin + 1}–{end}"
            texts = [f"{number} {', '.join(names[begin:end])}", number]
            room = (starts[end] - starts[begin]) / (high - low) * inches
            fitting = [text for text in texts if width_of(f"{text} ", PLAIN) <= room]
            if fitting or end == final:
                above: Any = {"xytext": (0, 5), "textcoords": "offset points"}
                text = [*fitting, number][0]
                self.lanes.annotate(text, (starts[begin], 0), style="italic", **above)
                begin = end

    def _draw_failure(self) -> None:
        failed = self.timeline.failure()
        if failed is not None:
            first, _, top, bottom = self._sides(failed)
            is_shown = self._limits[0] <= first <= self._limits[1]
            at: Any = {"clip_on": False, "zorder": 6, "visible": is_shown}
            self.lanes.plot([first], [(top + bottom) / 2], **at, **_CROSS)

    def _draw_keys(self, words: str, columns: int) -> None:
        """How to read the picture, from its edge on, and the kinds of bars."""
        fills = QUIET, style.tint(QUIET, _PALE)
        keys: list[Any] = [Patch(fc=fill, ec=QUIET) for fill in fills]
        keys.append(Line2D([], [], lw=2.7, color=QUIET))
        if self.timeline.failure() is not None:
            keys.append(Line2D([], [], ls="none", **_CROSS))
        names = [*_KINDS, "fails"][: len(keys)]
        at: Any = {"loc": "outside upper left", "ncols": columns, "title": words}
        legend = self.figure.legend(keys, names, **at, **_LEGEND)
        legend.set_alignment("left")

    def _draw_bytes(self, axis: str) -> None:
        axes = self.bytes
        totals = [self.timeline.moved[edge] for edge in (TO_CLIENTS, TO_SERVER)]
        looks: list[dict[str, Any]] = [
            {"label": "gone to clients", "color": SERVER},
            {"label": "come back", "color": CLIENTS_EDGE, "linestyle": (0, (3, 1))},
        ]
        for total, look in zip(totals, looks, strict=True):
            x, y = np.append(self._first, self._limits[1]), np.append(total, total[-1:])
            axes.step(x[: len(y)], y, where="post", **look)
        most = max((int(total[-1]) for total in totals if len(total)), default=0)
        axes.set_xlim(*self._limits)
        axes.set_ylim(-0.06 * (most or 1), 1.06 * (most or 1))
        axes.set_yticks([0, most] if most else [0])
        axes.set_yticklabels(["0 B", size_text(most)] if most else ["0 B"])
        unit: Any = {"xytext": (-7, -7), "textcoords": "offset points", "ha": "right"}
        name = "step" if axis == STEPS else "time (ms)"
        axes.annotate(name, (0, 0), xycoords="axes fraction", va="top", **unit)
        axes.locator_params(axis="x", nbins=4, integer=axis == STEPS)
        axes.xaxis.set_major_formatter("{x:,.10g}")
        axes.grid(visible=False)
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, **_LEGEND)


def _share(event: Event) -> float:
    leaf, above, passing = _KINDS.values()
    if event.what == "create_call" or is_batched(event):
        return leaf if event.layer == "leaf" else above
    return passing


def _spans(timeline: Timeline, axis: str) -> tuple[Any, Any]:
    """Where bars begin and end, step 1 being from 1 to 2, or in milliseconds."""
    if axis == STEPS:
        return np.arange(len(timeline)) + 1.0, timeline.ends + 1.0
    times = np.array([(e.start_s, e.end_s) for e in timeline.events]).reshape(-1, 2)
    times = 1000 * (times - (times[0, 0] if len(times) else 0))
    return times[:, 0], times[:, 1]
