# SPDX-License-Identifier: Apache-2.0
"""Every intrinsic is defined in exactly one file, where its documentation is too."""

import ast
from pathlib import Path

import pytest

import fedlearn_edu  # noqa: F401 (fills the registry)
from fedlearn_edu.framework import all_intrinsics
from tests.architecture.repository import PACKAGE, named, package_files

URIS = [definition.uri for definition in all_intrinsics()]


def _defined_names(file: Path) -> set[str]:
    """Module-level functions, and names given to `define`."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    defined = {
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "define"
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }
    return functions | {name for name in defined if isinstance(name, str)}


# The demo is a learner's program: it names its own functions as it likes.
HOMES = {
    file: _defined_names(file)
    for file in package_files()
    if not file.is_relative_to(PACKAGE / "demo")
}


@pytest.mark.parametrize("uri", URIS)
def test_intrinsic_has_one_home(uri: str) -> None:
    homes = [named(file) for file, names in HOMES.items() if uri in names]
    assert len(homes) == 1, f"{uri} is defined in {homes or 'no file'}"
    assert homes[0].startswith(named(PACKAGE / "language"))


@pytest.mark.parametrize("uri", [d.uri for d in all_intrinsics() if not d.is_primitive])
def test_derived_intrinsic_is_documented_where_it_is_defined(uri: str) -> None:
    [file] = [file for file, names in HOMES.items() if uri in names]
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name == uri:
            assert ast.get_docstring(node), f"{uri} in {named(file)} needs a docstring"
            return
    pytest.fail(f"{named(file)} defines {uri} without a function of that name")
