# SPDX-License-Identifier: Apache-2.0
"""What the pages say about the code is true of the code: commands, files, names."""

import re
import tomllib
from functools import cache, reduce
from pathlib import Path

import pytest

import fedlearn_edu
from fedlearn_edu.__main__ import _build_parser
from fedlearn_edu.contexts import factories
from fedlearn_edu.language.intrinsic import all_intrinsics
from fedlearn_edu.types import notation
from tests.architecture.repository import PACKAGE, ROOT, named, package_files
from tests.docs.pages import (
    DOCS,
    README,
    blocks,
    in_code,
    linked_files,
    markdown_pages,
    read,
    section,
    table,
)

ARCHITECTURE = DOCS / "architecture.md"
FROM_TFF = DOCS / "from_tff.md"
LIFE = DOCS / "life_of_a_value.md"
DECISIONS = DOCS / "decisions"


# ------------------------------------------------------------------ commands


@cache
def _make_targets() -> frozenset[str]:
    makefile = read(ROOT / "Makefile")
    return frozenset(re.findall(r"^([a-z][\w-]*):", makefile, re.MULTILINE))


def _commands(page: Path) -> set[str]:
    shell = [*blocks(page, "bash"), *blocks(page, "sh"), *blocks(page, "console")]
    text = "\n".join([*shell, *in_code(read(page))])
    return set(re.findall(r"(?:^|&& |\$ )make ([a-z][\w-]*)", text, re.MULTILINE))


def test_pages_name_only_commands_make_knows() -> None:
    unknown = {
        named(page): sorted(_commands(page) - _make_targets())
        for page in markdown_pages()
        if not _commands(page) <= _make_targets()
    }
    assert not unknown


def test_readme_names_the_two_commands() -> None:
    assert {"demo", "test"} <= _commands(README)


def test_options_of_the_demo_in_the_pages_are_understood() -> None:
    pattern = r'`make demo DEMO_ARGS="([^"]*)"`|`python -m fedlearn_edu demo ([^`]*)`'
    found = re.findall(pattern, "\n".join(read(page) for page in markdown_pages()))
    lines = [first or second for first, second in found]
    assert lines
    for line in lines:  # a wrong option leaves with SystemExit
        assert _build_parser().parse_args(["demo", *line.split()]).command == "demo"


# ------------------------------------------------------------------ files and folders


@pytest.mark.parametrize("page", [ARCHITECTURE, FROM_TFF, LIFE], ids=named)
def test_page_names_only_files_that_exist(page: Path) -> None:
    files = [code for code in in_code(read(page)) if re.fullmatch(r"[\w/]+\.py", code)]
    assert files
    assert not [file for file in files if not (PACKAGE / file).is_file()]


def test_architecture_lists_the_floors_that_are_enforced() -> None:
    settings = tomllib.loads(read(ROOT / "pyproject.toml"))
    [contract] = [
        contract
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    ]
    enforced = [_rooms(floor, "|") for floor in reversed(contract["layers"])]
    _, *rows = table(section(ARCHITECTURE, "## The floors"))
    assert [_rooms(row[0], "·") for row in rows] == enforced


def _rooms(floor: str, separator: str) -> set[str]:
    plain = re.sub(r"\[`(\w+)`\]\([^)]*\)", r"\1", floor)
    return {room.strip() for room in plain.split(separator)}


def test_picture_of_the_stack_is_the_one_the_code_shows() -> None:
    [picture] = blocks(ARCHITECTURE, "")
    shown = [line.strip() for line in (factories.__doc__ or "").splitlines()]
    assert picture.strip().splitlines()
    assert not [ln for ln in picture.splitlines() if ln.strip() not in shown]


def test_grammar_is_the_one_the_parser_documents() -> None:
    [grammar] = blocks(DOCS / "notation.md", "")
    documented = [line.strip() for line in (notation.__doc__ or "").splitlines()]
    assert grammar.splitlines()
    assert not [ln for ln in grammar.splitlines() if ln.strip() not in documented]


# ------------------------------------------------------------------ the way of a value


def test_stations_are_fourteen_and_the_same_on_both_pages() -> None:
    _, *rows = table(section(ARCHITECTURE, "## The way of a value"))
    assert [row[0] for row in rows] == [str(number) for number in range(1, 15)]
    headings = re.findall(r"^## (\d+\. .*)$", read(LIFE), re.MULTILINE)
    assert len(headings) == len(rows)
    for row, heading in zip(rows, headings, strict=True):
        number, _, title = heading.partition(". ")
        name = row[1].removeprefix("[").partition("]")[0]
        assert (number, title.partition(":")[0].lower()) == (row[0], name)
        opening = section(LIFE, f"## {heading}").strip().splitlines()[0]
        assert linked_files(LIFE, opening) == linked_files(ARCHITECTURE, row[2])


def test_first_question_leads_from_the_readme_to_the_answer() -> None:
    """What does `federated_mean` do, and who computes it?"""
    assert ARCHITECTURE in linked_files(README, read(README))
    question = "### What does `federated_mean` do, and who computes it?"
    what, _, who, _ = linked_files(ARCHITECTURE, section(ARCHITECTURE, question))
    assert "def federated_mean(" in read(what)
    methods = re.findall(r"`(_\w+)`", section(ARCHITECTURE, question))
    assert methods
    assert all(f"async def {method}(" in read(who) for method in methods)


# ------------------------------------------------------------------ coming from TFF


def _resolves(path: str) -> bool:
    try:
        reduce(getattr, path.split("."), fedlearn_edu)
    except AttributeError:
        return False
    return True


@pytest.mark.tensorflow
def test_names_that_are_the_same_or_new_exist() -> None:
    """The made table below the text is held by the tests of former names."""
    text, _, _ = section(FROM_TFF, "## Names").partition("<!--")
    promised = re.findall(r"`(?:tff|fl)\.([\w.]+)`", text)
    assert len(promised) > 20
    assert not [name for name in promised if not _resolves(name)]


def test_every_deliberate_difference_is_listed_with_its_file() -> None:
    differences = section(FROM_TFF, "## Differences on purpose")
    listed = {code for row in table(differences) for code in in_code(row[-1])}
    marked = {
        file.relative_to(PACKAGE).as_posix()
        for file in package_files()
        if "NB(TFF)" in read(file)
    }
    assert marked
    assert not sorted(marked - listed)


def test_surprises_have_a_test_under_the_same_number() -> None:
    _, *rows = table(section(FROM_TFF, "## What surprises people, there and here"))
    tests = read(ROOT / "tests" / "semantics" / "test_subtle_behaviors.py")
    tested = dict.fromkeys(re.findall(r"^def test_(\d+)_", tests, re.MULTILINE))
    assert [row[0] for row in rows] == list(tested)


# ------------------------------------------------------------------ decisions


def test_decisions_are_numbered_and_listed() -> None:
    pages = sorted(DECISIONS.glob("[0-9]*.md"))
    assert [int(page.name[:4]) for page in pages] == list(range(1, len(pages) + 1))
    index = DECISIONS / "README.md"
    assert linked_files(index, read(index)) == pages


@pytest.mark.parametrize("page", sorted(DECISIONS.glob("[0-9]*.md")), ids=named)
def test_decision_says_all_four_things(page: Path) -> None:
    title, *_ = read(page).splitlines()
    assert title.startswith(f"# {int(page.name[:4])}. ")
    headings = re.findall(r"^## (.*)$", read(page), re.MULTILINE)
    assert headings == ["Context", "Choice", "Alternatives", "Consequences"]
    assert all(section(page, f"## {heading}").strip() for heading in headings)


def test_decision_the_code_refers_to_is_the_one_it_means() -> None:
    mentions = {
        int(number): named(file)
        for file in package_files()
        for number in re.findall(r"decision (\d+) in `docs/decisions`", read(file))
    }
    assert mentions
    for number, file in mentions.items():
        [page] = DECISIONS.glob(f"{number:04d}-*.md")
        assert file.removeprefix("fedlearn_edu/") in read(page)


# ------------------------------------------------------------------ intrinsics


def test_pages_name_only_intrinsics_that_exist() -> None:
    known = {definition.uri for definition in all_intrinsics()}
    known |= set(fedlearn_edu.__all__)
    pages = [README, LIFE, DOCS / "glossary.md", *DECISIONS.glob("*.md")]
    mentioned = {
        name
        for page in pages
        for code in in_code(read(page))
        for name in re.findall(r"\b(?:federated|sequence)_\w+", code)
    }
    assert mentioned
    assert not sorted(mentioned - known)
