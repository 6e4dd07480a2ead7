# SPDX-License-Identifier: Apache-2.0
"""How much there is to read, in each layer; `test_budgets.py` bounds it.

A line is *executable* if it holds code that is neither an import nor a docstring.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "fedlearn_edu"
ORACLE = PACKAGE / "contexts" / "reference.py"
# Layers 0 to 8, from the ground: the machine that runs a federated computation.
MACHINE = (
    *("errors", "structure", "types", "ir", "language", "compiler", "executors"),
    *("runtimes", "contexts", "framework"),
)
# The rest of the package that has a bound of its own.
ABOVE = (
    *("dataflow", "simulation", "learning", "remote", "attacks", "backends"),
    *("testing", "tff", "viz", "course", "demo"),
)
_APART = re.compile(r"messages(\.py|/\w+\.py)$|/runtimes/tensorflow/|/former_names/")


class Size(NamedTuple):
    """Lines of some files: all, and executable ones."""

    files: int
    lines: int
    executable: int


class Function(NamedTuple):
    """One function and the lines of its body, without its docstring."""

    file: Path
    line: int
    name: str
    body_lines: int


def size_of(files: Iterable[Path]) -> Size:
    """The sum over `files`."""
    return Size(*map(sum, zip((0, 0, 0), *map(_size_of_file, files), strict=True)))


def files_of(layer: str) -> list[Path]:
    """The Python files of a layer: a package, or one module."""
    return sorted(PACKAGE.glob(f"{layer}.py")) or sorted(
        PACKAGE.glob(f"{layer}/**/*.py")
    )


def machine_files() -> list[Path]:
    """The Python files of layers 0 to 8."""
    return [file for layer in MACHINE for file in files_of(layer)]


def files_of_tests() -> list[Path]:
    """Everything in Python below `tests`."""
    return sorted((ROOT / "tests").rglob("*.py"))


def stations() -> list[Path]:
    """The files of the way of a value, from the table in `docs/architecture.md`."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("## The way of a value")[2].partition("\n## ")[0]
    names = re.findall(r"\]\(\.\./fedlearn_edu/(.+?)\)", table)
    return [PACKAGE / name for name in dict.fromkeys(names)]


def import_closure(files: Iterable[Path]) -> set[Path]:
    """What `files` import, directly or not, at the top of a module.

    Without TensorFlow, and what is looked up and not read: messages, former names.
    """
    found, waiting = set[Path](), [*files]
    while waiting:
        file = waiting.pop()
        if not (file in found or _APART.search(file.as_posix())):
            found.add(file)
            waiting += [each for node in _tree(file).body for each in _imported(node)]
    return found


def functions(files: Iterable[Path]) -> Iterator[Function]:
    """Every function of `files`."""
    for file in files:
        for node in ast.walk(_tree(file)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[1:2] if ast.get_docstring(node) else node.body[:1]
                lines = [max(_lines(node)) - each.lineno + 1 for each in first]
                yield Function(file, node.lineno, node.name, sum(lines))


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def _lines(node: ast.stmt | ast.expr) -> range:
    return range(node.lineno, (node.end_lineno or 0) + 1)


@cache
def _size_of_file(file: Path) -> Size:
    source = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    code = {n for n, line in enumerate(source, 1) if line and line[0] != "#"}
    for node in ast.walk(_tree(file)):
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Expr(ast.Constant(str())):
                code -= {*_lines(node)}
    return Size(1, len(source), len(code))


def _imported(node: ast.stmt) -> Iterator[Path]:
    """The files of modules, and of names in them that are modules themselves."""
    modules = (
        [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    )
    if isinstance(node, ast.ImportFrom) and node.module:
        modules = [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
    for path in (ROOT.joinpath(*module.split(".")) for module in modules):
        files = (path / "__init__.py", path.with_suffix(".py"))
        yield from (file for file in files if PACKAGE in path.parents and file.exists())
