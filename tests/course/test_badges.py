# SPDX-License-Identifier: Apache-2.0
"""Badges come from one place, and the install cell installs one package."""

import contextlib
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import pytest

from fedlearn_edu.course import badges
from tests.architecture.repository import ROOT

LESSONS = sorted((ROOT / "notebooks" / "source").glob("*/*.ipynb"))


def test_badges_have_words_and_lead_to_the_released_lesson() -> None:
    line = badges.badges("04_intrinsics")
    found = re.findall(r"\[!\[([^]]+)\]\(([^)]+)\)\]\(([^)]+)\)", line)
    assert [words for words, _, _ in found] == [
        "Open this lesson on Binder",
        "Open this lesson in Colab",
    ]
    path = "notebooks/release/04_intrinsics/04_intrinsics.ipynb"
    for _, picture, target in found:
        assert picture.startswith("https://")
        assert badges.REPOSITORY in target
        assert unquote(target).endswith(path)


def test_fork_changes_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(badges, "REPOSITORY", "somebody/else")
    assert badges.badges("01_hello").count("/somebody/else/") == 2


@pytest.mark.parametrize("path", LESSONS, ids=[path.stem for path in LESSONS])
def test_badges_of_a_lesson_are_its_own(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    lines = "".join("".join(cell["source"]) + "\n" for cell in cells).splitlines()
    found = [line for line in lines if "mybinder.org" in line or "colab." in line]
    assert found in ([], [badges.badges(path.stem)])


def run_install_cell() -> list[tuple[str, ...]]:
    """The magic commands it uses."""
    from IPython.core.inputtransformer2 import TransformerManager

    asked: list[tuple[str, ...]] = []
    shell = SimpleNamespace(run_line_magic=lambda *command: asked.append(command))
    manager: Any = TransformerManager
    source = manager().transform_cell(badges.INSTALL)
    with contextlib.suppress(ModuleNotFoundError):
        exec(compile(source, "cell", "exec"), {"get_ipython": lambda: shell})
    return asked


def test_install_cell_installs_nothing_where_the_package_is() -> None:
    assert run_install_cell() == []


def test_install_cell_installs_this_package_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "fedlearn_edu", None)
    assert run_install_cell() == [("pip", "install --quiet fedlearn-edu")]


def test_install_cell_passes_the_linter(tmp_path: Path) -> None:
    cell: dict[str, Any] = {
        "cell_type": "code",
        "id": "setup",
        "metadata": {},
        "outputs": [],
    }
    cell |= {"execution_count": None, "source": badges.INSTALL.rstrip() + "\n\nfl"}
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
