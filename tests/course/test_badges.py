# SPDX-License-Identifier: Apache-2.0
"""Links, and the cell that installs the package: only with names of ours."""

import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fedlearn_edu.course import badges
from tests.grading.toy import LESSON, write_lesson
from tools.cells import read
from tools.release import generate

OURS = badges.Published("somebody/some-fork", "4.5.6", "https://ours")


def released(folder: Path) -> list[Any]:
    write_lesson(folder / "source")
    generate(folder / "source", folder / "release")
    return list(read(folder / "release" / LESSON / f"{LESSON}.ipynb").cells)


@pytest.mark.slow
def test_names_of_ours_bring_links_and_the_version_that_they_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = released(tmp_path / "off")
    monkeypatch.setattr(badges, "PUBLISHED", OURS)
    first, links, install, *rest = released(tmp_path / "on")
    assert [first, *rest] == without
    assert links.source == badges.badges(LESSON, lesson(), OURS)
    assert install.source == badges.install_cell(OURS)


def test_links_lead_to_the_lesson_of_the_version_that_is_installed() -> None:
    links = badges.badges("01_hello", lesson(), OURS)
    path = "01_hello/01_hello.ipynb"
    assert dict(re.findall(r"\[([^]]+)\]\(([^)]+)\)", links)) == {
        "in the browser": f"https://ours/lite/lab/index.html?path={path}",
        "in Colab": "https://colab.research.google.com/github/somebody/some-fork/blob/"
        f"v4.5.6/notebooks/release/{path}",
        "on Binder": "https://mybinder.org/v2/gh/somebody/some-fork/v4.5.6"
        f"?urlpath=lab/tree/notebooks/release/{path}",
    }


def test_lesson_that_needs_an_installation_is_not_offered_in_the_browser() -> None:
    links = badges.badges("13_remote", lesson(browser=False), OURS)
    assert links.startswith("Open it [in Colab](")


def lesson(**marks: bool) -> Any:
    return SimpleNamespace(metadata={"fedlearn_edu": marks})


def run_install_cell() -> list[tuple[str, ...]]:
    """The magic commands it uses."""
    from IPython.core.inputtransformer2 import TransformerManager

    asked: list[tuple[str, ...]] = []
    shell = SimpleNamespace(run_line_magic=lambda *command: asked.append(command))
    manager: Any = TransformerManager
    source = manager().transform_cell(badges.install_cell(OURS))
    exec(compile(source, "cell", "exec"), {"get_ipython": lambda: shell})
    return asked


def test_install_cell_installs_this_version_where_the_package_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert run_install_cell() == []
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert run_install_cell() == [("pip", "install --quiet fedlearn-edu==4.5.6")]
