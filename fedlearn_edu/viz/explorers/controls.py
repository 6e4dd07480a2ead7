# SPDX-License-Identifier: Apache-2.0
"""What a reader moves: each control has a label, a value, and a way by keyboard.

A slider always has a labeled box beside it that can be typed into: the box is what a
screen reader announces, and what works where a notebook keeps the arrow keys to itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import ipywidgets as widgets

_LABELS_IN_FULL = {"description_width": "initial"}
_WHOLE = widgets.Layout(width="auto", max_width="100%")
# The margin is for the handle, which stands half outside at either end.
_SLIDER = widgets.Layout(
    flex="1 1 8em", min_width="6em", width="auto", margin="2px 10px"
)


def _row() -> Any:
    """One for each control: whoever hides a control hides its layout."""
    return widgets.Layout(flex="1 1 19em", max_width="30em", align_items="center")


@final
@dataclass(frozen=True)
class Control:
    """One thing to move.

    Attributes:
        source: the widget whose `value` counts.
        box: what is laid out, the source in it.
    """

    source: Any
    box: Any


def slider(
    label: str,
    value: float,
    low: float,
    high: float,
    step: float = 1,
    *,
    live: bool = True,
) -> Control:
    """Numbers from `low` to `high`; whole ones, if all three and the step are whole.

    Args:
        label: With the unit, as in "learning rate (per step)".
        value: What it begins with.
        low: The least.
        high: The most.
        step: From one number to the next.
        live: Whether the picture follows while the handle is dragged; `False` for
            pictures that take more than 100 ms.
    """
    is_whole = all(isinstance(number, int) for number in (value, low, high, step))
    track_kind = widgets.IntSlider if is_whole else widgets.FloatSlider
    box_kind = widgets.BoundedIntText if is_whole else widgets.BoundedFloatText
    limits = {"value": value, "min": low, "max": high, "step": step}
    track = track_kind(**limits, readout=False, continuous_update=live, layout=_SLIDER)
    typed = box_kind(
        **limits,
        description=label,
        style=_LABELS_IN_FULL,
        layout=widgets.Layout(width=f"{len(label) * 0.55 + 6:.1f}em"),
    )
    widgets.link((track, "value"), (typed, "value"))
    return Control(track, widgets.HBox([typed, track], layout=_row()))


def stops(label: str, value: Any, options: Mapping[str, Any]) -> Control:
    """A slider over a few named values, in order, with a menu of them beside it."""
    pairs = list(options.items())
    track = widgets.SelectionSlider(
        options=pairs, value=value, readout=False, layout=_SLIDER
    )
    menu = widgets.Dropdown(
        options=pairs,
        value=value,
        description=label,
        style=_LABELS_IN_FULL,
        layout=_WHOLE,
    )
    widgets.link((track, "index"), (menu, "index"))
    return Control(track, widgets.HBox([menu, track], layout=_row()))


def choice(
    label: str, value: Any, options: Sequence[str] | Mapping[str, Any]
) -> Control:
    """One of several, from a menu."""
    pairs = list(options.items()) if isinstance(options, Mapping) else list(options)
    menu = widgets.Dropdown(
        options=pairs,
        value=value,
        description=label,
        style=_LABELS_IN_FULL,
        layout=_WHOLE,
    )
    return Control(menu, menu)


def toggle(label: str, value: bool) -> Control:
    """Yes or no."""
    box = widgets.Checkbox(value=value, description=label, indent=False, layout=_WHOLE)
    return Control(box, box)


def button(label: str, tooltip: str = "") -> Any:
    """Something to press; `on_click(function)` says what happens then."""
    return widgets.Button(description=label, tooltip=tooltip, layout=_WHOLE)
