# SPDX-License-Identifier: Apache-2.0
"""The page of a learner's progress: its numbers and its words."""

import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from fedlearn_edu.course import progress_page, records
from fedlearn_edu.course.exercise import LEARNING, MACHINE, Lesson
from fedlearn_edu.course.records import Progress, Record
from fedlearn_edu.viz.progress import LessonRow, draw_progress
from tests.course.examples import LESSONS, TYPES, doubles

pytestmark = pytest.mark.usefixtures("kept")

DAY = "2026-11-22"
BEGUN = Progress({"say_hello": Record(2, 1, DAY), "warmer": Record(3, 2)})


def test_rows_count_exercises_points_and_hints() -> None:
    assert progress_page.rows(LESSONS, BEGUN) == [
        LessonRow(
            *("Learning", "01", "Hello, federated world", 25, 1, 2, 5, 15, 3),
            next="A warmer greeting",
        ),
        LessonRow(*("Learning", "02", "Types <and> placements", 25, 0, 1, 0, 15, 0)),
    ]


def test_finished_lesson_has_nothing_next() -> None:
    [row] = progress_page.rows([TYPES], Progress({"a_type": Record(1, 0, DAY)}))
    assert (row.done, row.points, row.next) == (1, 15, "")
    html = draw_progress([row], "Ready.")
    assert "1\xa0of\xa01\xa0done\xa0·" in html
    assert "hint" not in html
    empty = Lesson("03_empty", "Nothing to do", minutes=5)
    [row] = progress_page.rows([empty], Progress())
    assert "0\xa0exercises" in draw_progress([row], "Ready.")


@pytest.mark.parametrize(
    ("done", "told"),
    [
        (
            {"of_last_year": Record(9, 3, DAY)},
            "0 of 3 exercises done, 0 of 30 points. "
            "Next: lesson 01, “Say hello” (5 points), in 01_hello.ipynb.",
        ),
        (
            {"a_type": Record(1)},
            "0 of 3 exercises done, 0 of 30 points. "
            "Next: lesson 02, “Write one” (15 points), in 02_types.ipynb.",
        ),
        (
            {"a_type": Record(1, 0, DAY)},
            "1 of 3 exercises done, 15 of 30 points. "
            "Next: lesson 01, “Say hello” (5 points), in 01_hello.ipynb.",
        ),
        (
            dict.fromkeys(("say_hello", "warmer", "a_type"), Record(1, 0, DAY)),
            "3 of 3 exercises done, 30 of 30 points. You have done every exercise.",
        ),
    ],
)
def test_next_step_is_in_the_lesson_that_was_begun(
    done: dict[str, Record], told: str
) -> None:
    assert progress_page.sentence(LESSONS, Progress(done)) == told


def chapter(number: str, path: str = LEARNING) -> Lesson:
    exercise = doubles(name=f"double_{number}", title="Double")
    return Lesson(f"{number}_x", "Why?", 10, exercises=(exercise,), path=path)


COURSE = [
    *(chapter("00"), chapter("01"), chapter("02", MACHINE), chapter("06a")),
    *(chapter("06b", MACHINE), chapter("08")),
]


@pytest.mark.parametrize(
    ("done", "then"),
    [
        ({}, "00"),
        ({"00": DAY}, "01"),
        ({"00": DAY, "01": DAY}, "06a"),
        ({"01": DAY}, "06a"),
        ({"01": DAY, "02": DAY}, "06b"),
        ({"01": DAY, "02": DAY, "06a": "2026-11-23"}, "08"),
        ({"01": DAY, "02": DAY, "06b": DAY}, "06a"),
        ({"01": DAY, "02": None}, "02"),
    ],
)
def test_next_lesson_follows_the_path_of_the_last(
    done: dict[str, str | None], then: str
) -> None:
    records = {f"double_{n}": Record(1, 0, day) for n, day in done.items()}
    rows = progress_page.rows(COURSE, Progress(records))
    assert [row.number for row in rows if row.next] == [then]
    told = progress_page.sentence(COURSE, Progress(records))
    assert f"Next: lesson {then}, " in told


def test_lessons_stand_below_their_path() -> None:
    text = progress_page.as_text(COURSE, Progress())
    html = draw_progress(progress_page.rows(COURSE, Progress()), "Ready.")
    words = re.sub(r"<br>|<[^>]*>", "", html.replace("</strong> <span>", " "))
    found = re.compile(r"Learning|Language and machine|\d\d[ab]?(?= Why)")
    assert (
        found.findall(text)
        == found.findall(words)
        == ["Learning", "00", "01", "06a", "08", "Language and machine", "02", "06b"]
    )


def test_lines_lead_from_what_a_lesson_needs() -> None:
    """To what it names, less what that needs; if nothing, to the one before it."""
    needs = {"01": "a little Python", "02": "lesson 1", "06a": "lesson 1"}
    needs |= {"06b": "lessons 1 to 2, and lesson 6a", "08": "lessons 01 and 6a"}
    course = [replace(each, needs=needs.get(each.number, "")) for each in COURSE]
    html = draw_progress(progress_page.rows(course, Progress()), "Ready.")
    assert re.findall(r'alt="(.*?)"', html) == [
        "00 builds on no other",
        "01 builds on 00",
        "02 builds on 01; 06a builds on 01",
        "06b builds on 02 and 06a; 08 builds on 06a",
    ]
    pictures = map(unquote, re.findall(r'src="data:image/svg\+xml,(.*?)"', html))
    lines = "".join(ElementTree.fromstring(each)[0].attrib["d"] for each in pictures)
    assert (lines.count(" 0V9"), lines.count("m-4.0-4")) == (6, 2), "two from the side"


@pytest.mark.parametrize(
    ("beside", "address"),
    [(".", "00_x/00_x.ipynb"), ("01_x", "../00_x/00_x.ipynb"), ("a/b", "")],
)
def test_lessons_that_are_here_are_links(
    beside: str, address: str, tmp_path: Path
) -> None:
    for folder in ("00_x", "01_x", "a/b"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "00_x" / "00_x.ipynb").touch()
    first, second = progress_page.rows(COURSE[:2], Progress(), tmp_path / beside)
    assert (first.address, second.address) == (address, "")
    assert f'href="{address}"' in draw_progress([first], "") or not address


def test_text_has_a_line_for_each_lesson_and_says_what_comes_next() -> None:
    assert progress_page.as_text(LESSONS, BEGUN).splitlines() == [
        " done    points",
        "Learning",
        "  1/2     5/15    01 Hello, federated world (3 hints)",
        "  0/1     0/15    02 Types <and> placements",
        "",
        "1 of 3 exercises done, 5 of 30 points. Next: lesson 01, “A warmer greeting” "
        "(10",
        "points), in 01_hello.ipynb.",
    ]


def test_page_says_if_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(records.VARIABLE, "off")
    text = " ".join(progress_page.as_text(LESSONS, Progress()).split())
    assert "Nothing is kept: FEDLEARN_EDU_PROGRESS is off" in text


def test_picture_needs_nothing_from_elsewhere_and_has_the_colors_of_the_page() -> None:
    html = draw_progress(progress_page.rows(LESSONS, BEGUN), "One done.")
    assert not re.search(r'https?:|src="(?!data:)|<script|@import|url\(', html)
    assert 'role="status"' in html
    assert "Types &lt;and&gt; placements" in html
    assert set(re.findall(r"[;\"](?:color|background):(#?\w+)", html)) == {"inherit"}


def test_progress_prints_the_map_where_there_is_no_notebook(
    capsys: pytest.CaptureFixture[str],
) -> None:
    records.note_check("average_of", True)
    progress_page.progress()
    assert "\n1 of " in capsys.readouterr().out
