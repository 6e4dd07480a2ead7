# SPDX-License-Identifier: Apache-2.0
"""Lessons keep their rhythm: short, explained, with exercises that answer at once.

All of this is read off the file; nothing runs. What a lesson does when it runs is in
`test_running.py`, what its exercises do with answers in `tests/grading`.
"""

import re
import statistics
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.notebooks.notebooks import (
    LESSONS,
    NOTEBOOKS,
    each_full_lesson,
    each_lesson,
    each_notebook,
)
from tests.programs import linted
from tools.cells import answer_cells, code_cells, is_answer, is_check, is_to_fail, read
from tools.release import ROOT

CELLS = range(30, 55)
WORDS = range(900, 1501)
LINES_ON_A_BLANK_PAGE = {"fed_avg_by_hand": 20}
SOLUTION = re.compile(r"### BEGIN SOLUTION\n(.*?)\s*### END SOLUTION", re.DOTALL)
# Code, tables, and what is folded.
NOT_PROSE = re.compile(
    r"```.*?```|<details>.*?</details>|^[ \t]*\|[^\n]*\|[ \t]*$|<[^>\n]+>", re.S | re.M
)


def text_of(path: Path) -> str:
    cells = read(path).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def section(path: Path, heading: str) -> str:
    _, found, rest = text_of(path).partition(f"\n## {heading}\n")
    assert found, f"no section {heading!r}"
    return rest.split("\n## ", 1)[0]


def count_words(path: Path) -> int:
    """Words of prose; a link counts as its text, a bit of code as a word."""
    text = NOT_PROSE.sub(" ", text_of(path))
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return len(re.findall(r"`[^`]*`|\w[\w'’-]*", text))


def lines(cell: Any) -> list[str]:
    return [ln for ln in cell.source.splitlines() if ln.strip() and "###" not in ln]


def imports(cell: Any) -> bool:
    return any(re.match(r"\s*(import|from) ", line) for line in lines(cell))


# ------------------------------------------------------------------ every notebook


def test_there_are_notebooks() -> None:
    assert [path.stem for path in LESSONS if path.stem != path.parent.name] == []
    assert {"explorers", "10_federated_averaging"} <= {p.stem for p in NOTEBOOKS}


@each_notebook
def test_cells_have_names_that_stay(path: Path) -> None:
    """Words, not the eight random characters that editors hand out."""
    ids = [cell.id for cell in read(path).cells]
    assert len(set(ids)) == len(ids)
    named = re.compile(r"[a-z]+(-[a-z0-9]+)*")
    assert [id_ for id_ in ids if not named.fullmatch(id_)] == []


def test_code_passes_the_linter() -> None:
    assert linted(*NOTEBOOKS) == ""


# ------------------------------------------------------------------ size


@each_full_lesson
def test_lesson_has_a_length_one_can_bear(path: Path) -> None:
    """Words of prose: without code, tables and what is folded away."""
    notebook = read(path)
    assert len(notebook.cells) in CELLS
    assert count_words(path) in WORDS
    assert not [cell.id for cell in notebook.cells if cell.source.count("$$") % 2]


@each_lesson
def test_cells_are_small(path: Path) -> None:
    written = [cell for cell in code_cells(read(path)) if not is_check(cell)]
    sizes = [len(lines(cell)) for cell in written]
    assert statistics.median(sizes) <= 5
    assert max(sizes) <= 20


@each_lesson
def test_imports_stand_at_the_top(path: Path) -> None:
    """Before the first text that is not about setting up, or in an answer."""
    cells = (cell for cell in code_cells(read(path)) if not is_answer(cell))
    importing = [index for index, cell in enumerate(cells) if imports(cell)]
    assert importing == list(range(len(importing)))
    assert len(importing) <= 2


# ------------------------------------------------------------------ exercises


@each_lesson
def test_solutions_are_small(path: Path) -> None:
    for name, cell in answer_cells(read(path)).items():
        solution = re.sub("\n+", "\n", "\n".join(SOLUTION.findall(cell.source)))
        assert solution.count("\n") < LINES_ON_A_BLANK_PAGE.get(name, 8), name


@each_lesson
def test_lesson_goes_on_without_the_answers(path: Path) -> None:
    """Each is checked at once; the next cell that uses it takes the checkpoint's."""
    cells = code_cells(read(path))
    answered = [index for index, cell in enumerate(cells) if is_answer(cell)]
    for index in answered:
        name = cells[index].metadata.nbgrader.grade_id
        assert cells[index + 1].source.startswith(f"check.{name}({name})\n")
        used = (c for c in cells[index + 2 :] if re.search(rf"\b{name}\b", c.source))
        first = next(used, None)
        taken = f'{name} = checkpoint("{name}", {name})'
        assert first is None or taken in first.source, f"{name}, in {first}"


@each_lesson
def test_locked_cells_have_one_name(path: Path) -> None:
    for cell in read(path).cells:
        metadata = cell.metadata.get("nbgrader", {})
        if metadata.get("locked") and not metadata["grade"]:
            assert metadata["grade_id"] == cell.id


# ------------------------------------------------------------------ the way through it


@each_full_lesson
def test_every_cell_is_explained(path: Path) -> None:
    """Prose comes first, pictures are told in words, a failure is read aloud."""
    notebook = read(path)
    kinds = "".join(
        "x" if is_answer(cell) or is_check(cell) else cell.cell_type[0]
        for cell in notebook.cells
    )
    assert "ccc" not in kinds, "three code cells in a row"
    for cell, after in pairwise(notebook.cells):
        if "viz.draw" in cell.source:
            assert "In words:" in after.source, cell.id
        if is_to_fail(cell):
            assert "Read it aloud" in after.source, cell.id
    assert sum(map(is_to_fail, code_cells(notebook))) >= 1


@each_full_lesson
def test_learner_predicts_and_plays(path: Path) -> None:
    assert text_of(path).count("**Predict") >= 2
    code = "\n".join(cell.source for cell in code_cells(read(path)))
    assert re.search(r"viz\.(explore_\w+|play|replay)\(", code), "no explorer"
    assert "In words:" in text_of(path), "no picture"


@each_lesson
def test_each_prediction_is_compared_before_the_next(path: Path) -> None:
    found = [
        name
        for cell in code_cells(read(path))
        for name in re.findall(r'(?:predict|reveal)\(\s*"([\w-]+)"', cell.source)
    ]
    asked = found[::2]
    assert found[1::2] == asked
    assert len(set(asked)) == len(asked)


@each_lesson
def test_lesson_ends_with_what_stays(path: Path) -> None:
    assert section(path, "In short").count("\n| ") >= 4
    answered = section(path, "Check yourself")
    asked, _, folded = answered.partition("<details><summary>")
    numbers = re.findall(r"^\d\. ", asked, re.MULTILINE)
    assert len(numbers) >= 4
    assert re.findall(r"^\d\. ", folded, re.MULTILINE) == numbers
    assert len(re.findall(r"^- ", section(path, "What to try next"), re.MULTILINE)) >= 2


@each_full_lesson
def test_files_it_names_exist(path: Path) -> None:
    rows = re.findall(r"^\|[^|]+\|([^|]+)\|", section(path, "Where this lives"), re.M)
    named = re.findall(r"`([\w/]+\.py)`", " ".join(rows))
    assert len(named) >= 3
    missing = [name for name in named if not (ROOT / "fedlearn_edu" / name).is_file()]
    assert missing == []


@each_lesson
def test_names_in_its_texts_exist(path: Path) -> None:
    names: dict[str, Any] = {}
    setup = next(cell for cell in code_cells(read(path)) if cell.id == "setup")
    exec(setup.source.partition("\nbegin(")[0], names)
    for module, attribute in re.findall(r"`(\w+)\.([\w.]+)", text_of(path)):
        if isinstance(names.get(module), ModuleType):
            attrgetter(attribute)(names[module])
