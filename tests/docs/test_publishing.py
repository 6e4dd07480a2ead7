# SPDX-License-Identifier: Apache-2.0
"""What is ours is said once; nothing leads there before the flag, and all after it."""

import re
import shutil
import subprocess
import sys
import tomllib
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

OFF = Project(project().name, project().version)
ON = replace(
    OFF,
    repository="somebody/some-fork",
    site="https://somebody.github.io/some-fork",
    doi="10.5281/zenodo.1234",
)
# They write addresses, or look for them.
MAY_NAME = ("tools/publishing.py", "fedlearn_edu/course/badges.py", "tests/")


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
    files = {named(f): f for f in text_files() if not named(f).startswith(MAY_NAME)}
    expected = {"README.md", "CITATION.cff", "environment.yml", "docs/install.md"}
    expected |= {".devcontainer/devcontainer.json", ".github/workflows/release.yml"}
    assert expected <= set(files)
    assert sum("notebooks/release" in name for name in files) == len(LESSONS) + 1
    assert _strays_in(ROOT, list(files), project()) == {}


def _strays_in(root: Path, names: list[str], ours: Project) -> dict[str, list[str]]:
    texts = {name: (root / name).read_text(encoding="utf-8") for name in names}
    return {
        name: found for name, text in texts.items() if (found := strays(text, ours))
    }


def test_name_and_version_are_those_of_the_project() -> None:
    ours = project()
    assert (badges.PACKAGE, fedlearn_edu.__version__) == (ours.name, ours.version)


def test_all_places_say_what_the_project_says() -> None:
    for file, name, lines in publishing.blocks(project()):
        text = (ROOT / file).read_text(encoding="utf-8")
        assert publishing.renewed(text, name, lines) == text, "run `make release`"


def test_page_of_the_index_leads_to_no_file_beside_it() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    text = settings["project"]["readme"]["text"]
    assert re.findall(r"\]\((?!https://)", text) == []


def test_block_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match="0 blocks named links"):
        publishing.renewed("a page", "links", "")


@pytest.mark.parametrize("key", ["repository", "site", "doi"])
def test_flag_without_an_address_is_refused(key: str, tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    _set(tmp_path, ON)
    _put(tmp_path, key, '"somewhere"')
    with pytest.raises(NotPublishableError, match=f"{key} is not an address"):
        project(tmp_path)
    _put(tmp_path, "published", "false")
    assert not project(tmp_path).published


def test_project_is_read_as_it_was_written(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    _set(tmp_path, ON)
    assert project(tmp_path) == ON


def test_flag_writes_all_places_and_back(tmp_path: Path) -> None:
    """In a copy, the first step of `make release`."""
    places = {file for file, _, _ in publishing.blocks(ON)}
    for name in places:
        _copy(name, tmp_path)
    before = _files(tmp_path)
    _set(tmp_path, ON)
    publishing.write(tmp_path)
    on = _files(tmp_path)
    same = {name for name in places if before[name] == on[name]}
    assert same == {"fedlearn_edu/__init__.py"}  # the version is what it was
    read = [name for name in on if not name.startswith(MAY_NAME)]
    assert _strays_in(tmp_path, read, ON) == {}
    assert '- by name: `pip install "fedlearn-edu[lab]"`' in on["docs/install.md"]
    assert f"]({ON.site}/lite/), nothing to install" in on["README.md"]
    assert f"[cite it]({ON.citation})" in on["README.md"]
    ours = f'repository-code: "{ON.code}"\nurl: "{ON.site}/"\ndoi: "{ON.doi}"\n'
    assert ours in on["CITATION.cff"]
    urls = tomllib.loads(on["pyproject.toml"])["project"]["urls"]
    assert (urls["Documentation"], urls["Repository"]) == (f"{ON.site}/", ON.code)
    _set(tmp_path, project())
    publishing.write(tmp_path)
    assert _files(tmp_path) == before


@pytest.mark.slow
@pytest.mark.thorough
def test_release_writes_lessons_with_links_and_back(tmp_path: Path) -> None:
    """In a copy, all steps of `make release`."""
    for name in map(named, text_files()):
        if not name.startswith("tests/"):
            _copy(name, tmp_path)
    before = _files(tmp_path)
    _release(tmp_path, ON)
    on = _files(tmp_path)
    for lesson in LESSONS:
        file = f"{lesson.name}/{lesson.name}.ipynb"
        link = f"blob/v{ON.version}/notebooks/release/{file}"
        assert link in on["README.md"]
        assert link in on[f"notebooks/release/{file}"]
    assert f"[in the browser]({ON.site}/lite/lab/index.html?path=01_" in on["README.md"]
    read = [name for name in on if not name.startswith(MAY_NAME)]
    assert _strays_in(tmp_path, read, ON) == {}
    _release(tmp_path, project())
    assert _files(tmp_path) == before


def _copy(name: str, root: Path) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / name, root / name)


def _release(root: Path, ours: Project) -> None:
    _set(root, ours)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"^release:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    modules = re.findall(r"python -m (\S+)", recipe)
    assert modules[0] == "tools.publishing"
    for module in modules:
        command = [sys.executable, "-B", "-m", module]
        subprocess.run(command, cwd=root, check=True, capture_output=True)


def _files(root: Path) -> dict[str, str]:
    """What is in every file, to the byte."""
    files = [file for file in root.rglob("*") if file.is_file()]
    return {
        file.relative_to(root).as_posix(): file.read_bytes().decode("utf-8")
        for file in files
    }


def _set(root: Path, ours: Project) -> None:
    _put(root, "published", str(ours.published).lower())
    for key in ("repository", "site", "doi"):
        _put(root, key, f'"{getattr(ours, key)}"')


def _put(root: Path, key: str, value: str) -> None:
    """Writes a value where another one was, and a comment after it where it was."""
    file, begin = root / "pyproject.toml", "[tool.fedlearn-edu.publishing]"
    head, table, rest = file.read_text(encoding="utf-8").partition(begin)
    was = re.compile(rf"^{key} = ([^\s#]*)(.*)$", re.MULTILINE)
    rest, found = was.subn(lambda line: f"{key} = {value}{line[2]}", rest, count=1)
    assert found == 1
    file.write_text(head + table + rest, encoding="utf-8")
