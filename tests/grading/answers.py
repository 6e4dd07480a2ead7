# SPDX-License-Identifier: Apache-2.0
"""Right and wrong answers to the exercises of a lesson, kept in one page per lesson.

`answers/NN_name.md` has a heading for each exercise. An answer of one line, and the
words that the message to a wrong one contains, is an item of a list; a longer one has a
heading of its own:

    # exercise_name
    - right: `return the_answer`
    - wrong: `return another_one` → words of the message
    ## wrong: what is misunderstood
    > words of the message
    > more words, each line by itself
    ```python
    <what is written>
    ```

What is written stands in the gap of the lesson's cell, in the place of its solution. It
is the whole cell if it makes the name of the exercise itself.

Each mistake that is known by an error, a type or a look has an answer here. Those known
by a formula need none: `tests/course/test_law_of_mistakes.py` holds them.
"""

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from tools.cells import answer_cells, read
from tools.release import SOURCE

FOLDER = Path(__file__).parent / "answers"
_ITEM = re.compile(r"- (\w+): `([^`]+)`(?: → (.+))?")
_SOLUTION = re.compile(r"^( *)### BEGIN SOLUTION\n.*?^ *### END SOLUTION$", re.M | re.S)


@dataclass(frozen=True)
class Answer:
    """What a learner may write into the answer cell of one exercise."""

    exercise: str
    is_right: bool
    title: str
    words: tuple[str, ...]
    source: str

    def __str__(self) -> str:
        kind = "right" if self.is_right else "wrong"
        return f"{self.exercise}, {kind}: {self.title}"


def answers_of(lesson: str, folder: Path = FOLDER) -> list[Answer]:
    """All answers of a lesson, as its page has them."""
    page = folder / f"{lesson}.md"
    cells = answer_cells(read(SOURCE / lesson / f"{lesson}.ipynb"))
    sources = {name: cell.source for name, cell in cells.items()}
    return list(parse(page.read_text(encoding="utf-8"), page.name, sources))


def parse(
    text: str, name: str = "answers", cells: Mapping[str, str] | None = None
) -> Iterator[Answer]:
    """Every answer of a page; an error names the line that breaks the format."""
    exercise, heading, inside = "", "", False
    words: list[str] = []
    written: list[str] = []

    def answer() -> Answer:
        cell = (cells or {}).get(exercise, "")
        source = completed("\n".join(written), exercise, cell)
        return _answer(exercise, heading, words, source, f"{name}:{number}")

    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("```"):
            if inside:
                yield answer()
                heading, words, written = "", [], []
            inside = not inside
        elif inside:
            written.append(line)
        elif line.startswith("# "):
            exercise = line[2:].strip()
        elif line.startswith("## "):
            if heading:
                raise ValueError(f"{name}:{number}: {heading!r} has no ```python block")
            heading = line[3:].strip()
        elif line.startswith("> "):
            words.append(line[2:].strip())
        elif item := _ITEM.fullmatch(line):
            kind, code, told = item.groups()
            heading, written, words = f"{kind}: {code}", [code], [told] if told else []
            yield answer()
            heading, words, written = "", [], []
        elif line:
            raise ValueError(f"{name}:{number}: {line!r} is part of no answer")
    if inside or heading:
        raise ValueError(f"{name}: the last answer has no complete ```python block")


def completed(written: str, exercise: str, cell: str) -> str:
    """The cell with this in the place of its solution, or this alone if it is whole."""
    solution = _SOLUTION.search(cell)
    whole = re.search(rf"^(async )?(def |class )?{exercise}\b", written, re.M)
    if solution is None or whole:
        return written
    in_place = textwrap.indent(textwrap.dedent(written), solution[1])
    return cell[: solution.start()] + in_place + cell[solution.end() :]


def _answer(
    exercise: str, heading: str, words: list[str], source: str, where: str
) -> Answer:
    kind, colon, title = heading.partition(":")
    if not (exercise and colon and kind in ("right", "wrong")):
        raise ValueError(
            f"{where}: above a block there have to be '# exercise' and "
            f"'## right: ...' or '## wrong: ...'; found {heading!r}"
        )
    if (kind == "wrong") != bool(words):
        raise ValueError(
            f"{where}: a wrong answer quotes ('> ...') words of the message it gets, "
            "a right one none"
        )
    is_right = kind == "right"
    return Answer(exercise, is_right, title.strip(), tuple(words), source)


def for_the_grader(answers: Sequence[Answer]) -> list[Answer]:
    """The first wrong and the first right answer to every exercise.

    They show that points come and go; what a cause is called, `one_kernel` tries on all
    the others, without a kernel for each submission.
    """
    first = {(answer.exercise, answer.is_right): answer for answer in reversed(answers)}
    return [answer for answer in answers if answer in first.values()]


def rounds(answers: Sequence[Answer]) -> list[list[Answer]]:
    """As few submissions as possible: each has one answer to every exercise.

    Wrong ones come first. That works because a lesson goes on with the reference after
    each exercise, so that a wrong answer does not spoil the next one.
    """
    per_exercise: dict[str, list[Answer]] = {}
    for answer in sorted(answers, key=lambda answer: answer.is_right):
        per_exercise.setdefault(answer.exercise, []).append(answer)
    columns = zip_longest(*per_exercise.values())
    return [[answer for answer in column if answer] for column in columns]
