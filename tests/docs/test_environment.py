# SPDX-License-Identifier: Apache-2.0
"""`environment.yml`, which Binder reads, and the container install what was tested.

And `constraints.txt` has a version for all that comes along with it.
"""

import json
import re
import tomllib
from importlib import metadata

from packaging.requirements import Requirement

from tests.architecture.repository import ROOT
from tests.docs.pages import read

ENTRY = re.compile(r"^ *- ([^#\n]*[^#\s])", re.MULTILINE)


def test_python_is_one_that_the_package_knows() -> None:
    project = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]
    (python,) = re.findall(r"- python=([\d.]+)", read(ROOT / "environment.yml"))
    assert f"Programming Language :: Python :: {python}" in project["classifiers"]


def test_package_comes_from_the_clone_and_all_else_as_it_was_tested() -> None:
    """So the lessons that Binder opens are those of the same commit."""
    entries = ENTRY.findall(read(ROOT / "environment.yml"))
    assert entries[-3:] == ["pip:", "-c constraints.txt", "-e .[lab]"]


def test_container_installs_the_same_as_conda() -> None:
    settings = json.loads(read(ROOT / ".devcontainer" / "devcontainer.json"))
    image = settings["image"].replace(":", "=")
    assert image in ENTRY.findall(read(ROOT / "environment.yml"))
    command = settings["postCreateCommand"]
    assert command == "python -m pip install -c constraints.txt -e '.[lab]'"


def _name(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    assert found
    return re.sub(r"[-_.]+", "-", found.group()).lower()


def test_everything_that_is_installed_for_tests_is_pinned() -> None:
    project = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]
    lines = read(ROOT / "constraints.txt").splitlines()
    pinned = [_name(line) for line in lines if not line.startswith("#")]
    assert pinned == sorted(pinned)
    extras = project["optional-dependencies"]
    left = [*project["dependencies"], *extras["test"], *extras["remote"]]
    left, seen = [*left, *extras["dist"]], set()
    while left:
        name = _name(left.pop())
        if name in seen:
            continue
        seen.add(name)
        try:
            needed = metadata.requires(name) or []
        except metadata.PackageNotFoundError:  # for other systems, or other versions
            continue
        for each in map(Requirement, needed):
            if each.marker is None or each.marker.evaluate({"extra": ""}):
                left.append(each.name)
        assert name in pinned, name
