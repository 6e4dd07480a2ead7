# SPDX-License-Identifier: Apache-2.0
"""The frame of every explorer: controls, one sentence, and a view that follows.

    explorer = controls → values → picture.show(**values) → a view, and a sentence

A view is a figure, shown as an <img> with the sentence, or a table in HTML. A picture
keeps its figure and only moves what is in it, so that moves are fast. It needs no
widget: `show` can be called by hand, and tested. The explorer is the widget around it.
Without a front end (on a web page, in a terminal) it is a PNG or a table, or its
sentence.
"""

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from html import escape
from threading import RLock
from typing import Any, Protocol, final

import ipywidgets as widgets
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from fedlearn_edu.errors import FedLearnError, describe
from fedlearn_edu.viz import pictures, style
from fedlearn_edu.viz.explorers.background import Job
from fedlearn_edu.viz.explorers.controls import (
    FLOW,
    Control,
    as_alarm,
    button,
    columns,
    status,
)
from fedlearn_edu.viz.html import tag
from fedlearn_edu.viz.pictures import fast_png, img

_LONGEST_S = 600.0


View = Figure | str
"""What is shown: a figure, or HTML."""


class Picture(Protocol):
    """What follows the controls."""

    @property
    def show(self) -> Callable[..., tuple[View, str]]:
        """`show(**values)` returns what there is to see, and that in words.

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
        job: slow work that is started by a button, if there is any.
    """

    def __init__(
        self,
        title: str,
        picture: Picture,
        controls: Mapping[str, Control],
        *,
        extras: Sequence[Any] = (),
        job: Job | None = None,
    ) -> None:
        """Shows the picture for the first values of the controls.

        Args:
            title: A heading of a few words.
            picture: Takes the controls' values by their names.
            controls: In their order on the page, except that sliders come last.
            extras: Buttons and the like, laid out behind the menus.
            job: Laid out behind the extras; the picture follows while it runs.
        """
        self.picture, self.controls, self.sentence = picture, dict(controls), ""
        self._first, self.job, self._lock = self.values, job, RLock()
        self._said = widgets.HTML()
        self._shown = widgets.HTML(layout=widgets.Layout(width="100%"))
        reset = button("Reset", "back to the values it began with")
        reset.on_click(lambda _: self.set(**self._first))
        tracked = [each for each in self.controls.values() if each.least_em]
        plain = [each.box for each in self.controls.values() if not each.least_em]
        heading = widgets.HTML(f"<strong>{escape(title)}</strong>")
        jobs = [job.box] if job else []
        row = widgets.HBox([*plain, *extras, reset, *jobs], layout=FLOW)
        layout = widgets.Layout(max_width="100%", overflow="hidden")
        parts = [heading, row, columns(tracked), self._said, self._shown]
        super().__init__(parts, layout=layout)
        self._is_held = False
        self._view: View = ""
        self.refresh()
        for control in self.controls.values():
            control.source.observe(lambda _: self.refresh(), "value")
        if job:
            job.watch(self.refresh)

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

    def _finished(self) -> View:
        if self.job:
            self.job.wait(_LONGEST_S)
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
        with self._lock:
            self._is_held = True
            try:
                for name, value in values.items():
                    self.controls[name].source.value = value
            finally:
                self._is_held = False
            self.refresh()

    def refresh(self) -> None:
        """Draws the picture for the controls as they are, and its sentence."""
        # A job draws from its own thread, and figures are not thread-safe.
        with self._lock:
            if self._is_held:
                return
            try:
                view, sentence = self.picture.show(**self.values)
            except FedLearnError as error:
                self._said.value = status(as_alarm(error))
                return
            is_new, self._view, self.sentence = view is not self._view, view, sentence
            self._said.value = status(escape(sentence))
            if isinstance(view, str):
                self._shown.value = view
                return
            figure = style.say(view, sentence)
            if is_new:
                style.keep_layout(figure)
            self._shown.value = img(figure, fast_png(figure))

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget; and the view and the sentence, for pages without widgets."""
        bundle = super()._repr_mimebundle_(**kwargs) or {}
        with self._lock:
            said = {**bundle, "text/plain": self.sentence}
            if isinstance(self._view, str):
                words = tag("p", escape(self.sentence))
                return {**said, "text/html": words + self._view}
            return {**said, "image/png": b64encode(fast_png(self._view)).decode()}
