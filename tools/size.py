# SPDX-License-Identifier: Apache-2.0
"""`make size`: how much there is to read, per layer and along the way of a value.

A line counts as *executable* if it holds code that is neither an import nor a
docstring. Lines that build an error (a `raise`, a call of an error class, everything in
a `messages` module) are counted apart: one reads them when one of them is met.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "fedlearn_edu"

# Layers 0 to 8, from the ground: the machine that runs a federated computation.
# (`former_names` is a table that nobody reads from top to bottom.)
MACHINE = (
    "errors",
    "structure",
    "types",
    "ir",
    "language",
    "compiler",
    "executors",
    "runtimes",
    "contexts",
    "framework",
)
# The rest of the package that has a bound of its own.
ABOVE = (
    *("dataflow", "simulation", "learning", "remote", "attacks", "backends"),
    *("testing", "viz", "course", "demo"),
)
ORACLE = PACKAGE / "contexts" / "reference.py"
_TENSORFLOW = PACKAGE / "runtimes" / "tensorflow"
_LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}


@dataclass(frozen=True)
class Size:
    """Lines of some files: all, executable ones, and those that build an error."""

    files: int = 0
    lines: int = 0
    executable: int = 0
    errors: int = 0

    def __add__(self, other: "Size") -> "Size":
        return Size(
            self.files + other.files,
            self.lines + other.lines,
            self.executable + other.executable,
            self.errors + other.errors,
        )


@dataclass(frozen=True)
class Function:
    """One function and the lines of its body, without its docstring."""

    file: Path
    line: int
    name: str
    body_lines: int


def size_of(files: Iterable[Path]) -> Size:
    """The sum over `files`."""
    return sum(map(_size_of_file, files), Size())


def files_of(layer: str) -> list[Path]:
    """The Python files of a layer: a package, or one module."""
    module = PACKAGE / f"{layer}.py"
    return [module] if module.exists() else sorted((PACKAGE / layer).rglob("*.py"))


def machine_files() -> list[Path]:
    """The Python files of layers 0 to 8."""
    return [file for layer in MACHINE for file in files_of(layer)]


def files_of_tests() -> list[Path]:
    """Everything in Python below `tests`."""
    return sorted((ROOT / "tests").rglob("*.py"))


def stations() -> list[Path]:
    """The files of the way of a value, from the table in `docs/architecture.md`."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    _, section = page.split("## The way of a value", 1)
    table, *_ = section.split("\n## ", 1)
    names = re.findall(r"\]\(\.\./fedlearn_edu/(.+?)\)", table)
    return [PACKAGE / name for name in dict.fromkeys(names)]


def import_closure(files: Iterable[Path]) -> set[Path]:
    """What `files` import, directly or not, at the top of a module.

    Without TensorFlow, and without what is looked up and not read: messages, former
    names.
    """
    found: set[Path] = set()
    waiting = list(files)
    while waiting:
        file = waiting.pop()
        if file not in found and not _is_apart(file):
            found.add(file)
            waiting.extend(_imported(file))
    return found


def _is_apart(file: Path) -> bool:
    is_table = "former_names" in file.parts or _is_messages(file)
    return is_table or file.is_relative_to(_TENSORFLOW)


def _is_messages(file: Path) -> bool:
    return file.stem.endswith("messages") or file.parent.name == "messages"


def functions(files: Iterable[Path]) -> Iterator[Function]:
    """Every function of `files`."""
    for file in files:
        for node in ast.walk(_tree(file)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                last = (body[-1].end_lineno or 0) if body else 0
                lines = last - body[0].lineno + 1 if body else 0
                yield Function(file, node.lineno, node.name, lines)


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def _size_of_file(file: Path) -> Size:
    source = file.read_text(encoding="utf-8")
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    written = {
        line
        for token in tokens
        if token.type not in _LAYOUT
        for line in range(token.start[0], token.end[0] + 1)
    }
    code = written - _lines_of(_read_not_run(_tree(file)))
    of_errors = code & _lines_of(_error_nodes(_tree(file)))
    if _is_messages(file):
        of_errors = code
    return Size(1, len(source.splitlines()), len(code), len(of_errors))


def _lines_of(nodes: Iterable[ast.stmt | ast.expr]) -> set[int]:
    return {
        line
        for node in nodes
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }


def _read_not_run(tree: ast.Module) -> Iterator[ast.stmt]:
    """Imports, docstrings, and the strings below attributes."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Import()
                | ast.ImportFrom()
                | ast.Expr(value=ast.Constant(value=str()))
            ):
                yield node


def _error_nodes(tree: ast.Module) -> Iterator[ast.stmt | ast.expr]:
    for node in ast.walk(tree):
        match node:
            case ast.Raise(exc=ast.Call()):
                yield node
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                if name.endswith("Error"):
                    yield node


def _imported(file: Path) -> Iterator[Path]:
    for node in _tree(file).body:
        match node:
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from _modules(module, [alias.name for alias in names])
            case ast.Import(names=names):
                for alias in names:
                    yield from _modules(alias.name, [])


def _modules(module: str, names: list[str]) -> Iterator[Path]:
    """The file of `module`, and of those `names` that are modules themselves."""
    first, *rest = module.split(".")
    if first == PACKAGE.name and rest:
        for path in [
            PACKAGE.joinpath(*rest),
            *(PACKAGE.joinpath(*rest, n) for n in names),
        ]:
            for file in (path / "__init__.py", path.with_suffix(".py")):
                if file.exists():
                    yield file


def main() -> None:
    """Print the table."""
    print(f"{'':34}{'files':>6}{'lines':>8}{'executable':>12}{'of which errors':>17}")
    for name, files in _rows():
        size = size_of(files)
        print(
            f"{name:34}{size.files:6}{size.lines:8,}{size.executable:12,}{size.errors:17,}"
        )
    package = sorted(PACKAGE.rglob("*.py"))
    longest_file = max(package, key=lambda file: size_of([file]).lines)
    longest = max(functions(package), key=lambda function: function.body_lines)
    print(
        f"\nlongest file: {_named(longest_file)}, {size_of([longest_file]).lines} lines"
    )
    print(
        f"longest function: {longest.name}, {_named(longest.file)}:{longest.line},"
        f" {longest.body_lines} lines"
    )


def _rows() -> Iterator[tuple[str, Iterable[Path]]]:
    for layer in MACHINE:
        yield layer, files_of(layer)
    yield "layers 0 to 8 together", machine_files()
    yield "the way of a value", stations()
    yield "  and what it imports", import_closure(stations())
    yield "the oracle and what it imports", import_closure([ORACLE])
    for layer in ABOVE:
        yield layer, files_of(layer)
    yield "the package", PACKAGE.rglob("*.py")
    yield "tests", files_of_tests()


def _named(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


if __name__ == "__main__":
    main()
