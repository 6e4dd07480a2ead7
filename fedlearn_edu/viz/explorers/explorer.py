# SPDX-License-Identifier: Apache-2.0
"""The frame of every explorer: controls, one sentence, and a view that follows.

    explorer = controls → values → picture.show(**values) → a view, and a sentence

`show` returns the two, or yields them better and better until all is computed.

A view is a figure, shown as an <img> with the sentence, or a table in HTML. A picture
keeps its figure and only moves what is in it, so that moves are fast. It needs no
widget: `show` can be called by hand, and tested. The explorer is the widget around it.
Without a front end (on a web page, in a terminal) it is a PNG or a table, or its
sentence.
"""

from base64 import b64encode
from collections.abc import Callable, Generator, Mapping, Sequence
from html import escape
from threading import RLock
from typing import Any, Protocol, final

import ipywidgets as widgets
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from fedlearn_edu.errors import FedLearnError, describe, short_traceback
from fedlearn_edu.language.context_stack import Context
from fedlearn_edu.viz import pictures, style
from fedlearn_edu.viz.explorers.controls import (
    FLOW,
    Control,
    as_alarm,
    button,
    columns,
    status,
)
from fedlearn_edu.viz.explorers.frames import (
    Follower,
    Frame,
    Frames,
    View,
    explorers_context,
)
from fedlearn_edu.viz.html import tag
from fedlearn_edu.viz.pictures import FAST_DPI, moving

# Until all is computed; until there is something to see at first, and after a move.
_LONGEST_S, _OPENS_S, _MOVES_S = 600.0, 20.0, 0.25


class Picture(Protocol):
    """What follows the controls."""

    @property
    def show(self) -> Callable[..., Frame | Frames]:
        """`show(**values)` returns what there is to see, and that in words.

        What takes seconds is a generator of such pairs, the last one final. It runs in
        the background, and ends at its next yield once the controls have moved.

        Raises:
            FedLearnError: if there is nothing for these values; the explorer shows
                the error in place of the sentence, and keeps the view.
        """


@final
class Explorer(widgets.VBox):  # type: ignore[misc]
    """A view under controls.

    Attributes:
        picture: what makes the view.
        controls: name to control.
        sentence: what the picture shows, in words.
        actions: the line of menus and buttons.
        said: the line that has the sentence, or an error.
        shown: what has the view.
    """

    def __init__(
        self,
        title: str,
        picture: Picture,
        controls: Mapping[str, Control],
        *,
        extras: Sequence[Any] = (),
        where: Callable[[], Context] = explorers_context,
    ) -> None:
        """Shows the picture for the first values of the controls.

        Args:
            title: A heading of a few words.
            picture: Takes the controls' values by their names.
            controls: In their order on the page, except that sliders come last.
            extras: Buttons and the like, laid out behind the menus.
            where: The context for the computations of work in the background.
        """
        self.picture, self.controls, self.sentence = picture, dict(controls), ""
        self._first, self._lock = self.values, RLock()
        self.said = widgets.HTML()
        self.shown = widgets.HTML(layout=widgets.Layout(min_width="0", margin="0"))
        reset = button("Reset", "back to the values it began with")
        reset.on_click(lambda _: self.set(**self._first))
        tracked = [each for each in self.controls.values() if each.least_em]
        plain = [each.box for each in self.controls.values() if not each.least_em]
        heading = widgets.HTML(f"<strong>{escape(title)}</strong>")
        self.actions = widgets.HBox([*plain, *extras, reset], layout=FLOW)
        moved = [self.actions, columns(tracked), self.said]
        # Beside a figure where there is room, above it where there is not.
        beside = widgets.Layout(flex="1 1 24em", min_width="0", margin="0 12px 0 0")
        left = widgets.VBox(moved, layout=beside)
        flow = widgets.Layout(flex_flow="row wrap", align_items="flex-start")
        layout = widgets.Layout(max_width="100%", overflow="hidden")
        parts = [heading, widgets.HBox([left, self.shown], layout=flow)]
        super().__init__(parts, layout=layout)
        self._is_held = False
        self._view: View = ""
        self._png, self._num_put = b"", 0
        self._failed: Exception | None = None
        self._follower = Follower(self._put, where)
        self.refresh(_OPENS_S)
        for control in self.controls.values():
            control.source.observe(lambda _: self.refresh(), "value")

    @property
    def figure(self) -> Figure:
        """The picture as a figure, once what it needs is computed.

        Raises:
            FigureDataError: if it is a table.
            StillRunningError: if it takes more than ten minutes.
        """
        view = self._finished()
        if isinstance(view, str):
            raise style.FigureDataError(
                "this explorer shows a table, and has no figure",
                do="take .html, which has the table, or .sentence",
            )
        FigureCanvasAgg(view)  # what is kept need not be quick
        return view

    @property
    def html(self) -> str:
        """The picture as HTML, once what it needs is computed: a table, or an image.

        Raises:
            StillRunningError: if it takes more than ten minutes.
        """
        view = self._finished()
        return view if isinstance(view, str) else str(pictures.html(view))

    @short_traceback
    def wait(self, timeout: float = _LONGEST_S) -> None:
        """Waits until all is computed for the controls as they are.

        Raises:
            StillRunningError: if it is not, after so many seconds.
            Exception: what the work failed with.
        """
        self._follower.wait(timeout)
        if self._follower.error:
            raise self._follower.error

    def _finished(self) -> View:
        self.wait()
        if not self._view and self._failed:
            raise self._failed
        return self._view

    @property
    def values(self) -> dict[str, Any]:
        """The values of the controls, by name."""
        return {name: each.source.value for name, each in self.controls.items()}

    def set(self, **values: Any) -> None:
        """Moves controls, and draws once.

        Raises:
            FigureDataError: if there is no such control, or a number is not finite;
                then nothing is moved.
        """
        for name, value in values.items():
            if name not in self.controls:
                raise style.FigureDataError(
                    "there is no such control",
                    expected=", ".join(self.controls),
                    found=name,
                    where="set",
                )
            if isinstance(value, float | np.floating) and not np.isfinite(value):
                raise style.FigureDataError(
                    "a control cannot be moved there",
                    expected="a finite number",
                    found=describe(value),
                    where=name,
                )
        self._is_held = True
        try:
            for name, value in values.items():
                self.controls[name].source.value = value
        finally:
            self._is_held = False
        self.refresh()

    def refresh(self, patience_s: float = _MOVES_S) -> None:
        """Shows what there is for the controls as they are, and its sentence."""
        if self._is_held:
            return
        try:
            shown: Any = self.picture.show(**self.values)
        except FedLearnError as error:
            shown = error
        if not isinstance(shown, Generator):
            self._follower.stop()
            self._put(shown)
            return
        before = self._num_put
        self._follower.follow(shown, patience_s)
        with self._lock:
            if self._num_put == before:
                self.said.value = status("computing \N{HORIZONTAL ELLIPSIS}")

    def _put(self, shown: Frame | Exception) -> None:
        """Puts a view and its sentence into the page; or an error above the view."""
        # Work draws from its own thread, and figures are not thread-safe.
        with self._lock:
            self._num_put += 1
            self._failed = shown if isinstance(shown, Exception) else None
            if isinstance(shown, Exception):
                self.said.value = status(as_alarm(shown))
                return
            is_new = shown[0] is not self._view
            self._view, self.sentence = shown
            self.said.value = status(escape(self.sentence))
            if isinstance(self._view, str):
                self.shown.layout.flex = "1 1 100%"
                self.shown.value = self._view
                return
            figure = style.say(self._view, self.sentence)
            if is_new:
                style.keep_layout(figure)
                width_px = round(FAST_DPI * figure.get_figwidth())
                self.shown.layout.flex = f"0 1 {width_px}px"
            self.shown.value, self._png = moving(figure)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget; and the view and the sentence, for pages without widgets."""
        bundle = super()._repr_mimebundle_(**kwargs) or {}
        with self._lock:
            said = {**bundle, "text/plain": self.sentence}
            if isinstance(self._view, str):
                words = tag("p", escape(self.sentence))
                return {**said, "text/html": words + self._view}
            return {**said, "image/png": b64encode(self._png).decode()}
