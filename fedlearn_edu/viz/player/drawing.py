# SPDX-License-Identifier: Apache-2.0
"""The picture of a tape: lanes with a bar for each event, and the bytes below them.

Everything is drawn once. The player marks the cursor on top of the picture, at the
place `box` gives. The static picture has the cursor drawn into it.
"""

import textwrap
from typing import Any, final

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from fedlearn_edu.errors import (
    TypeMismatchError,
    describe,
    is_whole_number,
    short_traceback,
)
from fedlearn_edu.executors.traffic import TO_CLIENTS, TO_SERVER
from fedlearn_edu.framework import Tape
from fedlearn_edu.viz import style
from fedlearn_edu.viz.colors import ALARM, CLIENTS, INK, QUIET, SERVER
from fedlearn_edu.viz.pictures import FAST_DPI
from fedlearn_edu.viz.player.timeline import NOTHING, Timeline, is_batched
from fedlearn_edu.viz.shortening import cut
from fedlearn_edu.viz.style import FONT_PT, in_our_look

STEPS, MILLISECONDS = "steps", "milliseconds"

_BATCHED = " Hatched: clients that run in one call."
_EXPLAINED = "Each bar is a call; in a lane, lower rows are lower layers."
# How much of a lane's color a bar has.
_KINDS = {"leaf code runs": 1.0, "a call above it": 0.6, "values pass": 0.32}
_NOT_MEANT = 0.07
_FEW_BARS = 150
_LONGER = 1.5

_CHAR_IN = 0.088
_LINE_IN = 1.45 * FONT_PT / 72
_BYTES_IN, _BELOW_IN, _RIGHT_IN = 0.85, 0.55, 0.34
_MAX_LABEL_CHARS = 16
_LINES = "#C8C8C8"


@short_traceback
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
    timeline = Timeline(tape)
    picture = TapePicture(timeline, width_in, figure=figure)
    if at is None:
        return style.say_of(picture.figure, figure, timeline.summary())
    if not is_whole_number(at, 1) or at > len(timeline):
        raise style.FigureDataError(
            "there is no such step on the tape",
            expected=f"a step from 1 to {len(timeline)}"
            if len(timeline)
            else "no step",
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
    """

    @in_our_look
    def __init__(
        self,
        timeline: Timeline,
        width_in: float,
        axis: str = STEPS,
        figure: style.Paper | None = None,
    ) -> None:
        self.timeline = timeline
        self._first, self._last = _spans(timeline, axis)
        self._set_up(width_in, figure)
        self._bars: PolyCollection | None = None
        self._colors = np.zeros([0, 3])
        if len(timeline):
            self._draw_bars()
            self._draw_phases()
            self._draw_failure()
        else:
            for i, line in enumerate(textwrap.wrap(NOTHING, 30)):
                self.lanes.text(0.5, 0.35 + 0.3 * i, line, ha="center", va="center")
        self._draw_bytes(axis)

    def box(self, step: int) -> tuple[float, float, float, float]:
        """Where a step's bar is: left, top, width, height, as parts of the figure."""
        bars = self.timeline.bars
        bar = int(np.flatnonzero(bars.event == step)[0])
        lane, whole = bars.lane[bar], self.lanes.get_position()
        low, high = self.lanes.get_xlim()
        left = whole.x0 + whole.width * (self._first[step] - low) / (high - low)
        width = whole.width * (self._last[step] - self._first[step]) / (high - low)
        lane_height = whole.height / max(1, len(self.timeline.lanes))
        top = 1 - whole.y1 + lane_height * (lane + bars.top[bar])
        return left, top, width, lane_height * (bars.bottom[bar] - bars.top[bar])

    @property
    def cursor_spans(self) -> list[tuple[float, float]]:
        """Where the cursor's line is: top and height, as parts of the figure."""
        boxes = [axes.get_position() for axes in (self.lanes, self.bytes)]
        return [(1 - box.y1, box.height) for box in boxes]

    def highlight(self, steps: np.ndarray[Any, Any]) -> None:
        """Leaves only the bars of these steps in color."""
        if self._bars is not None:
            is_meant = np.isin(self._events, steps)[:, None]
            faded = 1 - _NOT_MEANT * np.ones(3)
            colors: Any = np.where(is_meant, self._colors, faded)
            self._bars.set_facecolor(colors)

    def point_at(self, step: int) -> None:
        """Draws the cursor into the picture, where it stays."""
        left, top, width, height = self.box(step)
        corner, size = (left, 1 - top - height), (max(width, 0.006), height)
        frame = Rectangle(corner, *size, fill=False, edgecolor=INK, linewidth=1.8)
        lines = [
            Line2D([left, left], [1 - y - h, 1 - y], color=INK, linewidth=1.4)
            for y, h in self.cursor_spans
        ]
        for artist in (frame, *lines):
            artist.set_transform(self.figure.transSubfigure)
            artist.set_figure(self.figure)
            self.figure.add_artist(artist)

    def _set_up(self, width_in: float, paper: style.Paper | None) -> None:
        """From the top: words, keys, names of operators, lanes, keys, bytes."""
        events, lanes = self.timeline.events, self.timeline.lanes
        self._is_batched = np.array([is_batched(event) for event in events], bool)
        words = _EXPLAINED + _BATCHED * bool(self._is_batched.any())
        labels = [cut(lane.label, _MAX_LABEL_CHARS) for lane in lanes]
        lines = textwrap.wrap(words, int((width_in - 0.2) / _CHAR_IN))
        left = max([9, *map(len, labels)]) * _CHAR_IN + 0.2
        lane_in = 0.5 if len(labels) <= 5 else 0.32 if len(labels) <= 14 else 0.22
        lanes_in = max(2, len(labels)) * lane_in
        above, middle = (len(lines) + 2.6) * _LINE_IN, 2.0 * _LINE_IN
        height = above + lanes_in + middle + _BYTES_IN + _BELOW_IN
        self.figure: Any = paper or Figure(figsize=(width_in, height))
        self._inches = width_in - left - _RIGHT_IN

        self.lanes, self.bytes = (
            style.add_axes(self.figure, (left, *sides), (width_in, height))
            for sides in (
                (_BELOW_IN + _BYTES_IN + middle, self._inches, lanes_in),
                (_BELOW_IN, self._inches, _BYTES_IN),
            )
        )
        self.bytes.tick_params(labelsize=FONT_PT, colors=INK)
        self._names_y = self.lanes.get_position().y1 + 0.1 * _LINE_IN / height
        for i, line in enumerate(lines):
            y = 1 - (0.07 + i * _LINE_IN) / height
            self.figure.text(0.1 / width_in, y, line, va="top")
        self._set_up_lanes(labels)
        kinds = [Patch(facecolor=style.tint(QUIET, share)) for share in _KINDS.values()]
        self._keys(self._names_y + 0.9 * _LINE_IN / height, kinds, list(_KINDS))

    def _set_up_lanes(self, labels: list[str]) -> None:
        axes, count = self.lanes, len(labels)
        axes.set_xlim(*self._limits)
        axes.set_ylim(max(1, count), 0)
        axes.set_yticks(np.arange(count) + 0.5, labels)
        axes.tick_params(axis="y", length=0, labelsize=FONT_PT, colors=INK)
        axes.tick_params(axis="x", bottom=False, labelbottom=False)
        axes.spines[["bottom", "left"]].set_visible(False)
        for i in range(count + 1):
            axes.axhline(i, color=_LINES, linewidth=0.8, zorder=0)

    def _keys(self, y: float, keys: list[Any], labels: list[str]) -> None:
        """A line of keys above a height, from the left edge of the figure on."""
        self.figure.legend(
            keys,
            labels,
            loc="lower left",
            bbox_to_anchor=(0, y),
            ncols=len(labels),
            frameon=False,
            fontsize=FONT_PT,
            handlelength=1.3,
            handletextpad=0.4,
            columnspacing=0.9,
            borderpad=0.2,
            borderaxespad=0.2,
        )

    @property
    def _limits(self) -> tuple[float, float]:
        if not len(self.timeline):
            return 0.0, 1.0
        return float(self._first.min()), float(self._last.max())

    def _draw_bars(self) -> None:
        timeline, bars = self.timeline, self.timeline.bars
        is_shared = self._is_batched[bars.event]
        is_shared &= np.append(False, bars.event[1:] == bars.event[:-1])
        # A batched call is recorded when it ends; it began with its caller.
        calls = [timeline.caller(event) for event in timeline.events]
        began = np.array([i if c is None else c for i, c in enumerate(calls)])
        first = self._first[np.where(is_shared, began[bars.event], bars.event)]
        low, high = self._limits
        pixel = (high - low) / (self._inches * FAST_DPI)
        last = np.maximum(self._last[bars.event], first + pixel)
        top, bottom = bars.lane + bars.top, bars.lane + bars.bottom
        room = 0.04 / max(1, self.lanes.get_position().height)
        x = np.stack([first, last, last, first], axis=1)
        y = np.stack([top + room, top + room, bottom - room, bottom - room], axis=1)
        corners = np.stack([x, y], axis=2)
        pairs = zip(bars.event, bars.lane, strict=True)
        colors = np.array([self._color(step, lane) for step, lane in pairs])
        self._colors, self._events = colors[~is_shared], bars.event[~is_shared]
        few = len(timeline) < _FEW_BARS
        self._bars = PolyCollection(
            corners[~is_shared],
            facecolors=self._colors,
            edgecolors="white" if few else "none",
            linewidths=0.7 if few else 0,
            antialiaseds=few,
        )
        self.lanes.add_collection(self._bars)
        hatched = PolyCollection(
            corners[is_shared],
            facecolors=style.tint(CLIENTS, 0.25),
            edgecolors=CLIENTS,
            hatch="////",
        )
        self.lanes.add_collection(hatched)

    def _color(self, step: int, lane: int) -> tuple[float, ...]:
        event = self.timeline.events[step]
        leaf, above, passing = _KINDS.values()
        share = passing
        if event.what == "create_call" or is_batched(event):
            share = leaf if event.layer == "leaf" else above
        return style.tint(self.timeline.lanes[lane].color, share)

    def _draw_phases(self) -> None:
        """Names the operators above the lanes, as far as there is room.

        A name may be longer than its operator's bar, if only by half, and where no name
        of a longer bar is.
        """
        taken: list[tuple[float, float]] = []
        phases = list(self.timeline.phases())
        for step, name in sorted(phases, key=lambda phase: -self.box(phase[0])[2]):
            self.lanes.axvline(self._first[step], color=_LINES, linewidth=0.8, zorder=0)
            left, _, width, _ = self.box(step)
            half = (len(name) + 1) * _CHAR_IN / style.size_in(self.figure)[0] / 2
            middle = left + width / 2
            low, high = middle - half, middle + half
            is_free = all(high <= other or low >= end for other, end in taken)
            if 2 * half <= _LONGER * width and high <= 1 and is_free:
                taken.append((low, high))
                at = (middle, self._names_y)
                self.figure.text(*at, name, ha="center", va="bottom", style="italic")

    def _draw_failure(self) -> None:
        failed = self.timeline.failure()
        if failed is not None:
            left, top, _, height = self.box(failed)
            (cross,) = self.lanes.plot([left], [1 - top - height / 2])
            cross.set(marker="X", markersize=12, color=ALARM, markeredgecolor="white")
            cross.set(transform=self.figure.transSubfigure, clip_on=False, zorder=5)

    def _draw_bytes(self, axis: str) -> None:
        axes, keys = self.bytes, []
        totals = [self.timeline.moved[edge] for edge in (TO_CLIENTS, TO_SERVER)]
        most = max((int(t[-1]) for t in totals if len(t)), default=0)
        unit, name = next(
            (size, name)
            for size, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "bytes"))
            if most >= size or size == 1
        )
        looks: list[dict[str, Any]] = [
            {"color": SERVER},
            {"color": CLIENTS, "linestyle": (0, (3, 1))},
        ]
        for total, look in zip(totals, looks, strict=True):
            x = np.append(self._first, self._limits[1])
            y = np.append(total, total[-1:] if len(total) else 0) / unit
            keys += axes.step(x, y, where="post", clip_on=False, **look)
        axes.set_xlim(*self._limits)
        axes.set_ylim(0, max(most / unit, 1e-9) * 1.05 if most else 1)
        axes.set_yticks([0, most / unit] if most else [0])
        axes.set_yticklabels(["0", f"{most / unit:.4g}"] if most else ["0"])
        axes.set_ylabel(name, rotation=0, ha="right", va="center")
        axes.yaxis.set_label_coords(-0.02, 0.5)
        axes.set_xlabel("step" if axis == STEPS else "time (ms)")
        axes.locator_params(axis="x", nbins=4, integer=axis == STEPS)
        axes.grid(visible=False)
        top = axes.get_position().y1
        self._keys(top, keys, ["gone to clients", "come back"])


def _spans(timeline: Timeline, axis: str) -> tuple[Any, Any]:
    """Where bars begin and end, step 1 being from 1 to 2, or in milliseconds."""
    if axis == STEPS:
        return np.arange(len(timeline)) + 1.0, timeline.ends + 1.0
    times = np.array([(e.start_s, e.end_s) for e in timeline.events]).reshape(-1, 2)
    times = 1000 * (times - (times[0, 0] if len(times) else 0))
    return times[:, 0], times[:, 1]
