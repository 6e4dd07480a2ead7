# SPDX-License-Identifier: Apache-2.0
"""No file imports itself through others: not even in a function, or for types only."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.architecture.repository import PACKAGE, ROOT, package_files


def _name(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


SOURCES = {
    _name(file.relative_to(ROOT).as_posix()): file.read_text(encoding="utf-8")
    for file in package_files()
}
FACE = PACKAGE.name


@cache
def _imported(module: str, source: str) -> frozenset[str]:
    return frozenset(_imports(module, source)).intersection(SOURCES)


def _imports(module: str, source: str) -> Iterator[str]:
    tree = ast.parse(source)
    # What stands on the face of the package, it loads when it is asked for.
    nodes = tree.body if module == FACE else ast.walk(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (
                name if name in SOURCES else str(node.module) for name in inside
            )


def circle(sources: dict[str, str]) -> str:
    """One circle of imports, if there is any."""
    graph = {name: _imported(name, source) for name, source in sources.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return " <- ".join(error.args[1])
    return ""


def test_no_file_imports_itself_through_others() -> None:
    found = circle(SOURCES)
    assert not found


@pytest.mark.parametrize(
    "added",
    [
        "from fedlearn_edu.language.averages import federated_mean",
        "def f():\n    from fedlearn_edu.language import averages",
        "if TYPE_CHECKING:\n    import fedlearn_edu.language.averages",
    ],
)
def test_a_circle_is_found_wherever_it_is_closed(added: str) -> None:
    low = "fedlearn_edu.language.value"
    assert low in circle({**SOURCES, low: f"{SOURCES[low]}\n{added}\n"})
