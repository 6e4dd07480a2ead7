# SPDX-License-Identifier: Apache-2.0
"""No file ties the project to one package registry or to one person's machine."""

import re
from pathlib import Path

import pytest

from tests.architecture.repository import named, text_files

# Written in pieces, so that this file passes its own test.
REGISTRIES = [
    "py" + r"pi\.(?:org|io)",
    "python" + r"hosted\.org",
    "anaconda" + r"\.(?:org|com|cloud)",
    "npm" + r"js\.(?:org|com)",
    "docker" + r"\.io",
    "gh" + r"cr\.io",
    "index" + "-url",
    "find" + "-links",
]
MACHINE_PATHS = [
    r"(?<![\w.~-])/" + r"home/\w+",
    r"(?<![\w.~-])/" + r"Users/\w+",
    r"(?<![\w.~-])/" + r"root/",
    r"(?<![\w.~-])/" + r"work/",
    r"\b[A-Z]:" + r"\\Users",
]


@pytest.mark.parametrize(
    "patterns", [REGISTRIES, MACHINE_PATHS], ids=["hosts", "paths"]
)
def test_text_files_name_no_registry_and_no_machine(patterns: list[str]) -> None:
    pattern = re.compile("|".join(patterns))
    hits = [
        f"{named(file)}:{number}: {match.group()}"
        for file in text_files()
        for number, line in enumerate(_lines(file), start=1)
        if (match := pattern.search(line))
    ]
    assert not hits, "\n".join(hits)


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()
