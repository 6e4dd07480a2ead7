# SPDX-License-Identifier: Apache-2.0
"""Which students handed in the same answers: `python -m tools.alike 01_hello`.

Compared is the code without comments, blank lines and layout; the text of the release
counts for nobody. That two answers are the same proves nothing: most exercises take one
or two lines, and learners may work together. So answers that many share are only
counted, and the others are listed, the longest first, for a teacher to read.
"""

import argparse
import ast
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedlearn_edu.course.collect import SUBMITTED
from tools.cells import answer_cells, read
from tools.release import RELEASE

MANY = 4
"""From so many on, students do not stand out by having the same answer."""


@dataclass(frozen=True)
class Shared:
    """Answers that the same few students, and nobody else, handed in.

    Attributes:
        students: who.
        exercises: to which exercises.
        words: how long the answers are together, counted as `str.split` does.
    """

    students: tuple[str, ...]
    exercises: tuple[str, ...]
    words: int


def find_shared(
    released: Any, submitted: Mapping[str, Any], many: int = MANY
) -> tuple[list[Shared], int]:
    """What two or more students share, longest first, and how much `many` share.

    Args:
        released: The lesson as learners get it.
        submitted: Student to what that student handed in.
        many: Answers of at least so many students are counted only.
    """
    stubs = {name: normal(cell.source) for name, cell in answer_cells(released).items()}
    who: dict[tuple[str, str], list[str]] = defaultdict(list)
    for student, notebook in sorted(submitted.items()):
        for name, cell in answer_cells(notebook).items():
            if name in stubs and (text := normal(cell.source)) not in ("", stubs[name]):
                who[name, text].append(student)
    together: dict[tuple[str, ...], list[tuple[str, str]]] = defaultdict(list)
    for answer, students in who.items():
        if 1 < len(students) < many:
            together[tuple(students)].append(answer)
    shared = [
        Shared(students, tuple(n for n, _ in answers), sum(map(_words, answers)))
        for students, answers in together.items()
    ]
    common = sum(len(students) >= many for students in who.values())
    return sorted(shared, key=lambda each: (-each.words, each.students)), common


def normal(source: str) -> str:
    """The code without comments and layout; what is no Python, without blanks.

    >>> normal("x = ( 1 )  # one") == normal("x=1")
    True
    """
    try:
        return ast.unparse(ast.parse(source))
    except SyntaxError:
        return " ".join(source.split())


def _words(answer: tuple[str, str]) -> int:
    return len(answer[1].split())


def report(shared: list[Shared], common: int) -> str:
    """A line for each group of students, and how to read it."""
    lines = [
        f"{each.words:4} words  {', '.join(each.students)}: {', '.join(each.exercises)}"
        for each in shared
    ]
    return "\n".join(
        [
            *(lines or ["no two or three students stand out"]),
            f"{common} more answers were given by {MANY} students or more.",
            "Short answers coincide by themselves: read before you ask anybody.",
        ]
    )


def main() -> None:
    """Reads a lesson from `build/submitted` and prints what is the same."""
    parser = argparse.ArgumentParser(description="Which students' answers are alike.")
    parser.add_argument("lesson", help="such as 01_hello")
    parser.add_argument("--submitted", type=Path, default=SUBMITTED)
    chosen = parser.parse_args()
    file = Path(chosen.lesson) / f"{chosen.lesson}.ipynb"
    found = sorted(chosen.submitted.glob(f"*/{file}"))
    submitted = {each.parts[-3]: read(each) for each in found}
    print(report(*find_shared(read(RELEASE / file), submitted)))


if __name__ == "__main__":
    main()
