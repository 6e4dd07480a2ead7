# SPDX-License-Identifier: Apache-2.0
"""No link and no `pip install` with names that are not ours, right ones with ours."""

import importlib.util
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fedlearn_edu.course import badges
from fedlearn_edu.course.lessons import LESSONS
from tests.architecture.repository import named, text_files
from tests.grading.toy import LESSON, write_lesson
from tests.programs import linted
from tools.cells import read
from tools.lesson_table import short_table
from tools.release import generate

OURS = badges.Published("somebody/some-fork", "4.5.6")
# A wheel that one has, a clone, or an address that one types is no name in an index.
LEAK = re.compile(
    r"mybinder\.org|colab\.research|github\.(com|io)\b|"
    r"pip install (?!--no-index)[^\n`&;]*\bfedlearn[-_]edu\b(?![\w.-]*\.whl|\S* @ )"
)


@pytest.mark.parametrize(
    ("line", "leaks"),
    [
        ("%pip install --quiet fedlearn-edu", True),
        ('python -m pip install "fedlearn_edu[lab]==0.1.0"', True),
        ('pip install -e ".[lab]" && .venv/bin/fedlearn-edu start', False),
        ('pip install "fedlearn_edu-0.1.0-py3-none-any.whl[lab]"', False),
        ('pip install "fedlearn-edu[lab] @ git+ADDRESS@TAG"', False),
        ('pip install --no-index -f wheels "fedlearn-edu[lab]"', False),
    ],
)
def test_only_what_asks_an_index_is_a_leak(line: str, leaks: bool) -> None:
    assert bool(LEAK.search(line)) == leaks


def test_nothing_leads_to_names_that_are_not_ours() -> None:
    """Neither in what is handed out, nor in the wheel, nor in what people read."""
    assert badges.PUBLISHED is None, "then turn the expectation round"
    own = [f"fedlearn_edu/course/{Path(badges.__file__).name}", "tests/"]
    files = [f for f in text_files() if not named(f).startswith(tuple(own))]
    assert {"README.md", "docs/teaching.md", "CITATION.cff"} <= set(map(named, files))
    assert sum("notebooks/release" in named(file) for file in files) == len(LESSONS)
    leaks = {
        named(file): found[0]
        for file in files
        if (found := LEAK.search(file.read_text(encoding="utf-8")))
    }
    assert leaks == {}


def released(folder: Path) -> list[Any]:
    write_lesson(folder / "source")
    generate(folder / "source", folder / "release")
    return list(read(folder / "release" / LESSON / f"{LESSON}.ipynb").cells)


@pytest.mark.slow
def test_names_of_ours_bring_links_and_the_version_that_they_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = released(tmp_path / "off")
    monkeypatch.setattr(badges, "PUBLISHED", OURS)
    first, links, install, *rest = released(tmp_path / "on")
    assert [first, *rest] == without
    assert links.source == badges.badges(LESSON, OURS)
    assert install.source == badges.install_cell(OURS)


def test_links_lead_to_the_lesson_of_the_version_that_is_installed() -> None:
    found = re.findall(r"\[([^]]+)\]\(([^)]+)\)", badges.badges("01_hello", OURS))
    path = "notebooks/release/01_hello/01_hello.ipynb"
    assert found == [
        (
            "Open it in Colab",
            "https://colab.research.google.com/github/somebody/some-fork/blob/v4.5.6/"
            + path,
        ),
        (
            "open it on Binder",
            "https://mybinder.org/v2/gh/somebody/some-fork/v4.5.6"
            f"?urlpath=lab/tree/{path}",
        ),
    ]


def test_table_of_lessons_has_the_links_only_with_names_of_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without = short_table().splitlines()
    assert LEAK.search(short_table()) is None
    monkeypatch.setattr(badges, "PUBLISHED", OURS)
    head, line, *rows = short_table().splitlines()
    assert [head.count("|"), line.count("|")] == [6, 6]
    for lesson, row, before in zip(LESSONS, rows, without[2:], strict=True):
        assert row == f"{before} {badges.badges(lesson.name, OURS)} |"


def run_install_cell() -> list[tuple[str, ...]]:
    """The magic commands it uses."""
    from IPython.core.inputtransformer2 import TransformerManager

    asked: list[tuple[str, ...]] = []
    shell = SimpleNamespace(run_line_magic=lambda *command: asked.append(command))
    manager: Any = TransformerManager
    source = manager().transform_cell(badges.install_cell(OURS))
    exec(compile(source, "cell", "exec"), {"get_ipython": lambda: shell})
    return asked


def test_install_cell_installs_this_version_where_the_package_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert run_install_cell() == []
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert run_install_cell() == [("pip", "install --quiet fedlearn-edu==4.5.6")]


def test_install_cell_passes_the_linter(tmp_path: Path) -> None:
    cell: dict[str, Any] = {
        "cell_type": "code",
        "id": "setup",
        "metadata": {},
        "outputs": [],
    }
    cell |= {"execution_count": None, "source": badges.install_cell(OURS)}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    file = tmp_path / "setup.ipynb"
    file.write_text(json.dumps(notebook))
    assert linted(file) == ""
