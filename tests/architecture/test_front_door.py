# SPDX-License-Identifier: Apache-2.0
"""What a newcomer meets first stays short: pages, commands, tools, the root folder.

Bounds only fall. What is added to a full page takes as much away.
"""

import re
from pathlib import Path

import pytest

from fedlearn_edu.course.lessons import load_all
from tests.architecture.repository import ROOT, pages, text_files

RULES = "help demo lab test test-all check docs lite release dist bench clean"

MAX_PAGES = 40
MAX_WORDS = 32_000
MAX_ROOT_ENTRIES = 19
MAX_PAGE_WORDS = {
    "README.md": 900,
    "docs/changelog.md": 250,
    "CONTRIBUTING.md": 500,
    "docs/architecture.md": 2_000,
    "docs/from_tff.md": 2_500,
    "docs/glossary.md": 1_200,
}
MAX_LINES = {"tools": 1_853, "benchmarks": 2_010}
MAX_ANSWER_LINES = 3_026


def _words(page: Path) -> int:
    return len(page.read_text(encoding="utf-8").split())


def _lines(folder: str, suffix: str) -> int:
    files = [file for file in text_files() if file.suffix == suffix]
    inside = [file for file in files if file.is_relative_to(ROOT / folder)]
    assert inside
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in inside)


def test_pages_are_few_and_short() -> None:
    words = {page.relative_to(ROOT).as_posix(): _words(page) for page in pages()}
    assert len(words) <= MAX_PAGES
    assert sum(words.values()) <= MAX_WORDS
    too_long = {page: n for page, n in MAX_PAGE_WORDS.items() if words[page] > n}
    assert not too_long


def test_commands_are_twelve() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    rules = re.findall(r"^([a-z][a-z-]*):(?!=)", makefile, re.MULTILINE)
    assert sorted(rules) == sorted(RULES.split())
    said = re.findall(r'@echo "make ([a-z-]+) ', makefile)
    assert sorted(["help", *said]) == sorted(rules)


@pytest.mark.parametrize("folder", MAX_LINES)
def test_lines_beside_the_package(folder: str) -> None:
    assert _lines(folder, ".py") <= MAX_LINES[folder]


def test_lines_of_answerpages() -> None:
    assert _lines("tests/grading/answers", ".md") <= MAX_ANSWER_LINES


def test_root_is_seen_at_a_glance() -> None:
    entries = {file.relative_to(ROOT).parts[0] for file in text_files()}
    assert len(entries) <= MAX_ROOT_ENTRIES, sorted(entries)


def test_readme_counts_what_there_is() -> None:
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    exercises = [exercise for lesson in load_all() for exercise in lesson.exercises]
    mistakes = sum(len(exercise.mistakes) for exercise in exercises)
    reference = ROOT / "fedlearn_edu" / "contexts" / "reference.py"
    lines = len(reference.read_text(encoding="utf-8").splitlines())
    assert f"{len(exercises)} of them know {mistakes:,} usual mistakes" in text
    assert f"the meaning of every program has {lines} lines" in text
