# SPDX-License-Identifier: Apache-2.0
"""What can be said of the Dockerfiles without Docker; nothing here builds them."""

import re
from pathlib import Path

import pytest

from tests.architecture.repository import ROOT
from tests.docs.pages import read

FILES = sorted((ROOT / "docker").glob("*.Dockerfile"))
each_file = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


def instructions(file: Path) -> list[tuple[str, str]]:
    lines = [ln for ln in read(file).splitlines() if ln and not ln.startswith("#")]
    return [(name, rest) for name, _, rest in (ln.partition(" ") for ln in lines)]


def test_there_is_one_for_students_and_one_for_grading() -> None:
    assert [file.stem for file in FILES] == ["grading", "student"]


@each_file
def test_everything_is_pinned_and_nobody_is_root(file: Path) -> None:
    steps = instructions(file)
    assert steps[0] == ("FROM", "python:3.12-slim")
    installs = [rest for name, rest in steps if name == "RUN" and "pip " in rest]
    assert installs
    assert all(" -c constraints.txt " in each for each in installs)
    names = [name for name, _ in steps]
    assert ("USER", "1000") in steps
    assert any(name == "RUN" and "useradd --uid 1000 " in rest for name, rest in steps)
    # Whatever is fetched is fetched before, and never by who runs it.
    assert "RUN" not in names[names.index("USER") :]


@each_file
def test_what_is_copied_is_there_and_let_through(file: Path) -> None:
    """`.dockerignore` lets nothing through that is not named."""
    let_through = re.findall(r"^!(.+)$", read(ROOT / ".dockerignore"), re.MULTILINE)
    copied = [rest.split()[:-1] for name, rest in instructions(file) if name == "COPY"]
    sources = {source for each in copied for source in each}
    assert sources == set(let_through)
    assert all((ROOT / source).exists() for source in sources)


def test_extras_are_those_of_the_package() -> None:
    extras = {
        extra
        for file in FILES
        for found in re.findall(r'"\.\[(.+)\]"', read(file))
        for extra in found.split(",")
    }
    assert extras == {"lab", "grading"}
    settings = read(ROOT / "pyproject.toml")
    assert all(re.search(rf"^{extra} = \[", settings, re.M) for extra in extras)
