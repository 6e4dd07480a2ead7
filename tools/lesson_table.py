# SPDX-License-Identifier: Apache-2.0
"""The tables of lessons in `docs/teaching.md` and `README.md`, from what checks know.

`make release` renews them, so that goals, minutes and points are stated in one place.
"""

from collections.abc import Callable, Sequence
from itertools import starmap, zip_longest

from fedlearn_edu.course.exercise import Lesson, by_path
from fedlearn_edu.course.lessons import LESSONS
from tools.edition import how_much_runs
from tools.release import RELEASE, ROOT

PAGE = ROOT / "docs" / "teaching.md"
README = ROOT / "README.md"
BEGIN = "<!-- lessons: written by `make release` -->\n"
END = "\n<!-- end of lessons -->"


def lesson_table() -> str:
    """For teachers: one row for each lesson, one for each path, and one for all."""
    rows = [
        "| lesson | afterwards one can | one needs | in a browser | minutes | points |",
        "| --- | --- | --- | --- | ---: | --- |",
        *_by_path(_row, "| **{name}** | | | | {minutes} | **{points}** |"),
        _sum("| all | | | | {minutes} | **{points}** |", "", LESSONS),
    ]
    return "\n".join(rows)


def short_table(address: Callable[[Lesson], str] | None = None) -> str:
    """For learners: the two paths side by side, each question a link to its lesson.

    Args:
        address: Of a lesson, or nothing; `None` for where it is in the clone, and
            elsewhere, if it is there.
    """

    def cell(lesson: Lesson | None) -> str:
        if lesson is None:
            return ""
        there = (address or _if_there)(lesson)
        title = f"[{lesson.title}]({there})" if there else lesson.title
        return f"{lesson.number} {title}"

    paths = by_path(LESSONS)
    rows = [list(starmap(_head, paths.items())), ["---"] * len(paths)]
    rows += [list(map(cell, lessons)) for lessons in zip_longest(*paths.values())]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _head(path: str, lessons: Sequence[Lesson]) -> str:
    hours = sum(lesson.minutes for lesson in lessons) / 60
    return f"{path} ({hours:.0f} hours)"


def _by_path(row: Callable[[Lesson], str], head: str) -> list[str]:
    rows = []
    for name, lessons in by_path(LESSONS).items():
        rows += [_sum(head, name, lessons), *map(row, lessons)]
    return rows


def _sum(head: str, name: str, lessons: Sequence[Lesson]) -> str:
    minutes = sum(lesson.minutes for lesson in lessons)
    points = sum(lesson.points for lesson in lessons)
    return head.format(name=name, minutes=minutes, points=points)


def with_table(page: str, table: str | None = None) -> str:
    """The page with a table between the two marks: that for teachers, or this one."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table or lesson_table()}\n{END}{after}"


def _row(lesson: Lesson) -> str:
    name = f"{lesson.number} {lesson.title}"
    if there := _if_there(lesson):
        name = f"[{name}](../{there})"
    each = ", ".join(f"`{e.name}` {e.points}" for e in lesson.exercises)
    points = f"**{lesson.points}**: {each}" if each else ""
    goals = "; ".join(lesson.goals).replace("*", "")
    needs = f"{lesson.needs} | {how_much_runs(lesson.name)}"
    return f"| {name} | {goals} | {needs} | {lesson.minutes} | {points} |"


def _file(lesson: Lesson) -> str:
    return (RELEASE.relative_to(ROOT) / lesson.file).as_posix()


def _if_there(lesson: Lesson) -> str:
    return _file(lesson) if (ROOT / _file(lesson)).is_file() else ""


def main() -> None:
    """Renew the table in both pages."""
    for page, table in ((PAGE, lesson_table()), (README, short_table())):
        text = page.read_text(encoding="utf-8")
        page.write_text(with_table(text, table), encoding="utf-8")


if __name__ == "__main__":
    main()
