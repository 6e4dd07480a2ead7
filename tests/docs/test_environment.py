# SPDX-License-Identifier: Apache-2.0
"""`environment.yml`, which Binder reads, agrees with what the package asks for.

And `constraints.txt` has a version for all that comes along with it.
"""

import re
import tomllib
from importlib import metadata

from packaging.requirements import Requirement

from tests.architecture.repository import ROOT
from tests.docs.pages import read

LINE = re.compile(r"^ *- ([\w-]+)=+([\d.]+)", re.MULTILINE)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.strip(".").split(".")]


def test_pins_are_what_the_package_asks_for() -> None:
    project = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *extras["lab"], *extras["remote"]]
    least = dict(line.split(">=") for line in asked)
    pinned = dict(LINE.findall(read(ROOT / "environment.yml")))
    assert {"numpy", "tensorflow", "jupyterlab", "distributed"} <= set(pinned)
    for name, version in pinned.items():
        if name in least:
            assert _numbers(version) >= _numbers(least[name]), name


def test_python_is_one_that_the_package_knows() -> None:
    project = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]
    python = dict(LINE.findall(read(ROOT / "environment.yml")))["python"]
    assert f"Programming Language :: Python :: {python}" in project["classifiers"]


def test_package_itself_comes_from_the_clone() -> None:
    """So the lessons that Binder opens are those of the same commit."""
    assert re.search(r"^ +- -e \.", read(ROOT / "environment.yml"), re.MULTILINE)


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
    left, seen = [*project["dependencies"], *extras["test"], *extras["remote"]], set()
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
