# SPDX-License-Identifier: Apache-2.0
"""The frame of explorers: moved without a browser, shown where there is none."""

from base64 import b64decode
from typing import Any

import pytest
from matplotlib.figure import Figure

from fedlearn_edu.viz import style
from fedlearn_edu.viz.explorers.controls import choice, slider, stops, toggle
from fedlearn_edu.viz.explorers.explorer import Explorer


class Line:
    """One line from 0 to where the slider is."""

    figure: Figure

    def __init__(self) -> None:
        self.figure, (axes,) = style.new_figure(style.EXPLORER_IN, 2.0)
        axes.set_ylim(0, 10)
        (self.line,) = axes.plot([0, 1], [0, 0])
        self.times_drawn = 0

    def show(self, height: int, name: str = "a", **_: Any) -> tuple[Figure, str]:
        if height == 5:
            raise style.FigureDataError("five is <out>", expected="not 5")
        self.line.set_ydata([0, height])
        self.times_drawn += 1
        return self.figure, f"{name} goes up to {height}"


def make() -> Explorer:
    controls = {
        "height": slider("height (m)", 3, 0, 10),
        "name": choice("name", "a", ["a", "b"]),
        "skew": stops("alpha", 1.0, {"0.1": 0.1, "1": 1.0, "10": 10.0}),
        "bold": toggle("bold", False),
    }
    return Explorer("A <line>", Line(), controls)


def picture_of(explorer: Explorer) -> str:
    found: str = explorer.shown.value
    return found


def sentence_of(explorer: Explorer) -> str:
    found: str = explorer.said.value
    return found


def test_it_begins_with_a_picture_and_its_sentence() -> None:
    explorer = make()
    assert explorer.sentence == "a goes up to 3"
    assert 'role="status"' in sentence_of(explorer)
    assert 'alt="a goes up to 3"' in picture_of(explorer)
    assert "A &lt;line&gt;" in explorer.children[0].value


def test_box_and_slider_move_together() -> None:
    explorer = make()
    box, track = explorer.controls["height"].box.children
    box.value = 8
    assert track.value == 8
    assert explorer.sentence == "a goes up to 8"
    before = picture_of(explorer)
    track.value = 2
    assert "a goes up to 2" in sentence_of(explorer)
    assert picture_of(explorer) != before
    assert box.value == 2
    menu, stopped = explorer.controls["skew"].box.children
    menu.value = 10.0
    assert stopped.value == 10.0
    assert explorer.values["skew"] == 10.0


@pytest.mark.parametrize(
    ("value", "made", "read"),
    [
        (21.0, 21.000000000000004, 21.0),
        (1.3, 1.5, 1.3),
        (21.0, 22.500000000000004, 22.5),
    ],
    ids=["rounding", "nearest stop", "move"],
)
def test_a_browser_changes_no_number_by_itself(
    value: float, made: float, read: float
) -> None:
    """It writes what it makes of a number, as soon as it has drawn the handle."""
    control = slider("value", value, -10.0, 30, 0.5)
    typed, track = control.box.children
    track.value = made
    assert (control.source.value, typed.value) == (read, read)


def test_a_number_out_of_range_is_taken_as_the_nearest() -> None:
    explorer = make()
    box, track = explorer.controls["height"].box.children
    box.value = 800
    assert (box.value, track.value) == (10, 10)


def test_who_hides_a_control_hides_no_other() -> None:
    controls = make().controls
    controls["bold"].box.layout.display = "none"
    assert controls["name"].box.layout.display is None


def test_several_controls_at_once_are_one_drawing_and_reset_goes_back() -> None:
    explorer = make()
    line: Any = explorer.picture
    drawn = line.times_drawn
    explorer.set(height=4, name="b", bold=True)
    assert explorer.sentence == "b goes up to 4"
    assert line.times_drawn == drawn + 1
    explorer.actions.children[-1].click()
    assert explorer.sentence == "a goes up to 3"
    assert explorer.values == {"height": 3, "name": "a", "skew": 1.0, "bold": False}


def test_values_without_a_picture_are_said_and_break_nothing() -> None:
    explorer = make()
    before = picture_of(explorer)
    explorer.set(height=5)
    assert "five is &lt;out&gt;" in sentence_of(explorer)
    assert picture_of(explorer) == before
    explorer.set(height=6)
    assert explorer.sentence == "a goes up to 6"


def test_without_a_front_end_there_is_a_picture_and_a_sentence() -> None:
    explorer = make()
    explorer.set(height=7)
    bundle = explorer._repr_mimebundle_()
    assert b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert bundle["text/plain"] == "a goes up to 7"
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_layout_stays_when_the_picture_moves() -> None:
    explorer = make()
    (axes,) = explorer.figure.axes
    before = axes.get_position().bounds
    explorer.set(height=9)
    explorer.figure.draw_without_rendering()
    assert axes.get_position().bounds == before


def test_a_control_that_is_not_there_is_named() -> None:
    explorer = make()
    with pytest.raises(style.FigureDataError, match="height, name, skew, bold"):
        explorer.set(height=4, foo=1)
    assert explorer.values["height"] == 3


@pytest.mark.parametrize("wrong", ["nan", "inf"])
def test_a_control_is_not_moved_to_what_is_no_number(wrong: str) -> None:
    explorer = make()
    with pytest.raises(style.FigureDataError, match="a finite number"):
        explorer.set(name="b", height=float(wrong))
    assert explorer.values["name"] == "a"
    assert explorer.sentence == "a goes up to 3"


class Table:
    """One number, in HTML."""

    def show(self, number: int) -> tuple[str, str]:
        return f"<table>{number}</table>", f"<{number}>"


def test_a_view_may_be_html() -> None:
    explorer = Explorer("A table", Table(), {"number": slider("number", 3, 0, 10)})
    explorer.set(number=4)
    assert picture_of(explorer) == explorer.html == "<table>4</table>"
    bundle = explorer._repr_mimebundle_()
    assert bundle["text/html"] == "<p>&lt;4&gt;</p><table>4</table>"
    assert "image/png" not in bundle
    with pytest.raises(style.FigureDataError, match=r"take \.html"):
        _ = explorer.figure
    assert "alt=" in make().html
