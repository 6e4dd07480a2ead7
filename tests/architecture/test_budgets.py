# SPDX-License-Identifier: Apache-2.0
"""What there is to read may only become less.

To lower a bound, write the new figure. A raise takes as much away elsewhere, by the
rule in `DECISION`.
"""

import re

import pytest

from tools.size import (
    ABOVE,
    MACHINE,
    ORACLE,
    PACKAGE,
    ROOT,
    files_of,
    files_of_tests,
    functions,
    import_closure,
    machine_files,
    size_of,
    stations,
)

DECISION = "docs/decisions/0011-what-is-measured.md"

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 40

# Executable lines.
MAX_EXECUTABLE = {
    "errors": 194,
    "structure": 109,
    "types": 1_793,
    "ir": 394,
    "language": 2_387,
    "compiler": 397,
    "executors": 1_806,
    "runtimes": 2_124,
    "contexts": 696,
    "framework": 63,
}
MAX_MACHINE_LINES = 17_556
MAX_MACHINE_FILES = 100
# The files that the way of a value names, and all that they import (no TensorFlow).
MAX_WAY_LINES = 3_150
MAX_WAY_CLOSURE_LINES = 9_673
MAX_ORACLE_CLOSURE_LINES = 4_593
MAX_LINES = {
    "dataflow": 861,
    "simulation": 2_672,
    "learning": 9_142,
    "remote": 3_093,
    "attacks": 812,
    "backends": 117,
    "testing": 2_735,
    "tff": 3_749,
    "viz": 10_256,
    "course": 11_927,
    "demo": 519,
}
MAX_TEST_LINES = 42_949


def test_files_fit_on_a_few_screens() -> None:
    too_long = {
        str(file): lines
        for file in sorted(PACKAGE.rglob("*.py"))
        if (lines := size_of([file]).lines) > MAX_FILE_LINES
        # One file for each lesson: reference answers, cases, mistakes. Data, not logic.
        and not file.is_relative_to(PACKAGE / "course" / "lessons")
    }
    assert not too_long, f"longer than {MAX_FILE_LINES} lines: {too_long}"


def test_function_bodies_fit_on_one_screen() -> None:
    too_long = {
        f"{function.file}:{function.line} {function.name}": function.body_lines
        for function in functions(sorted(PACKAGE.rglob("*.py")))
        if function.body_lines > MAX_FUNCTION_LINES
    }
    assert not too_long, f"longer than {MAX_FUNCTION_LINES} lines: {too_long}"


@pytest.mark.parametrize("layer", MACHINE)
def test_executable_lines_of_a_layer(layer: str) -> None:
    size = size_of(files_of(layer))
    _assert_at_most(size.executable, MAX_EXECUTABLE[layer], layer)


def test_lines_and_files_of_layers_0_to_8() -> None:
    size = size_of(machine_files())
    _assert_at_most(size.lines, MAX_MACHINE_LINES, "layers 0 to 8")
    _assert_at_most(size.files, MAX_MACHINE_FILES, "files of layers 0 to 8")


def test_lines_of_the_way_of_a_value_and_of_what_it_imports() -> None:
    way, closure = stations(), import_closure(stations())
    assert len(way) > 10, "the table in docs/architecture.md was not read"
    _assert_at_most(size_of(way).lines, MAX_WAY_LINES, "the way of a value")
    _assert_at_most(size_of(closure).lines, MAX_WAY_CLOSURE_LINES, "what it imports")


def test_lines_of_the_oracle_and_of_what_it_imports() -> None:
    lines = size_of(import_closure([ORACLE])).lines
    _assert_at_most(lines, MAX_ORACLE_CLOSURE_LINES, "the oracle's imports")


@pytest.mark.parametrize("layer", ABOVE)
def test_lines_of_a_layer_above_the_machine(layer: str) -> None:
    _assert_at_most(size_of(files_of(layer)).lines, MAX_LINES[layer], layer)


def test_decision_says_what_the_stack_costs() -> None:
    page = (ROOT / DECISION).read_text(encoding="utf-8")
    rows = re.findall(r"\| (\d+) \| [^|]+ \| (`.+`) \|", page)
    said = {names: int(lines) for lines, names in rows}
    files = {names: re.findall(r"`([^`]+)`", names) for names in said}
    found = {names: _lines(*some) for names, some in files.items()}
    assert said == found
    named = {PACKAGE / file for some in files.values() for file in some}
    stack = {*files_of("executors"), *files_of("contexts")}
    assert {file for file in stack if file.name != "__init__.py"} == named


def _lines(*files: str) -> int:
    return size_of([PACKAGE / file for file in files]).lines


def test_lines_of_the_tests() -> None:
    _assert_at_most(size_of(files_of_tests()).lines, MAX_TEST_LINES, "tests")


def _assert_at_most(found: int, bound: int, what: str) -> None:
    assert found <= bound, (
        f"{what}: {found:,} lines, at most {bound:,} are allowed."
        f" Take some away: {DECISION} has the rule."
    )
