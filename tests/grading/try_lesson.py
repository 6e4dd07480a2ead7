# SPDX-License-Identifier: Apache-2.0
"""Try the answers of one lesson in one kernel: points, and what a learner is told.

python -m tests.grading.try_lesson 04              all answers to lesson 04
python -m tests.grading.try_lesson 04 --only NAME  those to one exercise

What nbgrader makes of them: `pytest tests/grading/test_lessons.py -k 04`.
"""

import argparse
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path

from tests.grading.answers import Answer, answers_of
from tests.grading.one_kernel import faults_of, try_all
from tools.release import lesson_names


def main() -> None:
    parser = argparse.ArgumentParser(description="Try the answers of one lesson.")
    parser.add_argument("lesson", help="its number, or how its name begins")
    parser.add_argument("--only", metavar="EXERCISE", help="answers to this exercise")
    options = parser.parse_args()
    [lesson] = [name for name in lesson_names() if name.startswith(options.lesson)]
    answers = [a for a in answers_of(lesson) if options.only in (None, a.exercise)]
    with tempfile.TemporaryDirectory() as folder:
        faults = try_out(lesson, answers, Path(folder))
    print("", *(faults or ["no faults"]), sep="\n* ")


def try_out(lesson: str, answers: Sequence[Answer], folder: Path) -> list[str]:
    """Prints what each answer gets and is told; gives what is not as its page says."""
    tried = try_all(lesson, answers, folder)
    for each in tried:
        print(f"--- {each.points:g} of {each.most:g} points: {each.answer}")
        if each.points < each.most:
            print(textwrap.indent(each.said.strip(), "    "))
    return list(faults_of(tried))


if __name__ == "__main__":
    main()
