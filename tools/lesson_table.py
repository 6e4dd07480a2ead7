# SPDX-License-Identifier: Apache-2.0
"""The tables of lessons in `docs/teaching.md` and `README.md`, from what checks know.

`make release` renews them, so that goals, minutes and points are stated in one place.
"""

from fedlearn_edu.course import badges
from fedlearn_edu.course.exercise import Lesson
from fedlearn_edu.course.lessons import LESSONS
from tools.release import RELEASE, ROOT

PAGE = ROOT / "docs" / "teaching.md"
README = ROOT / "README.md"
BEGIN = "<!-- lessons: written by `make release` -->\n"
END = "\n<!-- end of lessons -->"


def lesson_table() -> str:
    """For teachers: one row for each lesson, and one for their sum."""
    minutes = sum(lesson.minutes for lesson in LESSONS)
    points = sum(lesson.points for lesson in LESSONS)
    rows = [
        "| lesson | afterwards one can | one needs | minutes | points |",
        "| --- | --- | --- | ---: | --- |",
        *map(_row, LESSONS),
        f"| all | | | {minutes} | **{points}** |",
    ]
    return "\n".join(rows)


def short_table() -> str:
    """For learners: one row for each lesson, with links that open it, if there are."""
    rows = [
        "| | question | minutes | points |",
        "| ---: | --- | ---: | ---: |",
        *map(_short_row, LESSONS),
    ]
    if badges.PUBLISHED is not None:
        links = [badges.badges(lesson.name, badges.PUBLISHED) for lesson in LESSONS]
        ends = ["elsewhere |", "--- |", *(f"{link} |" for link in links)]
        rows = [f"{row} {end}" for row, end in zip(rows, ends, strict=True)]
    return "\n".join(rows)


def with_table(page: str, table: str | None = None) -> str:
    """The page with a table between the two marks: that for teachers, or this one."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table or lesson_table()}\n{END}{after}"


def _row(lesson: Lesson) -> str:
    name = f"{lesson.number:02} {lesson.title}"
    if (ROOT / _file(lesson)).is_file():
        name = f"[{name}](../{_file(lesson)})"
    each = ", ".join(f"`{e.name}` {e.points}" for e in lesson.exercises)
    points = f"**{lesson.points}**: {each}" if each else ""
    goals = "; ".join(lesson.goals).replace("*", "")
    return f"| {name} | {goals} | {lesson.needs} | {lesson.minutes} | {points} |"


def _short_row(lesson: Lesson) -> str:
    title = lesson.title
    if (ROOT / _file(lesson)).is_file():
        title = f"[{title}]({_file(lesson)})"
    points = str(lesson.points) if lesson.exercises else ""
    return f"| {lesson.number:02} | {title} | {lesson.minutes} | {points} |"


def _file(lesson: Lesson) -> str:
    folder = RELEASE.relative_to(ROOT) / lesson.name
    return (folder / f"{lesson.name}.ipynb").as_posix()


def main() -> None:
    """Renew the table in both pages."""
    for page, table in ((PAGE, lesson_table()), (README, short_table())):
        text = page.read_text(encoding="utf-8")
        page.write_text(with_table(text, table), encoding="utf-8")


if __name__ == "__main__":
    main()
