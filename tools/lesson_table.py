# SPDX-License-Identifier: Apache-2.0
"""The table of lessons in `docs/teaching.md`, written from what the checks know.

`make release` renews it, so that goals, minutes and points are stated in one place.
"""

from fedlearn_edu.course.exercise import Lesson
from fedlearn_edu.course.lessons import LESSONS
from tools.release import RELEASE, ROOT

PAGE = ROOT / "docs" / "teaching.md"
BEGIN = "<!-- lessons: written by `make release` -->\n"
END = "\n<!-- end of lessons -->"


def lesson_table() -> str:
    """One row for each lesson, and one for their sum."""
    minutes = sum(lesson.minutes for lesson in LESSONS)
    points = sum(lesson.points for lesson in LESSONS)
    rows = [
        "| lesson | afterwards one can | one needs | minutes | points |",
        "| --- | --- | --- | ---: | --- |",
        *map(_row, LESSONS),
        f"| all | | | {minutes} | **{points}** |",
    ]
    return "\n".join(rows)


def with_table(page: str) -> str:
    """The page with the table as it is now between the two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{lesson_table()}\n{END}{after}"


def _row(lesson: Lesson) -> str:
    name = f"{lesson.number:02} {lesson.title}"
    file = RELEASE / lesson.name / f"{lesson.name}.ipynb"
    if file.is_file():
        name = f"[{name}](../{file.relative_to(ROOT).as_posix()})"
    each = ", ".join(f"`{e.name}` {e.points}" for e in lesson.exercises)
    points = f"**{lesson.points}**: {each}" if each else ""
    goals = "; ".join(lesson.goals).replace("*", "")
    return f"| {name} | {goals} | {lesson.needs} | {lesson.minutes} | {points} |"


def main() -> None:
    """Renew the table in the page."""
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_table(page), encoding="utf-8")


if __name__ == "__main__":
    main()
