# SPDX-License-Identifier: Apache-2.0
"""No setting names a path, a module or a function that does not exist."""

import importlib
import tomllib
from fnmatch import fnmatch
from typing import Any

import pytest

from tests.architecture.repository import ROOT, named, text_files


def _settings() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def _named_paths() -> list[str]:
    settings = _settings()
    project, tool = settings["project"], settings["tool"]
    pytest_ini = tool["pytest"]["ini_options"]
    return [
        *project["license-files"],
        *tool["hatch"]["build"]["targets"]["wheel"]["only-include"],
        *pytest_ini["testpaths"],
        *pytest_ini["pythonpath"],
        *tool["mypy"]["files"],
        *tool["ruff"]["lint"]["per-file-ignores"],
    ]


@pytest.mark.parametrize("path", _named_paths())
def test_configured_path_exists(path: str) -> None:
    matching = [file for file in text_files() if fnmatch(named(file), path)]
    assert matching or (ROOT / path).exists()


def test_planned_rooms_are_declared_once_built() -> None:
    """Brackets are for rooms that are not there yet."""
    for contract in _settings()["tool"]["importlinter"]["contracts"]:
        for floor in contract.get("layers", []):
            planned = [r.strip() for r in floor.split("|") if r.strip().startswith("(")]
            built = [
                r for r in planned if (ROOT / "fedlearn_edu" / r.strip("()")).is_dir()
            ]
            assert not built, f"take the brackets off {built} in pyproject.toml"


def test_command_line_entry_point_exists() -> None:
    for target in _settings()["project"]["scripts"].values():
        module, _, function = target.partition(":")
        assert callable(getattr(importlib.import_module(module), function))
