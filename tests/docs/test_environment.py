# SPDX-License-Identifier: Apache-2.0
"""`environment.yml`, which Binder reads, agrees with what the package asks for."""

import re
import tomllib

from tests.architecture.repository import ROOT
from tests.docs.pages import read

LINE = re.compile(r"^ *- ([\w-]+)=+([\d.]+)", re.MULTILINE)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.strip(".").split(".")]


def test_pins_are_what_the_package_asks_for() -> None:
    project = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]
    asked = [*project["dependencies"], *project["optional-dependencies"]["lab"]]
    least = dict(line.split(">=") for line in asked)
    pinned = dict(LINE.findall(read(ROOT / "environment.yml")))
    assert {"numpy", "tensorflow", "ipywidgets", "jupyterlab"} <= set(pinned)
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
