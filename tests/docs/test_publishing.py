# SPDX-License-Identifier: Apache-2.0
"""What is ours is said once; nothing leads there before the flag, and all after it."""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

import fedlearn_edu
from fedlearn_edu.course import badges
from fedlearn_edu.course.lessons import LESSONS
from tests.architecture.repository import ROOT, named, text_files
from tests.docs.addresses import strays
from tools import publishing
from tools.publishing import NotPublishableError, Project, project
from tools.release import PICTURE

OFF = Project(project().name, project().version)
ON = replace(
    OFF,
    repository="somebody/some-fork",
    site="https://somebody.github.io/some-fork",
    doi="10.5281/zenodo.1234",
)
# They write addresses, or look for them.
MAY_NAME = ("tools/publishing.", "fedlearn_edu/course/badges.py", "tests/")


@pytest.mark.parametrize(
    ("line", "leads"),
    [
        ("%pip install --quiet fedlearn-edu", True),
        ('python -m pip install "fedlearn_edu[lab]==0.1.0"', True),
        ('pip install -e ".[lab]" && .venv/bin/fedlearn-edu start', False),
        ('pip install "fedlearn_edu-0.1.0-py3-none-any.whl[lab]"', False),
        ('pip install "fedlearn-edu[lab] @ git+ADDRESS@TAG"', False),
        ('pip install --no-index -f wheels "fedlearn-edu[lab]"', False),
        ("[code](https://github.com/fedlearn/edu)", True),
        ("https://fedlearn-edu.example.org/lite", True),
        ("uses: actions/checkout@0123 # v7", False),
    ],
)
def test_only_what_leads_to_a_name_is_stray(line: str, leads: bool) -> None:
    assert bool(strays(line, OFF)) == leads


def test_nothing_leads_to_names_that_are_not_ours() -> None:
    """Neither in lessons, nor in the wheel, in pages, in workflows, for containers."""
    files = {*map(named, text_files())}
    assert sum("notebooks/release" in name for name in files) == len(LESSONS) + 2
    assert _strays_in(ROOT, files, project()) == {}


def test_all_places_say_what_the_project_says() -> None:
    for file, name, lines in publishing.blocks(project()):
        text = (ROOT / file).read_text(encoding="utf-8")
        assert publishing.renewed(text, name, lines) == text, "run `make release`"
    ours = (project().name, project().version)
    assert (badges.PACKAGE, fedlearn_edu.__version__) == ours
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    page = settings["project"]["readme"]["text"]  # in an index, with no file beside it
    assert re.findall(r"\]\((?!https://)", page) == []


def test_block_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match="0 blocks named links"):
        publishing.renewed("a page", "links", "")


@pytest.mark.parametrize("key", ["repository", "site", "doi"])
def test_flag_without_an_address_is_refused(key: str, tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    _set(tmp_path, ON)
    assert project(tmp_path) == ON
    _set(tmp_path, replace(ON, **{key: "somewhere"}))
    with pytest.raises(NotPublishableError, match=f"{key} is not an address"):
        project(tmp_path)


@pytest.mark.slow
@pytest.mark.thorough
def test_flag_writes_lessons_and_pages_and_back(tmp_path: Path) -> None:
    """In a copy, all steps of `make release`."""
    texts = (n for n in map(named, text_files()) if not n.startswith("tests/"))
    for name in (*texts, named(PICTURE)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    before = _files(tmp_path)
    _release(tmp_path, ON)
    on = _files(tmp_path)
    assert _strays_in(tmp_path, on, ON) == {}
    for lesson in LESSONS:
        file = f"{lesson.name}/{lesson.name}.ipynb"
        link = f"blob/v{ON.version}/notebooks/release/{file}"
        assert link in on[f"notebooks/release/{file}"]
    assert f"[cite it](https://doi.org/{ON.doi})" in on["README.md"]
    assert f'- by name: `pip install "{ON.name}[lab]"`' in on["docs/install.md"]
    assert f'url: "{ON.site}/"\ndoi: "{ON.doi}"\n' in on["CITATION.cff"]
    assert tomllib.loads(on["pyproject.toml"])["project"]["urls"]
    _release(tmp_path, OFF)
    assert _files(tmp_path) == before


def test_flag_writes_pages_and_back(tmp_path: Path) -> None:
    """In a copy, the first step of `make release`."""
    for name in {file for file, _, _ in publishing.blocks(ON)}:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    before = _files(tmp_path)
    _set(tmp_path, ON)
    publishing.write(tmp_path)
    on = _files(tmp_path)
    assert _strays_in(tmp_path, on, ON) == {}
    same = {name for name, text in on.items() if text == before[name]}
    assert same == {"fedlearn_edu/__init__.py"}  # the version is what it was
    _set(tmp_path, OFF)
    publishing.write(tmp_path)
    assert _files(tmp_path) == before


def _strays_in(root: Path, names: Iterable[str], ours: Project) -> dict[str, list[str]]:
    files = {n: root / n for n in names if not n.startswith(MAY_NAME)}
    found = {n: strays(file.read_text("utf-8"), ours) for n, file in files.items()}
    return {name: each for name, each in found.items() if each}


def _release(root: Path, ours: Project) -> None:
    _set(root, ours)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"^release:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    for module in re.findall(r"python -m (\S+)", recipe):
        command = [sys.executable, "-B", "-m", module]
        subprocess.run(command, cwd=root, check=True, capture_output=True)


def _files(root: Path) -> dict[str, str]:
    """What is in every file, to the byte."""
    files = [f for f in root.rglob("*") if f.is_file() and f.name != PICTURE.name]
    return {f.relative_to(root).as_posix(): f.read_bytes().decode() for f in files}


def _set(root: Path, ours: Project) -> None:
    """Writes values where other ones were, and leaves comments after them."""
    file, begin = root / "pyproject.toml", "[tool.fedlearn-edu.publishing]"
    head, table, rest = file.read_text(encoding="utf-8").partition(begin)
    values = {key: f'"{getattr(ours, key)}"' for key in ("repository", "site", "doi")}
    for key, value in {"published": str(ours.published).lower(), **values}.items():
        was = re.compile(rf"^({key} = )[^\s#]*", re.MULTILINE)
        rest, found = was.subn(rf"\g<1>{value}", rest, count=1)
        assert found == 1
    file.write_text(head + table + rest, encoding="utf-8")
