# SPDX-License-Identifier: Apache-2.0
"""The tables of lessons in `docs/teaching.md` and `README.md`, from what checks know.

`make release` renews them, so that titles, minutes and points have one home.
"""

from collections.abc import Callable
from itertools import zip_longest

from fedlearn_edu.course.exercise import Lesson, by_path
from fedlearn_edu.course.lessons import LESSONS
from tools.edition import how_much_runs
from tools.publishing import renewed
from tools.release import RELEASE, ROOT

PAGE = ROOT / "docs" / "teaching.md"
README = ROOT / "README.md"


def lesson_table() -> str:
    """For teachers: what a lesson needs, takes and is worth; the sums of each path."""
    rows = ["| lesson | one needs | in a browser | minutes | points |"]
    rows += ["| --- | --- | --- | ---: | ---: |"]
    for path, lessons in by_path(LESSONS).items():
        minutes, points = (sum(s) for s in zip(*map(_sizes, lessons), strict=True))
        rows.append(f"| **{path}** | | | {minutes} | {points} |")
        for each in lessons:
            name = f"[{each.name}](../{_if_there(each)})"
            runs, (minutes, points) = how_much_runs(each.name), _sizes(each)
            rows.append(f"| {name} | {each.needs} | {runs} | {minutes} | {points} |")
    return "\n".join(rows)


def short_table(address: Callable[[Lesson], str] | None = None) -> str:
    """For learners: the two paths side by side, each question a link to its lesson.

    Args:
        address: Of a lesson, or nothing; `None` for where it is in the clone.
    """

    def cell(lesson: Lesson | None) -> str:
        if lesson is None:
            return ""
        there = (address or _if_there)(lesson)
        title = f"[{lesson.title}]({there})" if there else lesson.title
        return f"{lesson.number} {title}"

    paths = by_path(LESSONS)
    hours = [sum(each.minutes for each in of) / 60 for of in paths.values()]
    head = [f"{path} ({h:.0f} hours)" for path, h in zip(paths, hours, strict=True)]
    rows = [head, ["---"] * len(paths)]
    rows += [list(map(cell, lessons)) for lessons in zip_longest(*paths.values())]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def with_table(page: str, table: str) -> str:
    """The page with a table between the two marks."""
    return renewed(page, "lessons", f"\n{table}\n\n")


def _sizes(lesson: Lesson) -> tuple[int, int]:
    return lesson.minutes, lesson.points


def _if_there(lesson: Lesson) -> str:
    file = RELEASE / lesson.file
    return file.relative_to(ROOT).as_posix() if file.is_file() else ""


def main() -> None:
    """Renew the table in both pages."""
    for page, table in ((PAGE, lesson_table()), (README, short_table())):
        text = page.read_text(encoding="utf-8")
        page.write_text(with_table(text, table), encoding="utf-8")


if __name__ == "__main__":
    main()
