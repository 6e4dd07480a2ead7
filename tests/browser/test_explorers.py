# SPDX-License-Identifier: Apache-2.0
"""Every explorer in a real browser: moved by keyboard and by mouse, seen to change.

How long a move takes is measured and written to `build/browser/latencies.txt`, beside
the pictures; nothing fails because a machine is slow.
"""

import functools
import statistics
from dataclasses import dataclass
from typing import Any, final

import pytest

from tests.browser.conftest import PICTURES, THOROUGH
from tests.browser.notebook_page import HARMLESS, NotebookPage

pytestmark = [*THOROUGH, pytest.mark.tensorflow]


@final
@dataclass(frozen=True)
class Explored:
    """One explorer of the notebook.

    Attributes:
        name: for people, and for the file of its picture.
        cell: text that only its cell has.
        box: the label of a box to type into, and what to type.
        seen: what changes with a move.
    """

    name: str
    cell: str
    box: tuple[str, str]
    seen: str = "img"


EXPLORERS = [
    Explored("mean", "fl.viz.explore_mean(", ("client 0", "5"), "table"),
    Explored("aggregation", "fl.viz.explore_aggregation(", ("step", "3"), "table"),
    Explored("partitions", "fl.viz.explore_partitions(", ("clients", "5")),
    Explored("inversion", "fl.viz.explore_inversion(", ("batch", "3")),
    Explored("play", "fl.viz.explore_run(", ("step", "40"), '[role="status"]'),
]
DISPLAYS = {
    "program": "federated_broadcast(model)",
    "expanded": "expanded=True",
    "type": "federated_step.type_signature",
    "training": "fl.viz.explore_training(",
    "drift": "fl.viz.explore_drift()",
    "poisoning": "fl.viz.explore_poisoning(",
    "budget": "fl.viz.explore_budget(",
}
each = pytest.mark.parametrize("explored", EXPLORERS, ids=lambda e: e.name)


def sentence(output: Any) -> str:
    said: str = output.locator('[role="status"]').last.inner_text()
    return said


def test_page_runs_without_an_error_and_asks_nobody(opened: NotebookPage) -> None:
    assert opened.failures() == []
    assert [error for error in opened.errors if HARMLESS not in error] == []
    assert opened.strangers == set()


@each
def test_slider_moves_by_keyboard(
    opened: NotebookPage, explored: Explored, report: dict[str, float]
) -> None:
    output = opened.output_with(explored.cell)
    before = sentence(output)
    handle = output.locator(".noUi-handle").first
    handle.focus()
    # Notebook 7 keeps arrow keys for its cells, not Page Up.
    took = opened.time_move(output, "PageUp", explored.seen)
    assert took is not None, f"nothing moved: {before}"
    assert sentence(output) != before
    keys = ("PageDown", "PageUp")
    times = opened.time_moves(output, handle, keys, explored.seen)
    report[f"{opened.app}: {explored.name}"] = statistics.median(times)


@each
def test_box_takes_a_typed_number(opened: NotebookPage, explored: Explored) -> None:
    output = opened.output_with(explored.cell)
    label, typed = explored.box
    box = output.get_by_label(label, exact=False).first
    box.fill("2")
    box.press("Enter")
    opened.page.wait_for_timeout(300)
    before = sentence(output)
    box.fill(typed)
    box.press("Enter")
    opened.wait_for_change(lambda: sentence(output), before)


@pytest.mark.parametrize("width", [1280, 600])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pictures_to_look_at(opened: NotebookPage, theme: str, width: int) -> None:
    """They are for people; here only that all is there and nothing sticks out."""
    opened.use_theme(theme)
    opened.resize(width)
    cells = {explored.name: explored.cell for explored in EXPLORERS} | DISPLAYS
    for name, cell in cells.items():
        output = opened.output_with(cell)
        opened.save(output, PICTURES / opened.app / f"{name}_{theme}_{width}.png")
        assert opened.sticks_out(output) == [], (name, theme, width)
        shown = output.locator("picture:visible").evaluate_all(
            "all => all.map(picture => picture.className)"
        )
        assert set(shown) <= {f"fl-{theme}"}, name
        assert shown or not output.locator("picture").count(), name


def test_training_runs_stops_and_goes_on(
    opened: NotebookPage, report: dict[str, float]
) -> None:
    output = opened.output_with("fl.viz.explore_training(")
    opened.wait_until(lambda: "read correctly" in sentence(output), 60)
    tick = output.get_by_label("train 30 rounds")
    opened.wait_until(lambda: "after 30 rounds" in sentence(output), 120)
    tick.uncheck()
    box = output.get_by_role("spinbutton").first
    assert box.input_value() == "30"
    handle = output.locator(".noUi-handle").first
    handle.focus()
    before = sentence(output)
    assert opened.time_move(output, "PageDown") is not None
    opened.wait_for_change(lambda: sentence(output), before)
    times = opened.time_moves(output, handle, ("PageDown", "PageUp"), "img")
    report[f"{opened.app}: training"] = statistics.median(times)


def test_partitions_train_beside_iid(opened: NotebookPage) -> None:
    output = opened.output_with("fl.viz.explore_partitions(")
    output.get_by_label("train 5 rounds").check()
    opened.wait_until(lambda: "IID reads" in sentence(output), 60)
    output.get_by_label("train 5 rounds").uncheck()
    opened.wait_until(lambda: "Not trained yet" in sentence(output), 60)


def test_drift_is_computed_and_moves(
    opened: NotebookPage, report: dict[str, float]
) -> None:
    output = opened.output_with("fl.viz.explore_drift()")
    opened.wait_until(lambda: "nats" in sentence(output), 90)
    box = output.get_by_label("epochs", exact=False).first
    box.focus()
    times = opened.time_moves(output, box, ("ArrowDown", "ArrowUp"), "img")
    report[f"{opened.app}: drift"] = statistics.median(times)


def test_player_is_played_and_stepped(opened: NotebookPage) -> None:
    output = opened.output_with("fl.viz.explore_run(")
    for name in ("first", "next"):
        before = sentence(output)
        button = output.get_by_role("button", name=name, exact=False).first
        button.focus()
        opened.page.keyboard.press("Enter")
        opened.wait_for_change(lambda: sentence(output), before)
    before = sentence(output)
    play = output.locator(".jupyter-button .fa-play").first
    play.click()
    opened.wait_for_change(lambda: sentence(output), before)
    output.locator(".jupyter-button .fa-pause, .jupyter-button .fa-stop").first.click()


PLAYS_FASTER = "100\N{NO-BREAK SPACE}steps"  # how ipywidgets writes blanks in a menu
SEEN = """output => [...output.querySelectorAll("img, .widget-html-content")]
  .map(each => each.getAttribute("src") ?? each.textContent).join()"""


@pytest.mark.parametrize("cell", [*(e.cell for e in EXPLORERS), DISPLAYS["drift"]])
def test_every_slider_moves_by_key_and_by_mouse(
    opened: NotebookPage, cell: str
) -> None:
    output = opened.output_with(cell)
    look = functools.partial(output.evaluate, SEEN)
    reset = output.get_by_role("button", name="Reset")
    for track in output.locator(".noUi-target").all():
        if not track.is_visible():
            continue
        handle = track.locator(".noUi-handle")
        before, box = look(), rectangle(track)
        is_low = rectangle(handle)["x"] < box["x"] + 30
        handle.focus()
        opened.page.keyboard.press("PageUp" if is_low else "PageDown")
        opened.wait_for_change(look, before, 30)
        opened.page.wait_for_timeout(300)
        before, box = look(), rectangle(track)
        is_right = rectangle(handle)["x"] - box["x"] > box["width"] / 2
        x = box["x"] + (0.1 if is_right else 0.9) * box["width"]
        opened.page.mouse.click(x, box["y"] + box["height"] / 2)
        opened.wait_for_change(look, before, 30)
        if reset.count():  # the next one is moved from where all began
            reset.click()
        opened.page.wait_for_timeout(500)


def rectangle(part: Any) -> Any:
    part.scroll_into_view_if_needed()
    return part.bounding_box()


@pytest.mark.parametrize("cell", [*(e.cell for e in EXPLORERS), DISPLAYS["drift"]])
def test_every_menu_and_every_box_to_tick_moves(
    opened: NotebookPage, cell: str
) -> None:
    output = opened.output_with(cell)
    look = functools.partial(output.evaluate, SEEN)
    for menu in output.locator("select").all():
        options = menu.locator("option").all_text_contents()
        if not menu.is_visible() or PLAYS_FASTER in options:
            continue  # how fast it is played changes nothing that stands still
        at = int(menu.evaluate("menu => menu.selectedIndex"))
        before = look()
        menu.select_option(index=(at + 1) % len(options))
        opened.wait_for_change(look, before, 30)
        menu.select_option(index=at)
        opened.page.wait_for_timeout(500)
    for tick in output.locator("input[type=checkbox]").all():
        before = look()
        tick.focus()
        opened.page.keyboard.press("Space")
        opened.wait_for_change(look, before)
