# SPDX-License-Identifier: Apache-2.0
"""The page of a learner's progress: its numbers, its words, and that it follows."""

import re

import pytest

from fedlearn_edu.course import progress_page, records
from fedlearn_edu.course.exercise import Lesson
from fedlearn_edu.course.records import Progress, Record
from fedlearn_edu.viz.progress import LessonRow, draw_progress
from tests.course.examples import HELLO, LESSONS, TYPES

pytestmark = pytest.mark.usefixtures("kept")

DAY = "2026-11-22"
BEGUN = Progress({"say_hello": Record(2, 1, DAY), "warmer": Record(3, 2)})


def test_rows_count_exercises_points_and_hints() -> None:
    assert progress_page.rows(LESSONS, BEGUN) == [
        LessonRow("01 Hello, federated world", 1, 2, 5, 15, 3, "A warmer greeting"),
        LessonRow("02 Types <and> placements", 0, 1, 0, 15, 0, "Write one"),
    ]


def test_finished_lesson_says_done() -> None:
    done = Progress({"a_type": Record(1, 0, DAY)})
    [row] = progress_page.rows([TYPES], done)
    assert (row.done, row.points, row.next) == (1, 15, "done")
    empty = Lesson("03_empty", "Nothing to do", minutes=5)
    [row] = progress_page.rows([empty], Progress())
    assert (row.exercises, row.next) == (0, "")
    assert "0 of 0" in draw_progress([row], "Ready.")


@pytest.mark.parametrize(
    ("done", "told"),
    [
        (
            {"of_last_year": Record(9, 3, DAY)},
            "0 of 3 exercises done, 0 of 30 points. "
            "Next: lesson 1, “Say hello” (5 points), in 01_hello.ipynb.",
        ),
        (
            {"a_type": Record(1)},
            "0 of 3 exercises done, 0 of 30 points. "
            "Next: lesson 2, “Write one” (15 points), in 02_types.ipynb.",
        ),
        (
            {"a_type": Record(1, 0, DAY)},
            "1 of 3 exercises done, 15 of 30 points. "
            "Next: lesson 1, “Say hello” (5 points), in 01_hello.ipynb.",
        ),
        (
            dict.fromkeys(("say_hello", "warmer", "a_type"), Record(1, 0, DAY)),
            "3 of 3 exercises done, 30 of 30 points. "
            "You have done everything there is.",
        ),
    ],
)
def test_next_step_is_in_the_lesson_that_was_begun(
    done: dict[str, Record], told: str
) -> None:
    assert progress_page.sentence(LESSONS, Progress(done)) == told


def test_text_has_a_line_for_each_lesson_and_says_what_comes_next() -> None:
    assert progress_page.as_text(LESSONS, BEGUN).splitlines() == [
        " done    points hints",
        "  1/2     5/15     3  01 Hello, federated world",
        "  0/1     0/15     0  02 Types <and> placements",
        "",
        "1 of 3 exercises done, 5 of 30 points. Next: lesson 1, “A warmer greeting” "
        "(10",
        "points), in 01_hello.ipynb.",
    ]


def test_page_says_if_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(records.VARIABLE, "off")
    for text in (
        progress_page.as_text(LESSONS, Progress()),
        progress_page.as_page(LESSONS, Progress()),
    ):
        assert "Nothing is kept: FEDLEARN_EDU_PROGRESS is off" in " ".join(text.split())


def test_page_needs_nothing_from_elsewhere_and_can_be_read_aloud() -> None:
    page = progress_page.as_page(LESSONS, BEGUN)
    assert page.startswith("<!DOCTYPE html>")
    assert not re.search(r"https?:|src=|<script|@import|url\(", page)
    assert 'lang="en"' in page
    assert 'name="viewport"' in page
    html = draw_progress(progress_page.rows(LESSONS, BEGUN), "One done.")
    assert html.count('<th scope="col"') == 5
    assert html.count('<th scope="row"') == 2
    assert html.count('aria-hidden="true"') == 2, "bars repeat what numbers say"
    assert 'role="status"' in html
    assert "Types &lt;and&gt; placements" in html
    colors = set(re.findall(r"[;\"](?:color|background):(#?\w+)", html))
    assert colors == {"inherit", "#76767655", "#009E73"}, "text has the page's color"


def test_view_follows_when_a_check_passes() -> None:
    shown = progress_page.view([HELLO])
    assert "0 of 2 exercises done" in shown.value
    records.note_check("say_hello", False)
    records.note_check("say_hello", True)
    assert "1 of 2 exercises done" in shown.value
    assert shown.text == progress_page.as_text([HELLO], records.read())


def test_view_is_a_table_where_no_widget_can_run() -> None:
    shown = progress_page.view([HELLO])
    bundle = shown._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert "<table" in bundle["text/html"]
    assert "Next: lesson 1" in bundle["text/plain"]


def test_view_that_is_shown_again_knows_what_other_notebooks_did() -> None:
    shown = progress_page.view([HELLO])
    file = records.file()
    assert file is not None
    file.parent.mkdir()
    file.write_text(
        '{"version": 1, "exercises": {"warmer": {"tries": 1, "hints": 0, '
        '"passed": "2026-11-22"}}}'
    )
    assert "10 of 15 points" in shown._repr_mimebundle_()["text/plain"]
