# SPDX-License-Identifier: Apache-2.0
"""The tables of lessons in `docs/teaching.md` and `README.md`, from what checks know.

`make release` renews them, so that goals, minutes and points are stated in one place.
"""

from fedlearn_edu.course.badges import binder_address, colab_address
from fedlearn_edu.course.exercise import Lesson
from fedlearn_edu.course.lessons import LESSONS
from tools.release import RELEASE, ROOT

PAGE = ROOT / "docs" / "teaching.md"
README = ROOT / "README.md"
BEGIN = "<!-- lessons: written by `make release` -->\n"
END = "\n<!-- end of lessons -->"

_COLAB = "https://colab.research.google.com/assets/colab-badge.svg"
_BINDER = "https://mybinder.org/badge_logo.svg"


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


def badge_table() -> str:
    """For learners: one row for each lesson, with badges that open it."""
    rows = [
        "| | question | minutes | points | open it in a browser |",
        "| ---: | --- | ---: | ---: | --- |",
        *map(_badge_row, LESSONS),
    ]
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


def _badge_row(lesson: Lesson) -> str:
    number, file = f"{lesson.number:02}", _file(lesson)
    title, badges = lesson.title, ""
    if (ROOT / file).is_file():
        title = f"[{title}]({file})"
        colab = _badge(
            f"Open lesson {number} in Colab", _COLAB, colab_address(lesson.name)
        )
        binder = _badge(
            f"Open lesson {number} on Binder", _BINDER, binder_address(lesson.name)
        )
        badges = f"{colab} {binder}"
    points = str(lesson.points) if lesson.exercises else ""
    return f"| {number} | {title} | {lesson.minutes} | {points} | {badges} |"


def _badge(words: str, picture: str, address: str) -> str:
    return f"[![{words}]({picture})]({address})"


def _file(lesson: Lesson) -> str:
    folder = RELEASE.relative_to(ROOT) / lesson.name
    return (folder / f"{lesson.name}.ipynb").as_posix()


def main() -> None:
    """Renew the table in both pages."""
    for page, table in ((PAGE, lesson_table()), (README, badge_table())):
        text = page.read_text(encoding="utf-8")
        page.write_text(with_table(text, table), encoding="utf-8")


if __name__ == "__main__":
    main()
