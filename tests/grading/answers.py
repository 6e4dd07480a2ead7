# SPDX-License-Identifier: Apache-2.0
"""Right and wrong answers to the exercises of a lesson, kept in one page per lesson.

`answers/NN_name.md` has a heading for each exercise and one below it for each answer:

    # exercise_name
    ## right: a few words on how it differs from the solution
    ```python
    <the complete source of the answer cell>
    ```
    ## wrong: what is misunderstood
    > words that the message has to contain
    > more words, each line by itself
    ```python
    <the complete source of the answer cell>
    ```
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

FOLDER = Path(__file__).parent / "answers"


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
    return list(parse(page.read_text(encoding="utf-8"), page.name))


def parse(text: str, name: str = "answers") -> Iterator[Answer]:
    """Every answer of a page; an error names the line that breaks the format."""
    exercise, title, inside = "", "", False
    words: list[str] = []
    source: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("```"):
            if inside:
                yield _answer(exercise, title, words, source, f"{name}:{number}")
                title, words, source = "", [], []
            inside = not inside
        elif inside:
            source.append(line)
        elif line.startswith("# "):
            exercise = line[2:].strip()
        elif line.startswith("## "):
            if title:
                raise ValueError(f"{name}:{number}: {title!r} has no ```python block")
            title = line[3:].strip()
        elif line.startswith("> "):
            words.append(line[2:].strip())
    if inside or title:
        raise ValueError(f"{name}: the last answer has no complete ```python block")


def _answer(
    exercise: str, heading: str, words: list[str], source: list[str], where: str
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
    return Answer(exercise, is_right, title.strip(), tuple(words), "\n".join(source))


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
