# SPDX-License-Identifier: Apache-2.0
"""The tests in this folder import what an outsider may import, and nothing else."""

import ast
from pathlib import Path

import pytest

FACES = {"fedlearn_edu", "fedlearn_edu.framework", "fedlearn_edu.testing"}
HERE = Path(__file__).parent
FILES = sorted(file for file in HERE.glob("*.py") if file.name != "conftest.py")


def _imported(file: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
    return {name for name in names if name.split(".")[0] == "fedlearn_edu"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_extension_uses_public_faces_only(file: Path) -> None:
    assert _imported(file) <= FACES
