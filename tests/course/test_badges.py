# SPDX-License-Identifier: Apache-2.0
"""Badges come from one place, and the install cell installs one package."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fedlearn_edu.course import badges
from tests.architecture.repository import ROOT

LESSONS = sorted((ROOT / "notebooks" / "source").glob("*/*.ipynb"))


def test_badges_lead_to_the_released_lesson() -> None:
    found = re.findall(r"\[([^]]+)\]\(([^)]+)\)", badges.badges("04_intrinsics"))
    assert [words for words, _ in found] == [
        "Open this lesson in Colab",
        "open it on Binder",
    ]
    for _, target in found:
        assert f"/{badges.REPOSITORY}/" in target
        path = "notebooks/release/04_intrinsics/04_intrinsics.ipynb"
        assert target.endswith(path)


def test_fork_changes_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(badges, "REPOSITORY", "somebody/else")
    assert badges.badges("01_hello").count("/somebody/else/") == 2


@pytest.mark.parametrize("path", LESSONS, ids=[path.stem for path in LESSONS])
def test_badges_and_install_cell_of_a_lesson_are_those_of_here(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells]
    linking = [text for text in sources if "mybinder.org" in text or "colab." in text]
    assert all(badges.badges(path.stem) in text for text in linking)
    assert len(linking) <= 1
    assert [text for text in sources if "%pip" in text] in ([], [badges.INSTALL])


def run_install_cell() -> list[tuple[str, ...]]:
    """The magic commands it uses."""
    from IPython.core.inputtransformer2 import TransformerManager

    asked: list[tuple[str, ...]] = []
    shell = SimpleNamespace(run_line_magic=lambda *command: asked.append(command))
    manager: Any = TransformerManager
    source = manager().transform_cell(badges.INSTALL)
    exec(compile(source, "cell", "exec"), {"get_ipython": lambda: shell})
    return asked


def test_install_cell_installs_nothing_where_the_package_is() -> None:
    assert run_install_cell() == []


def test_install_cell_installs_this_package_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert run_install_cell() == [("pip", "install --quiet fedlearn-edu")]


def test_install_cell_passes_the_linter(tmp_path: Path) -> None:
    cell: dict[str, Any] = {
        "cell_type": "code",
        "id": "setup",
        "metadata": {},
        "outputs": [],
    }
    cell |= {"execution_count": None, "source": badges.INSTALL}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    file = tmp_path / "setup.ipynb"
    file.write_text(json.dumps(notebook))
    config = ROOT / "pyproject.toml"
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--config", config, str(file)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout
