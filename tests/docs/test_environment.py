# SPDX-License-Identifier: Apache-2.0
"""Binder and the container install what was tested, and everything is pinned."""

import json
import re
import tomllib
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.repository import ROOT
from tests.docs.pages import read

PROJECT = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]
ENTRIES = re.findall(r"^ *- ([^#\n]*[^#\s])", read(ROOT / "environment.yml"), re.M)


def test_package_comes_from_the_clone_and_all_else_as_it_was_tested() -> None:
    """So the lessons that Binder opens are those of the same commit."""
    assert ENTRIES[-3:] == ["pip:", "-c constraints.txt", "-e .[lab]"]
    (python,) = [each.partition("=")[2] for each in ENTRIES if "python=" in each]
    assert f"Programming Language :: Python :: {python}" in PROJECT["classifiers"]
    container = json.loads(read(ROOT / ".devcontainer" / "devcontainer.json"))
    assert container["image"] == f"python:{python}"
    install = "python -m pip install -c constraints.txt -e '.[lab]'"
    assert container["postCreateCommand"] == install


def test_everything_that_is_installed_for_tests_is_pinned() -> None:
    lines = read(ROOT / "constraints.txt").splitlines()
    names = [line.partition("==")[0] for line in lines if not line.startswith("#")]
    pinned = [canonicalize_name(name) for name in names]
    assert pinned == sorted(pinned)
    left, seen = [*PROJECT["dependencies"]], set[str]()
    for extra in ("test", "remote", "dist"):
        left += PROJECT["optional-dependencies"][extra]
    while left:
        each = Requirement(left.pop())
        name = canonicalize_name(each.name)
        applies = each.marker is None or each.marker.evaluate({"extra": ""})
        if not applies or name in seen:
            continue
        seen.add(name)
        try:
            left += metadata.requires(name) or []
        except metadata.PackageNotFoundError:  # for other systems, or other versions
            continue
        assert name in pinned, name
