# SPDX-License-Identifier: Apache-2.0
"""A class list in, grades out: the CSV files of Moodle and Canvas.

    python -m tools.grade_books students platform.csv > students.csv
    python -m tools.grade_books grades platform.csv build/grades.csv > upload.csv

`platform.csv` is what the platform exports of its own gradebook. Who is who is taken
from it: the names that `fedlearn-edu collect` makes of a platform's folders and files
begin or end with what stands there. Whoever cannot be told is named on stderr.
"""

import argparse
import csv
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

Row = dict[str, str]

_CANVAS_ID = "SIS Login ID"
_MOODLE_ID = "Email address"
_NOTHING = "nothing handed in"


def students(platform: Sequence[Row]) -> list[Row]:
    """The class list for `nbgrader db student import`.

    >>> students([{"Student": "Lovelace, Ada", "ID": "12", "SIS Login ID": "ada"}])
    [{'id': 'ada', 'first_name': 'Ada', 'last_name': 'Lovelace', 'email': ''}]
    """
    return [
        {
            "id": _own_id(row),
            "first_name": first,
            "last_name": last,
            "email": row.get(_MOODLE_ID, ""),
        }
        for row in platform
        if _own_id(row)
        for first, last in [_names(row)]
    ]


def grades(
    platform: Sequence[Row], graded: Iterable[Mapping[str, str]]
) -> tuple[list[Row], list[str]]:
    """The platform's rows with a column of points for each lesson; who is not in it.

    A column that is there already, such as `01_hello (4711)` in Canvas, is filled. What
    did not run, or has to be graded by hand, stays as it is.

    Args:
        platform: What it exports.
        graded: The table that `nbgrader export` has written.
    """
    filled = [dict(row) for row in platform]
    unknown: list[str] = []
    # Somebody may be in the table twice, once by the class list, with nothing.
    for grade in sorted(graded, key=lambda each: each["status"] != _NOTHING):
        student, lesson = grade["student_id"], grade["assignment"]
        found = [row for row in filled if _is(row, student)]
        if len(found) != 1:
            unknown += [student] * (student not in unknown)
            continue
        column = _column(platform, lesson)
        for row in filled:
            row.setdefault(column, "")
            if row.get("Student", "").strip() == "Points Possible":
                row[column] = grade["max_score"]
        if grade["status"] in (_NOTHING, "graded"):
            found[0][column] = grade["score"]
    return filled, unknown


def _own_id(row: Row) -> str:
    return row.get(_CANVAS_ID) or row.get(_MOODLE_ID, "").partition("@")[0]


def _names(row: Row) -> tuple[str, str]:
    if "Student" in row:  # Canvas: "last, first"
        last, _, first = row["Student"].partition(", ")
        return first, last
    last = row.get("Last name") or row.get("Surname", "")
    return row.get("First name", ""), last


def _is(row: Row, student: str) -> bool:
    """Whether a student's name in the course is that of a row.

    `ada`, `Ada_Lovelace_12_assignsubmission_file` (Moodle), `lovelaceada_12_3` (Canvas,
    where 12 is the `ID`).
    """
    if not _own_id(row):
        return False
    same = {_own_id(row), row.get(_MOODLE_ID), row.get("ID number") or None}
    plain = re.sub(r"[^\w.@-]+", "_", " ".join(_names(row)))
    patterns = [rf"{re.escape(plain)}_\d+_assignsubmission_\w*"]
    if row.get("ID"):
        patterns.append(rf"[^_]+(_LATE)?_{re.escape(row['ID'])}_\d+")
    return student in same or any(re.fullmatch(each, student) for each in patterns)


def _column(platform: Sequence[Row], lesson: str) -> str:
    names = [*platform[0]] if platform else []
    return next((n for n in names if re.match(rf"{lesson}\b", n)), lesson)


def read(file: Path) -> list[Row]:
    """The rows of a CSV file; Excel's mark at its beginning is no part of it."""
    with file.open(newline="", encoding="utf-8-sig") as table:
        return list(csv.DictReader(table))


def _write(rows: Sequence[Row]) -> None:
    writer = csv.DictWriter(sys.stdout, [*rows[0]] if rows else [])
    writer.writeheader()
    writer.writerows(rows)


def main() -> int:
    """Writes a table to stdout; 1 if somebody is not in the platform's."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=("students", "grades"))
    parser.add_argument("platform", type=Path, help="what Moodle or Canvas exported")
    parser.add_argument("graded", type=Path, nargs="?", default="build/grades.csv")
    chosen = parser.parse_args()
    if chosen.what == "students":
        _write(students(read(chosen.platform)))
        return 0
    rows, unknown = grades(read(chosen.platform), read(chosen.graded))
    _write(rows)
    if unknown:
        sys.stderr.write(f"not in {chosen.platform}: {', '.join(unknown)}\n")
    return min(len(unknown), 1)


if __name__ == "__main__":
    sys.exit(main())
