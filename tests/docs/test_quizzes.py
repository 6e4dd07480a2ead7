# SPDX-License-Identifier: Apache-2.0
"""The quiz bank can be imported: every question is complete, and has one right choice.

Read is what of the GIFT format the bank uses: multiple choice, one choice a line.
"""

import re
from collections import Counter
from pathlib import Path

import pytest

from fedlearn_edu.course.lessons import LESSONS
from tests.docs.pages import DOCS, read

QUIZZES = sorted((DOCS / "teaching" / "quizzes").glob("*.gift"))
_TITLE = re.compile(r"::(.+?):: \[markdown\] (.+)")
# A backslash takes away what these mean.
_MEANS_SOMETHING = re.compile(r"(?<!\\)[~=#{}]")


def questions(page: str) -> list[list[str]]:
    """The lines of each question, without comments and the category."""
    blocks = re.split(r"\n\s*\n", page.strip())
    lines = [
        [ln for ln in block.splitlines() if not ln.startswith(("//", "$CATEGORY: "))]
        for block in blocks
    ]
    return [block for block in lines if block]


@pytest.mark.parametrize("file", QUIZZES, ids=lambda file: file.stem)
def test_questions_are_complete(file: Path) -> None:
    page = read(file)
    number = file.stem.partition("_")[0]
    assert page.splitlines()[1] == f"$CATEGORY: fedlearn_edu/{number}"
    found = questions(page)
    assert len(found) >= 5
    for title, opens, *choices, closes in found:
        where = _TITLE.fullmatch(title)
        assert where, title
        assert where[1].startswith(f"{number} ")
        assert not _MEANS_SOMETHING.search(title), title
        assert (opens, closes) == ("{", "}"), title
        assert len(choices) >= 3, title
        kinds = Counter(choice[:2] for choice in choices)
        assert kinds == {"= ": 1, "~ ": len(choices) - 1}, title
        for choice in choices:
            signs = _MEANS_SOMETHING.findall(choice[2:])
            assert signs == ["#"] * (choice[0] == "~"), f"{title}: {choice}"
        texts = [choice[2:].partition(" # ")[0] for choice in choices]
        assert len(set(texts)) == len(texts), title


def test_names_of_questions_are_unique() -> None:
    names = [
        name for file in QUIZZES for name in re.findall(r"^::(.+?)::", read(file), re.M)
    ]
    assert len(set(names)) == len(names)


def test_every_lesson_has_a_quiz() -> None:
    """Of a lesson in parts, each part has one, or all together."""
    numbers = {file.stem.partition("_")[0] for file in QUIZZES}
    for lesson in LESSONS:
        wanted = str(lesson.number).zfill(2)
        assert any(number.startswith(wanted[:2]) for number in numbers), wanted
