# SPDX-License-Identifier: Apache-2.0
"""Binder and the containers install what was tested, and everything is pinned."""

import json
import re
import tomllib
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.repository import ROOT
from tests.docs.pages import DOCS, read

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


def test_images_for_a_class_install_what_is_pinned_and_run_without_rights() -> None:
    """What can be said of the Dockerfile without Docker; nothing builds it here."""
    dockerfile = DOCS / "teaching" / "docker" / "Dockerfile"
    text = read(dockerfile).replace("\\\n", " ")
    _, *images = text.split("\nFROM course AS ")
    assert [len(image.split("\nUSER 1000\n")) for image in images] == [2, 2]
    installs = re.findall(r'pip install.* -c constraints.txt "?\.\[(.*)\]', text)
    assert len(installs) == text.count("pip install") == 2
    extras = {extra for each in installs for extra in each.split(",")}
    assert extras <= set(PROJECT["optional-dependencies"])
    ignored = read(dockerfile.with_name("Dockerfile.dockerignore"))
    lines = [line.split()[:-1] for line in re.findall(r"^COPY (.*)", text, re.M)]
    copied = {source for line in lines for source in line}
    assert copied == set(re.findall(r"^!(.+)$", ignored, re.M))
    assert all((ROOT / source).exists() for source in copied)


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
