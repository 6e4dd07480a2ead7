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
from fedlearn_edu.course.lessons import load_all
from tests.architecture.repository import ROOT, named, text_files
from tools import publishing
from tools.lesson_table import PAGE, README, lesson_table, short_table, with_table
from tools.publishing import Project, project

OFF = Project(project().name, project().version)
ON = replace(
    OFF,
    repository="somebody/some-fork",
    site="https://somebody.github.io/some-fork",
    doi="10.5281/zenodo.1234",
)
# They write addresses, or look for them.
MAY_NAME = ("tools/publishing.", "tests/")
# A wheel that one has, a clone, or an address that one types is no name in an index.
INSTALLS = re.compile(
    r"pip install (?!--no-index)[^\n`&;]*\bfedlearn[-_]edu\b(?![\w.-]*\.whl|\S* @ )"
)
PLACES = r"mybinder\.org|colab\.research|github\.(?:com|io)\b|https?://\S*fedlearn"
PART = r"[^\s()\[\]\"'<>`]"
# From where a word begins: in a picture of a notebook each letter would be tried.
ADDRESSES = re.compile(f"(?<!{PART}){PART}*(?:{PLACES}){PART}*", re.IGNORECASE)


def strays(text: str, ours: Project) -> list[str]:
    """What is in the text and leads to a place that is not ours, or not yet."""
    found = ADDRESSES.findall(text)
    if not ours.published:
        return INSTALLS.findall(text) + found
    own = f"/{ours.repository}"
    return [each for each in found if own not in each and ours.site not in each]


def strays_in(root: Path, names: Iterable[str], ours: Project) -> dict[str, list[str]]:
    files = {n: root / n for n in names if not n.startswith(MAY_NAME)}
    found = {n: strays(file.read_text("utf-8"), ours) for n, file in files.items()}
    return {name: each for name, each in found.items() if each}


def test_nothing_leads_to_names_that_are_not_ours() -> None:
    """Neither in lessons, nor in the wheel, in pages, in workflows, for containers."""
    files = {*map(named, text_files())}
    assert sum("notebooks/release" in name for name in files) == len(load_all()) + 2
    assert strays_in(ROOT, files, project()) == {}
    seen = "%pip install fedlearn-edu [code](https://github.com/fedlearn/edu)"
    assert len(strays(seen, OFF)) == 2


def test_all_places_say_what_the_project_says() -> None:
    for file, name, lines in publishing.blocks(project()):
        text = (ROOT / file).read_text(encoding="utf-8")
        assert publishing.renewed(text, name, lines) == text, "run `make release`"
    for page, table in ((PAGE, lesson_table()), (README, short_table())):
        text = page.read_text(encoding="utf-8")
        assert with_table(text, table) == text, "run `make release`"
    assert fedlearn_edu.__version__ == project().version
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    page = settings["project"]["readme"]["text"]  # in an index, with no file beside it
    assert re.findall(r"\]\((?!https://)", page) == []


@pytest.mark.slow
@pytest.mark.thorough
def test_flag_writes_pages_and_back(tmp_path: Path) -> None:
    """In a copy, all steps of `make release`."""
    texts = (n for n in map(named, text_files()) if not n.startswith("tests/"))
    for name in texts:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    before = _files(tmp_path)
    _release(tmp_path, ON)
    on = _files(tmp_path)
    assert strays_in(tmp_path, on, ON) == {}
    assert f"[cite it](https://doi.org/{ON.doi})" in on["README.md"]
    assert f'url: "{ON.site}/"\ndoi: "{ON.doi}"\n' in on["CITATION.cff"]
    assert tomllib.loads(on["pyproject.toml"])["project"]["urls"]
    _release(tmp_path, OFF)
    assert _files(tmp_path) == before


def _release(root: Path, ours: Project) -> None:
    file, begin = root / "pyproject.toml", "[tool.fedlearn-edu.publishing]"
    head, _, table = file.read_text(encoding="utf-8").partition(begin)
    values = {key: f'"{getattr(ours, key)}"' for key in ("repository", "site", "doi")}
    for key, value in {"published": str(ours.published).lower(), **values}.items():
        table = re.sub(rf"(?m)^({key} = )[^\s#]*", rf"\g<1>{value}", table)
    file.write_text(f"{head}{begin}{table}", encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"^release:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    for module in re.findall(r"python -m (\S+)", recipe):
        command = [sys.executable, "-B", "-m", module]
        subprocess.run(command, cwd=root, check=True, capture_output=True)


def _files(root: Path) -> dict[str, str]:
    """What is in every file, to the byte."""
    files = filter(Path.is_file, root.rglob("*"))
    return {f.relative_to(root).as_posix(): f.read_bytes().decode() for f in files}
