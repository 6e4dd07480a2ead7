# SPDX-License-Identifier: Apache-2.0
"""The quizzes can be imported: every question is complete, and has one right choice.

Read is what of the GIFT format they use: multiple choice, one choice a line.
"""

import re
from collections import Counter

from fedlearn_edu.course.lessons import load_all
from tests.docs.pages import DOCS, read

FOLDER = DOCS / "teaching" / "quizzes"
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


def test_every_lesson_has_a_quiz_of_complete_questions() -> None:
    names = Counter[str]()
    for lesson in load_all():
        number = lesson.number.zfill(2)
        (file,) = FOLDER.glob(f"{number}_*.gift")
        assert read(file).splitlines()[1] == f"$CATEGORY: fedlearn_edu/{number}"
        found = questions(read(file))
        assert len(found) >= 5
        for title, opens, *choices, closes in found:
            where = _TITLE.fullmatch(title)
            assert where, title
            assert where[1].startswith(f"{number} ")
            names[where[1]] += 1
            assert not _MEANS_SOMETHING.search(title), title
            assert (opens, closes) == ("{", "}"), title
            assert len(choices) >= 3, title
            kinds = Counter(choice[:2] for choice in choices)
            assert kinds == {"= ": 1, "~ ": len(choices) - 1}, title
            for choice in choices:
                signs = _MEANS_SOMETHING.findall(choice[2:])
                assert signs == ["#"] * (choice[0] == "~"), f"{title}: {choice}"
            texts = {choice[2:].partition(" # ")[0] for choice in choices}
            assert len(texts) == len(choices), title
    assert set(names.values()) == {1}
