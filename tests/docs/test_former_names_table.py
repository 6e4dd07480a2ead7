# SPDX-License-Identifier: Apache-2.0
"""The page for people who come from TFF shows the table of former names.

`pytest --update-golden tests/docs` writes it there anew. Former names of this package,
names of objects, what `fedlearn_edu.tff` has and has not, examples and versions are in
messages only.
"""

import re

import pytest

from fedlearn_edu.former_names import FormerName, former_names
from tests.docs.pages import DOCS, in_code, read, section, table

PAGE = DOCS / "from_tff.md"
START = "<!-- made from fedlearn_edu/former_names by `pytest --update-golden` -->"
END = "<!-- end of what is made -->"

RENAMED = "another name in TFF or in texts about it"
_NAME = r"(?<!\w)fl[\w.]*\.\w+|(?<!\w)\.\w+"
_MOST = 1
HEADERS = {RENAMED: ("renamed", "never"), "not here": ("gone",)}


def _of_tff() -> list[FormerName]:
    return [
        row
        for row in former_names().values()
        if row.met != "here, at first"
        and row.fate != "tff"
        and row.home.startswith("fedlearn_edu")
        and not row.home.startswith("fedlearn_edu.tff")
        and not row.here.endswith(f".{row.name}")  # only its module is another
    ]


def _asked(row: FormerName) -> str:
    return f"`tff.{row.path}`"


def _rows(fates: tuple[str, ...]) -> list[str]:
    """One row for each thing to write, behind all names that are answered with it."""
    names: dict[str, list[str]] = {}
    for row in _of_tff():
        if row.fate in fates:
            here = re.sub(_NAME, r"`\g<0>`", row.here)
            names.setdefault(here, []).append(_asked(row))
    return [f"| {_few(asked)} | {here} |" for here, asked in names.items()]


def _few(asked: list[str]) -> str:
    more = len(asked) - _MOST
    return ", ".join(asked[:_MOST]) + (f" and {more} more" if more > 0 else "")


def _made() -> str:
    tables = [
        "\n".join([f"| {header} | what to write |", "| --- | --- |", *_rows(fates)])
        for header, fates in HEADERS.items()
    ]
    return "\n\n".join([START, *tables, END])


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


def test_shown_table_has_a_name_once_and_cells_that_hold() -> None:
    rows = table(section(PAGE, "## Names"))
    assert {len(row) for row in rows} == {2}
    shown = [name for names, _ in rows for name in in_code(names)]
    assert len(set(shown)) == len(shown)
    assert set(shown) <= {_asked(row).strip("`") for row in _of_tff()}
