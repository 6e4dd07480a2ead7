# SPDX-License-Identifier: Apache-2.0
"""What can be said of the Dockerfile without Docker; nothing here builds it."""

import re
import tomllib

from tests.architecture.repository import ROOT
from tests.docs.pages import DOCS, read

DOCKERFILE = DOCS / "teaching" / "docker" / "Dockerfile"
STEPS = [
    (name, rest.split())
    for name, rest in re.findall(
        r"^([A-Z]+) (.*)", read(DOCKERFILE).replace("\\\n", " "), re.MULTILINE
    )
]


def test_what_is_installed_is_pinned_and_an_extra_of_the_package() -> None:
    project = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]
    installs = [words for _, words in STEPS if words[:2] == ["pip", "install"]]
    assert len(installs) == 2
    for words in installs:
        assert words[3:5] == ["-c", "constraints.txt"]
        extras = words[5].strip('".[]').split(",")
        assert set(extras) <= set(project["optional-dependencies"])


def test_both_images_run_without_rights_and_fetch_nothing() -> None:
    course, *images = read(DOCKERFILE).split("\nFROM course AS ")
    assert "FROM python:3.12-slim AS course" in course
    assert [image.split()[0] for image in images] == ["grading", "student"]
    for image in images:
        before, user, after = image.partition("\nUSER 1000\n")
        assert "useradd --uid 1000 " in before
        assert user
        assert "RUN" not in after


def test_what_is_copied_is_there_and_let_through() -> None:
    ignored = read(DOCKERFILE.with_name("Dockerfile.dockerignore"))
    let_through = re.findall(r"^!(.+)$", ignored, re.MULTILINE)
    sources = {each for name, words in STEPS if name == "COPY" for each in words[:-1]}
    assert sources == set(let_through)
    assert all((ROOT / source).exists() for source in sources)
