# SPDX-License-Identifier: Apache-2.0
"""Controls with a label, a value and keyboard access; and a status line.

Beside every slider there is a labeled box to type into: screen readers announce the
box, and it works where the notebook keeps the arrow keys to itself.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any, final

import ipywidgets as widgets

from fedlearn_edu.errors import FedLearnError, describe, is_whole_number, whole_number
from fedlearn_edu.rules import is_number
from fedlearn_edu.viz import style
from fedlearn_edu.viz.colors import ALARM

FLOW = widgets.Layout(flex_flow="row wrap", align_items="center", grid_gap="2px 12px")

_LABELS_IN_FULL = {"description_width": "initial"}
_TRACK_EM = 7
# The margin is for the handle: at either end, half of it is outside.
_TRACK = widgets.Layout(
    flex=f"1 1 {_TRACK_EM}em",
    min_width=f"{_TRACK_EM}em",
    width="auto",
    margin="2px 10px",
)
_MARGINS_EM = 2.5
# JupyterLab's own edges of menus and handles are hard to see, above all in the dark.
_EDGES = (
    "<style>.widget-vbox:has(.fl-said) :is(select,input,.noUi-handle,.noUi-connects)"
    ":not(:focus){border:1px solid #808080}</style>"
)
_COLUMN_EM = 20.0
_DECIMALS = 9
_FARTHEST = 1e6


@final
@dataclass(frozen=True)
class Control:
    """A thing to move.

    Attributes:
        source: the widget whose `value` counts.
        box: what is laid out, with the source in it.
        least_em: the least width of the box, unless the page is narrower; 0 for a box
            that is as wide as its words.
    """

    source: Any
    box: Any
    least_em: float = 0.0


def _fitted() -> Any:
    """A layout as wide as the words; one per control, since hiding changes it."""
    return widgets.Layout(width="auto", max_width="100%")


def _tracked(label: str, typed: Any, number_em: float, track: Any) -> Control:
    """A box to type into and its track, which wraps below where space is short."""
    typed_em = 0.55 * len(label) + number_em
    typed.layout = widgets.Layout(width=f"{typed_em:.1f}em", max_width="100%")
    least_em = typed_em + _TRACK_EM + _MARGINS_EM
    layout = widgets.Layout(
        flex=f"1 1 {least_em:.1f}em",
        flex_flow="row wrap",
        min_width=f"min({least_em:.1f}em, 100%)",
        align_items="center",
    )
    return Control(typed, widgets.HBox([typed, track], layout=layout), least_em)


def columns(controls: Sequence[Control]) -> Any:
    """Sliders in as many columns as the page has room for."""
    widest_em = max([_COLUMN_EM, *(each.least_em for each in controls)])
    return widgets.GridBox(
        [each.box for each in controls],
        layout=widgets.Layout(
            grid_template_columns=(
                f"repeat(auto-fill, minmax(min({widest_em:.1f}em, 100%), 1fr))"
            ),
            grid_gap="2px 12px",
            width="100%",
        ),
    )


def slider(
    label: str,
    value: float,
    low: float,
    high: float,
    step: float = 1,
    *,
    live: bool = True,
) -> Control:
    """Numbers from `low` to `high`; whole ones if value, limits and step are ints.

    Args:
        label: With the unit, as in "learning rate (per step)".
        value: The first one.
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
    track = track_kind(**limits, readout=False, continuous_update=live, layout=_TRACK)
    typed = box_kind(**limits, description=label, style=_LABELS_IN_FULL)

    def stop(number: float) -> float:
        return round(low + step * round((number - low) / step), _DECIMALS)

    def follow(other: Any, change: Any) -> None:
        # A browser turns 21 into 21.000000000000004, and 1.3 into 1.5: that is no move.
        if stop(change.new) != stop(other.value):
            other.value = stop(change.new)

    track.observe(partial(follow, typed), "value")
    typed.observe(partial(follow, track), "value")
    return _tracked(label, typed, 6, track)


def limits_around(
    numbers: Sequence[float], low: float, high: float
) -> tuple[float, float]:
    """Whole limits of a slider: `low` and `high`, or a quarter beyond the numbers.

    >>> limits_around([18.0, 24.0], -10, 10)
    (-10, 30)
    """
    least, most = min(numbers), max(numbers)
    # Limits stay finite, however large a number is.
    below, above = (min(abs(end) / 4, _FARTHEST) for end in (least, most))
    return min(low, math.floor(least - below)), max(high, math.ceil(most + above))


def stops(label: str, value: Any, options: Mapping[str, Any]) -> Control:
    """A slider over a few named values, with a menu of them beside it."""
    pairs = list(options.items())
    track = widgets.SelectionSlider(
        options=pairs, value=value, readout=False, layout=_TRACK
    )
    menu = _menu(label, value, pairs)
    widgets.link((track, "index"), (menu, "index"))
    number_em = 0.6 * max(map(len, options)) + 4
    return _tracked(label, menu, number_em, track)


def choice(
    label: str, value: Any, options: Sequence[str] | Mapping[str, Any]
) -> Control:
    """One of several, from a menu."""
    pairs = list(options.items()) if isinstance(options, Mapping) else list(options)
    menu = _menu(label, value, pairs)
    menu.layout = _fitted()
    return Control(menu, menu)


def _menu(label: str, value: Any, options: Any) -> Any:
    look = {"description": label, "style": _LABELS_IN_FULL}
    return widgets.Dropdown(options=options, value=value, **look)


def toggle(label: str, value: bool) -> Control:
    """Yes or no."""
    box = widgets.Checkbox(
        value=value, description=label, indent=False, layout=_fitted()
    )
    return Control(box, box)


def shown_while(source: Any, controls: Mapping[str, Control], is_used: Any) -> None:
    """Shows those controls of which `is_used(source.value, name)` is true."""

    def follow(_: Any = None) -> None:
        for name, control in controls.items():
            is_shown = is_used(source.value, name)
            control.box.layout.display = None if is_shown else "none"

    follow()
    source.observe(follow, "value")


Ask = Callable[[str], Control]
"""Makes the control of an argument of this name, or refuses the argument."""


def arguments(**asked: Ask) -> dict[str, Control]:
    """The controls of a function's arguments, which are what they begin with.

    Raises:
        FigureDataError: if an argument is beyond the range of its control.
    """
    return {name: ask(name) for name, ask in asked.items()}


def a_count(
    value: Any, least: int, most: int, *, label: str = "", live: bool = True
) -> Ask:
    """A whole number within these limits, by default labeled by its name."""

    def ask(name: str) -> Control:
        first = check_count(value, name, least, most)
        return slider(label or name, first, least, most, live=live)

    return ask


def a_stop(
    value: Any, usual: Sequence[float], *, most: float = 0.0, label: str = ""
) -> Ask:
    """A number from the first of the usual ones to the last, or to `most`.

    The control has the usual ones, and the one it begins with. They are whole if all of
    the usual ones are ints.
    """
    least, highest = usual[0], most or usual[-1]
    is_whole = all(isinstance(each, int) for each in usual)

    def ask(name: str) -> Control:
        check: Any = check_count if is_whole else check_number
        first = check(value, name, least, highest)
        options = {f"{each:g}": each for each in sorted({*usual, first})}
        return stops(label or name, first, options)

    return ask


def a_choice(value: Any, titles: Mapping[str, str], *, label: str = "") -> Ask:
    """One of these names, shown by its title."""

    def ask(name: str) -> Control:
        if not (isinstance(value, str) and value in titles):
            raise style.FigureDataError(
                f"there is no such {name}",
                expected=", ".join(titles),
                found=repr(value)[:60],
                where=name,
            )
        return choice(label or name, value, {t: name for name, t in titles.items()})

    return ask


def check_count(number: Any, name: str, least: int, most: int) -> int:
    """The number as an `int`, or an error that names the limits."""
    said = {
        "summary": f"{name} is a whole number from {least} to {most}",
        "expected": f"{least} to {most}",
        "found": describe(number),
    }
    asked = None if is_whole_number(number, most + 1) else number
    return whole_number(asked, name, least, style.FigureDataError, **said)


def check_number(number: Any, name: str, least: float, most: float) -> float:
    """The number as a `float`, or an error that names the limits."""
    if not (is_number(number) and least <= number <= most):
        raise style.FigureDataError(
            f"{name} is a number from {least:g} to {most:g}",
            expected=f"{least:g} to {most:g}",
            found=describe(number),
            where=name,
        )
    return float(number)


def button(label: str, tooltip: str = "") -> Any:
    """A button; `on_click(function)` sets what it does."""
    return widgets.Button(description=label, tooltip=tooltip, layout=_fitted())


def status(html: str) -> str:
    """A line that a screen reader reads out whenever it changes."""
    return (
        f'{_EDGES}<p class="fl-said" role="status" aria-live="polite" '
        f'style="margin:4px 0;line-height:1.4;'
        f'overflow-wrap:anywhere">{html}</p>'
    )


def as_alarm(error: Exception) -> str:
    """An error as HTML, in place of a sentence, with a line for each part.

    >>> as_alarm(FedLearnError("a <b>", do="c")).count("<br>")
    1
    """
    text = str(error)
    if not isinstance(error, FedLearnError):
        text = f"{type(error).__name__}: {text}"
    text = "\n".join([text, *getattr(error, "__notes__", [])])
    lines = "<br>".join(escape(line) for line in text.splitlines())
    border = f"border-left:6px solid {ALARM};padding-left:6px;display:block"
    return f'<span style="{border}">{lines}</span>'
