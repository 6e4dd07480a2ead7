# SPDX-License-Identifier: Apache-2.0
"""The built site in Chromium: lesson 01 from the start page to a graded hand-in.

One visit, as a learner makes it; what it left is looked at by one test each.
"""

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import PICTURES, ROOT
from tests.grading.course import Course
from tests.lite.learner import Learner
from tests.lite.serving import Served, Wall, served
from tools.cells import code_cells, is_answer, read, what_it_says

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.thorough]

LESSON = "01_hello"
NOTEBOOK = f"{LESSON}/{LESSON}.ipynb"
SOURCE = ROOT / "notebooks" / "source" / NOTEBOOK
WRONG = 'type_of_mean = fl.parse_type("float32@CLIENTS")'
SLIDER = "mean-explorer"


@dataclass
class Visit:
    """What a learner did and was told."""

    learner: Learner
    server: Served
    wall: Wall
    told: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    downloaded: Path = Path()


@pytest.fixture(scope="module")
def visit(
    site: Path, browser: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Visit]:
    """From the start page through lesson 01, most of it with the server gone."""
    wall = Wall()
    with served(site) as server:
        page = wall.new_page(browser, viewport={"width": 1280, "height": 900})
        visit = Visit(Learner(page, NOTEBOOK), server, wall)
        begin(visit)
        server.stop()
        walk(visit)
        visit.learner.wait_until_saved()
        server.start()
        visit.downloaded = download(visit, tmp_path_factory.mktemp("download"))
        yield visit
        page.context.close()
    wall.close()


def begin(visit: Visit) -> None:
    """The start page, a click on the lesson, and what its first cells show."""
    page, began = visit.learner.page, time.monotonic()
    page.goto(visit.server.root + "/")
    link = page.get_by_role("link", name="01 What can a server learn")
    link.wait_for()
    visit.seconds["start page"] = time.monotonic() - began
    page.screenshot(path=PICTURES / "lite_start.png")
    link.click()
    visit.learner.wait_for_kernel()
    visit.learner.run("setup")
    visit.told["surprise"] = what_it_says(visit.learner.run("surprise"))
    visit.seconds["first output"] = time.monotonic() - began


def walk(visit: Visit) -> None:
    """Every cell, and the first exercise wrong before it is right."""
    began = time.monotonic()
    for cell in code_cells(read(SOURCE)):
        if cell.id == "answer-type-of-mean":
            visit.learner.run(cell.id, WRONG)
            wrong = visit.learner.run("check-type-of-mean")
            visit.told["wrong"] = what_it_says(wrong)
        answer = _answer(cell) if is_answer(cell) else None
        visit.told[cell.id] = what_it_says(visit.learner.run(cell.id, answer))
    visit.seconds["lesson"] = time.monotonic() - began


def _answer(cell: Any) -> str:
    return "\n".join(ln for ln in cell.source.splitlines() if "### " not in ln)


def download(visit: Visit, folder: Path) -> Path:
    with visit.learner.page.expect_download() as begun:
        visit.learner.command("docmanager:download")
    file = folder / f"{LESSON}.ipynb"
    begun.value.save_as(file)
    return file


def test_first_output_comes(visit: Visit) -> None:
    assert "105" in visit.told["surprise"]


def test_a_check_tells_wrong_from_right(visit: Visit) -> None:
    assert "the clients hold the readings" in visit.told["wrong"]
    checks = {name: told for name, told in visit.told.items() if "check-" in name}
    assert len(checks) == 4
    assert [name for name, told in checks.items() if "Right." not in told] == []


def test_a_slider_moves(visit: Visit) -> None:
    output = visit.learner.output("explore_mean")
    sentence = output.get_by_text("the mean is").first
    before = sentence.inner_text()
    output.get_by_role("slider").first.press("ArrowRight")
    visit.learner.page.wait_for_function(
        "([element, before]) => element.innerText !== before",
        arg=[sentence.element_handle(), before],
    )


def test_work_and_progress_are_there_after_the_tab_was_closed(visit: Visit) -> None:
    visit.learner.wait_until_saved()
    context = visit.learner.page.context
    visit.learner.page.close()
    again = Learner(context.new_page(), NOTEBOOK)
    began = time.monotonic()
    again.page.goto(visit.server.address(NOTEBOOK))
    again.wait_for_kernel()
    assert "float32@SERVER" in again.source("answer-type-of-mean")
    setup = again.run("setup")
    visit.seconds["with a warm cache"] = time.monotonic() - began
    assert setup.outputs == []  # nothing red
    assert "4/4" in what_it_says(again.run("hello", "fl.course.progress()"))
    again.errors += visit.learner.errors
    visit.learner = again


def test_a_link_starts_its_own_lesson_and_no_earlier_one(visit: Visit) -> None:
    other = "00_why/00_why.ipynb"
    second = Learner(visit.learner.page.context.new_page(), other)
    second.page.goto(visit.server.address(other))
    second.wait_for_kernel()
    assert second.running() == [other]
    second.wait_until_saved()
    second.command("application:close")
    deadline = time.monotonic() + 20
    while second.running():
        assert time.monotonic() < deadline, "a closed lesson keeps its Python"
        second.page.wait_for_timeout(200)
    visit.learner.errors += second.errors
    second.page.close()


def test_what_is_downloaded_is_graded(visit: Visit, tmp_path: Path) -> None:
    course = Course.release(SOURCE.parent, tmp_path)
    submitted = course.submitted("ada")
    submitted.parent.mkdir(parents=True)
    shutil.copy(visit.downloaded, submitted)
    assert sum(course.grade("ada").points.values()) == 40


@pytest.mark.parametrize("theme", ["Light", "Dark"])
@pytest.mark.parametrize("width", [1280, 600])
def test_pages_to_look_at(visit: Visit, width: int, theme: str) -> None:
    visit.learner.picture(PICTURES / f"lite_{theme}_{width}.png", width, theme)


def test_site_is_small_and_says_whose_parts_it_has(site: Path) -> None:
    files = [file for file in site.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) < 60e6
    assert not [file for file in files if file.suffix == ".map"]
    assert "matplotlib 3" in (site / "THIRD_PARTY.txt").read_text(encoding="utf-8")


def test_nobody_else_was_asked(visit: Visit, record_property: Any) -> None:
    took = ", ".join(f"{name} {value:.0f} s" for name, value in visit.seconds.items())
    record_property("took", f"lite, lesson 01 in Chromium: {took}")
    assert visit.wall.asked == []
    assert visit.learner.errors == []


def test_the_wall_hears_who_asks(browser: Any) -> None:
    wall = Wall()
    page = wall.new_page(browser)
    page.goto("data:text/html,<p>hello")
    page.evaluate("fetch('http://elsewhere.invalid/').catch(() => 0)")
    assert wall.asked == ["GET http://elsewhere.invalid/ HTTP/1.1"]
    page.context.close()
    wall.close()
