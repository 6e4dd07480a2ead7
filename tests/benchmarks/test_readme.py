# SPDX-License-Identifier: Apache-2.0
"""The page about the benchmark names its options, its files and its rows."""

import re

import pytest

from benchmarks.__main__ import _build_parser
from benchmarks.workloads import PARTS
from tests.architecture.repository import ROOT
from tests.docs.pages import in_code, section, table

PAGE = ROOT / "benchmarks" / "README.md"


def test_options_are_those_of_the_command_line() -> None:
    _, *rows = table(section(PAGE, "## Options"))
    shown = {in_code(row[0])[0].split()[0] for row in rows if row[0].startswith("`--")}
    known = {
        flag for action in _build_parser()._actions for flag in action.option_strings
    }
    assert shown == known - {"-h", "--help"}


def test_parts_that_can_be_asked_for_are_explained() -> None:
    _, *rows = table(section(PAGE, "## What is measured"))
    assert {row[0].partition(",")[0] for row in rows} >= set(PARTS)


def test_every_file_is_said_what_it_is_for() -> None:
    _, *rows = table(section(PAGE, "## Where the code is"))
    shown = {name for row in rows for name in in_code(row[0])}
    assert shown == {file.name for file in PAGE.parent.glob("*.py")}


@pytest.mark.tensorflow
def test_every_row_is_explained() -> None:
    from benchmarks.rows import ROWS

    _, *rows = table(section(PAGE, "## What is measured"))
    explained = {row[0].removeprefix("…, ") for row in rows}
    ways = {"lists", "placed", "step by step", "max_fanout=1000", "without TensorFlow"}
    for row in ROWS.values():
        form = re.sub(f"(, ({'|'.join(ways)}))+$", "", row.name)
        assert form in explained, row.name
    assert ways <= explained
