# SPDX-License-Identifier: Apache-2.0
"""The widget: a tape to scrub through, beside the program that ran.

The big picture is sent once, or for each part of the tape that is zoomed into. A move
sends a few lines: the cursor, which lies on top of the picture, the sentence, the
program with its lit node, and the value.
"""

from base64 import b64encode
from html import escape
from typing import Any, final

import ipywidgets as widgets
import numpy as np
from matplotlib.figure import Figure

from fedlearn_edu.contexts.execution import record
from fedlearn_edu.errors import TypeMismatchError, describe, short_traceback
from fedlearn_edu.executors.recording import Tape
from fedlearn_edu.executors.traffic import EDGES
from fedlearn_edu.language.computation import Computation, PolymorphicComputation
from fedlearn_edu.viz import style
from fedlearn_edu.viz.explorers.controls import (
    FLOW,
    as_alarm,
    button,
    choice,
    slider,
    status,
)
from fedlearn_edu.viz.html import head, strong, tag
from fedlearn_edu.viz.pictures import FAST_DPI, moving
from fedlearn_edu.viz.player.drawing import MILLISECONDS, STEPS, TapePicture, check_tape
from fedlearn_edu.viz.player.listing import breakable
from fedlearn_edu.viz.player.timeline import ALL_CLIENTS, Timeline
from fedlearn_edu.viz.player.words import value_of
from fedlearn_edu.viz.shortening import size_text

_SPEEDS = {"1 step": 1, "3 steps": 3, "10 steps": 10, "100 steps": 100}
_ZOOMS = {"100 steps": 100, "30 steps": 30}
_INTERVAL_MS = 250
_WIDTH_IN = 6.0  # beside the program on a page, and not too small on half of one
_WIDEST = f"min({_WIDTH_IN * FAST_DPI:.0f}px, 100%)"
# The cursor lies on the picture. On a phone, what is seldom moved comes last.
_SHEET = (
    "<style>.fl-drawn{display:grid;grid-template-columns:minmax(0,1fr)}"
    ".fl-drawn>*{grid-area:1/1;margin:0}"
    "@media(max-width:640px){.fl-choosing{order:1}"
    ".fl-program{max-height:17em;overflow:auto}}</style>"
)
_TITLE = "margin:0;line-height:1.4"
_TABLE = "line-height:1.4;margin:4px 0"
_CODE = "font-family:monospace;white-space:pre-wrap;overflow-wrap:anywhere"
_PROGRAM = f"{_CODE};font-size:12px;line-height:1.35"


@final
class Player(widgets.VBox):  # type: ignore[misc]
    """A recorded run, step by step.

    Attributes:
        result: what the computation returned; `None` if it failed or is not known.
        error: what it failed with, if it did.
        timeline: the plain data that is shown.
        controls: name to control: `step`, `speed`, `layer`, `who`, `axis`, `zoom`.
        buttons: name to button: `first`, `previous`, `next`, `last`.
        sentence: the step in words.
    """

    def __init__(
        self, tape: Tape, result: Any = None, error: Exception | None = None
    ) -> None:
        self.timeline, self.result, self.error = Timeline(tape), result, error
        self.sentence = ""
        count, failed = len(self.timeline), self.timeline.failure()
        lanes = self.timeline.lanes
        layers = {layer: layer for lane in lanes for layer in lane.layers}
        clients = [ALL_CLIENTS] if any(lane.is_clients for lane in lanes) else []
        names = [*clients, *(lane.label for lane in lanes)]
        self.controls = {
            "step": slider("step", (failed or 0) + 1, 1, max(1, count)),
            "speed": choice("speed", 1, _SPEEDS),
            "layer": choice("layer", "", {"all layers": "", **layers}),
            "who": choice("who", "", {"everybody": "", **{n: n for n in names}}),
            "axis": choice("axis", STEPS, [STEPS, MILLISECONDS]),
            "zoom": choice("zoom", count, {"all steps": count, **_ZOOMS}),
        }
        self.buttons = {
            name: button(name.capitalize(), f"{name} step that is not filtered out")
            for name in ("first", "previous", "next", "last")
        }
        self.play = widgets.Play(interval=_INTERVAL_MS, show_repeat=False)
        self._picture, self._cursor = widgets.HTML(), widgets.HTML()
        self._said, self._listing = widgets.HTML(), widgets.HTML()
        self._value = widgets.HTML()
        self._meant, self._is_moving = np.arange(count), False
        super().__init__(self._parts(), layout=widgets.Layout(max_width="100%"))
        self._draw()
        self._connect()

    @property
    def step(self) -> int:
        """The step that is shown, from 1."""
        return int(self.controls["step"].source.value)

    @property
    def figure(self) -> Figure:
        """The static picture, with the cursor where it is now."""
        picture = self._drawing()
        picture.highlight(self._meant)
        if len(self.timeline):
            picture.point_at(self.step - 1)
        return style.say(picture.figure, self.sentence)

    def set(self, **values: Any) -> None:
        """Moves controls."""
        for name, value in values.items():
            self.controls[name].source.value = value

    @property
    def _part(self) -> range:
        """The steps that are drawn: those around the cursor that `zoom` asks for."""
        many = self.controls["zoom"].source.value or 1
        first = (self.step - 1) // many * many
        return range(first, first + many)

    def _drawing(self) -> TapePicture:
        axis = self.controls["axis"].source.value
        return TapePicture(self.timeline, _WIDTH_IN, axis, steps=self._part)

    def _parts(self) -> list[Any]:
        step, *others = (control.box for control in self.controls.values())
        moving = widgets.HBox([self.play, *self.buttons.values(), step], layout=FLOW)
        choosing = widgets.HBox(others, layout=FLOW)
        choosing.add_class("fl-choosing")
        told, drawn = [self._listing, self._value], [self._picture, self._cursor]
        left = widgets.VBox(told, layout=_column("1 1 22em", "100%"))
        right = widgets.Box(drawn, layout=_column("2 1 30em", _WIDEST))
        right.add_class("fl-drawn")
        self._listing.add_class("fl-program")
        # Where there is no room side by side, the lanes come first.
        flow = widgets.Layout(flex_flow="row wrap-reverse", align_items="flex-end")
        both = widgets.HBox([left, right], layout=flow)
        return [moving, choosing, self._said, both]

    def _connect(self) -> None:
        for name in ("axis", "zoom"):
            self.controls[name].source.observe(lambda _: self._draw(), "value")
        for name in ("layer", "who"):
            source = self.controls[name].source
            source.observe(lambda _: self._filter(), "value")
        step, speed = self.controls["step"].source, self.controls["speed"].source
        step.observe(lambda _: self._move(), "value")
        speed.observe(lambda change: setattr(self.play, "step", change.new), "value")
        self.play.observe(lambda change: self._go(change.new), "value")
        for name, pressed in self.buttons.items():
            pressed.on_click(lambda _, name=name: self._press(name))

    def _press(self, name: str) -> None:
        """Goes to the first, previous, next or last step that passes the filters."""
        here = self.step - 1
        before = int(np.searchsorted(self._meant, here, "left")) - 1
        after = int(np.searchsorted(self._meant, here, "right"))
        ends = {"first": 0, "previous": before, "next": after, "last": len(self._meant)}
        self._go(ends[name])

    def _go(self, place: int) -> None:
        """Goes to a place among the steps that pass the filters."""
        if len(self._meant) and not self._is_moving:
            place = min(max(place, 0), len(self._meant) - 1)
            self.controls["step"].source.value = int(self._meant[place]) + 1

    def _draw(self) -> None:
        """Makes the picture, which filters color, and moves within it leave alone."""
        self._drawn, self._drawn_part = self._drawing(), self._part
        style.keep_layout(self._drawn.figure)
        self._filter()

    def _filter(self) -> None:
        """Applies the filters: the bars of all other steps fade."""
        self._chosen = [self.controls[n].source.value for n in ("layer", "who")]
        self._meant = self.timeline.matching(*self._chosen)
        count = len(self._meant)
        for control in (self.play, *self.buttons.values()):
            control.disabled = not count
        self.play.max = max(0, count - 1)
        self._drawn.highlight(self._meant)
        chosen = f"; {count:,} are chosen" * bool(self.timeline.events)
        figure = style.say(self._drawn.figure, f"{self.timeline.summary()}{chosen}")
        self._picture.value = _SHEET + moving(figure)[0]
        self._move()

    def _move(self) -> None:
        """Shows the step the slider is at."""
        if self._part != self._drawn_part:
            self._draw()  # which moves, too
            return
        step = self.step - 1
        self.sentence = self.timeline.sentence(step)
        if len(self.timeline) and not len(self._meant):
            # Of both filters: each of them alone has only what is on the tape.
            layer, who = self._chosen
            self.sentence += f'. No step of "{who}" is in the layer "{layer}": '
            self.sentence += "choose another filter"
        self._said.value = status(escape(self.sentence))
        if not len(self.timeline):
            return
        self._cursor.value = _cursor(self._drawn, step)
        self._listing.value = self._program(step)
        self._value.value = self._shown(step)
        self._is_moving = True
        self.play.value = int(min(np.searchsorted(self._meant, step), self.play.max))
        self._is_moving = False

    def _program(self, step: int) -> str:
        listing = self.timeline.programs[step]
        if listing is None:
            return "<p>No program runs here.</p>"
        title = f"The program that runs: {strong(listing.name)}"
        text = tag("div", listing.html(self.timeline.lit[step]), style=_PROGRAM)
        return tag("p", title, style=_TITLE) + text

    def _shown(self, step: int) -> str:
        event = self.timeline.events[step]
        failed = event.made if isinstance(event.made, Exception) else None
        sizes = ((edge, int(self.timeline.moved[edge][step])) for edge in EDGES)
        moved = "\n".join(f"{e:<17} {size_text(size)}" for e, size in sizes if size)
        value = as_alarm(failed) if failed else breakable(value_of(event))
        rows = {
            "error" if failed else "value": value,
            "type": breakable(event.type or "none"),
            "bytes so far": escape(moved or "none"),
        }
        left = "text-align:left;vertical-align:top;padding:1px 10px 1px 0"
        body = [
            head(name, f"{left};white-space:nowrap") + tag("td", text, style=_CODE)
            for name, text in rows.items()
        ]
        return tag("table", *(tag("tr", row) for row in body), style=_TABLE)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget; for pages without widgets the picture and the sentence."""
        bundle = super()._repr_mimebundle_(**kwargs) or {}
        _, png = moving(self.figure)
        return {
            **bundle,
            "image/png": b64encode(png).decode(),
            "text/plain": self.sentence,
        }


def _column(flex: str, widest: str) -> Any:
    return widgets.Layout(flex=flex, min_width="0", max_width=widest, overflow="hidden")


def _cursor(picture: TapePicture, step: int) -> str:
    """A line and a frame over the picture, in parts of its size."""
    left, top, width, height = picture.box(step)
    width_in, height_in = picture.figure.get_size_inches()
    here = f"position:absolute;left:{100 * left:.3f}%"
    # In the color of the page's text, as the theme has it.
    boxes = [axes.get_position() for axes in (picture.lanes, picture.bytes)]
    lines = [
        tag("div", style=f"{here};{_tall(1 - b.y1, b.height)};border-left:2px solid")
        for b in boxes
    ]
    outline = "outline:1px solid var(--jp-layout-color0,#fff)"
    border = f"box-sizing:border-box;border:2px solid;{outline}"
    size = f"{_tall(top, height)};min-width:4px;width:{100 * width:.3f}%"
    frame = tag("div", style=f"{here};{size};{border}")
    look = (
        f"position:relative;pointer-events:none;max-width:{width_in * FAST_DPI:.0f}px;"
        f"aspect-ratio:{width_in}/{height_in:.4f}"
    )
    return tag("div", *lines, frame, aria_hidden="true", style=look)


def _tall(top: float, height: float) -> str:
    return f"top:{100 * top:.3f}%;height:{100 * height:.3f}%"


@short_traceback
def explore_run(
    comp: Any,
    *args: Any,
    fuse: bool = False,
    default_num_clients: int = 0,
    max_fanout: int = 100,
    **kwargs: Any,
) -> Player:
    """Runs a computation once, recorded, and returns a player of what happened.

    It runs on a stack of its own, also if it is bound to an environment.

    An error that comes while it runs is not raised: it is the end of the tape, and
    `.error` of the player. An error before anything runs is raised, as it always is.

    Args:
        comp: a computation.
        args: what it is called with.
        fuse: whether steps may be taken together, as by default in a plain call.
        default_num_clients: how many clients there are when no argument says it.
        max_fanout: from this many clients on, they are put into groups of groups.
        kwargs: what it is called with by name; if a parameter has one of the three
            names above, its argument goes by position.

    Returns:
        A widget; `.result` is what the computation returned.

    Raises:
        TypeMismatchError: if `comp` is no computation, or the arguments do not fit.
        CardinalityError: if a number of clients is out of range.

    >>> import fedlearn_edu as fl
    >>> import numpy as np
    >>> total = fl.federated_computation(fl.federated_sum, fl.type_at_clients(np.int32))
    >>> player = explore_run(total, [1, 2, 3])
    >>> player.result
    np.int32(6)
    >>> player.set(step=15)
    >>> player.sentence
    'step 15 of 81: the stack (reference resolving) calls the program; 0 B have ...'
    """
    if not isinstance(comp, Computation | PolymorphicComputation):
        raise TypeMismatchError(
            "only computations can be played",
            expected="a computation and its arguments: explore_run(computation, 1)",
            found=describe(comp),
            where="explore_run",
            do="hand over the computation itself, without calling it"
            if not callable(comp)
            else "decorate the function: @federated_computation(type), …",
        )
    # Bound to an environment, it would run there, and leave nothing on the tape.
    unbound = comp if comp.home is None else comp.at_home_in(None)
    result, failure = None, None
    with record(
        fuse=fuse, default_num_clients=default_num_clients, max_fanout=max_fanout
    ) as tape:
        try:
            result = unbound(*args, **kwargs)
        except Exception as error:
            if not any(event.error for event in tape):
                raise
            failure = error
    return Player(tape, result, failure)


@short_traceback
def explore_tape(tape: Tape) -> Player:
    """Returns a player of what is on a tape; nothing runs.

    Args:
        tape: from `with fl.record() as tape:`, or from a stack of your own, if it is a
            `Tape(keep_values=True)`.

    Raises:
        TypeMismatchError: if it is no tape, or kept no values.

    >>> import fedlearn_edu as fl
    >>> explore_tape(fl.framework.Tape()).sentence
    'The tape is empty: nothing was called while it ran.'
    """
    check_tape(tape, "explore_tape")
    return Player(tape)
