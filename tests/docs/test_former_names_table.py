# SPDX-License-Identifier: Apache-2.0
"""The page for people who come from TFF shows the table of former names, all of it.

`pytest --update-golden tests/docs` writes it there anew.
"""

import re

import pytest

from fedlearn_edu.former_names import FormerName, former_names
from tests.docs.pages import DOCS, in_code, read, section, table

PAGE = DOCS / "from_tff.md"
HEADING = "## Did you mean"
START = (
    "<!-- made from fedlearn_edu/former_names/table.py by `pytest --update-golden` -->"
)
END = "<!-- end of what is made -->"

FATES = {
    "never": "never existed",
    "renamed": "another name",
    "gone": "not here",
    "left": "not here any more",
    "merged": "a parameter",
}


def _row(row: FormerName) -> str:
    asked = f"tff.{row.path}" if row.home.startswith("fedlearn_edu") else row.path
    here = re.sub(r"(?<!\w)fl[\w.]*\.\w+|(?<!\w)\.\w+", r"`\g<0>`", row.here)
    return f"| `{asked}` | {FATES[row.fate]} | {row.met} | {here} | `{row.example}` |"


def _made() -> str:
    lines = [
        "| name | what became of it | where people meet it | what to write | example |",
        "| --- | --- | --- | --- | --- |",
        *map(_row, former_names().values()),
    ]
    return "\n".join([START, "", *lines, "", END])


def test_page_shows_the_table_of_former_names(request: pytest.FixtureRequest) -> None:
    page = read(PAGE)
    before, start, rest = page.partition(START)
    _, end, after = rest.partition(END)
    assert start, "the page has lost the mark where the table begins"
    assert end, "the page has lost the mark where the table ends"
    made = before + _made() + after
    if request.config.getoption("--update-golden"):
        PAGE.write_text(made, encoding="utf-8")
        return
    assert page == made, "if that is what you want: pytest --update-golden tests/docs"


def test_shown_table_has_a_row_for_each_name_and_cells_that_hold() -> None:
    _, *rows = table(section(PAGE, HEADING))
    assert {len(row) for row in rows} == {5}
    examples = [example for row in rows for example in in_code(row[4])]
    assert examples == [row.example for row in former_names().values()]
