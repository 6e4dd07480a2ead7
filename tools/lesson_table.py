# SPDX-License-Identifier: Apache-2.0
"""The tables of lessons in `docs/teaching.md` and `README.md`, from what checks know.

`make release` renews them, so that titles, minutes and points have one home.
"""

from itertools import zip_longest

from fedlearn_edu.course.exercise import Lesson, by_path
from fedlearn_edu.course.lessons import load_all
from tools.edition import how_much_runs
from tools.publishing import renewed
from tools.release import ROOT

PAGE = ROOT / "docs" / "teaching.md"
README = ROOT / "README.md"


def lesson_table() -> str:
    """For teachers: what a lesson needs, takes and is worth; the sums of each path."""
    rows = ["| lesson | one needs | in a browser | minutes | points |"]
    rows += ["| --- | --- | --- | ---: | ---: |"]
    for path, lessons in by_path(load_all()).items():
        minutes = sum(lesson.minutes for lesson in lessons)
        points = sum(lesson.points for lesson in lessons)
        rows.append(f"| **{path}** | | | {minutes} | {points} |")
        for each in lessons:
            name = f"[{each.name}](../notebooks/release/{each.file})"
            about = f"{each.needs} | {how_much_runs(each.name)}"
            rows.append(f"| {name} | {about} | {each.minutes} | {each.points} |")
    return "\n".join(rows)


def short_table() -> str:
    """For learners: the two paths side by side, each question a link to its lesson."""

    def cell(lesson: Lesson | None) -> str:
        if lesson is None:
            return ""
        return f"{lesson.number} [{lesson.title}](notebooks/release/{lesson.file})"

    paths = by_path(load_all())
    hours = [sum(each.minutes for each in of) / 60 for of in paths.values()]
    head = [f"{path} ({h:.0f} hours)" for path, h in zip(paths, hours, strict=True)]
    rows = [head, ["---"] * len(paths)]
    rows += [list(map(cell, lessons)) for lessons in zip_longest(*paths.values())]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def with_table(page: str, table: str) -> str:
    """The page with a table between the two marks."""
    return renewed(page, "lessons", f"\n{table}\n\n")


def main() -> None:
    """Renew the table in both pages."""
    for page, table in ((PAGE, lesson_table()), (README, short_table())):
        text = page.read_text(encoding="utf-8")
        page.write_text(with_table(text, table), encoding="utf-8")


if __name__ == "__main__":
    main()
