# SPDX-License-Identifier: Apache-2.0
"""Text files say their licence, and name no registry and nobody's machine."""

import re

import pytest

from tests.architecture.repository import ROOT, named, text_files

HEADER = "# SPDX-License-Identifier: Apache-2.0"
SOURCES = {".py", ".sh", ".toml", ".yml", ".yaml", ".cff"}
NAMES = {"Makefile", "run", "constraints.txt"}

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
        for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1)
        if (match := pattern.search(line))
    ]
    assert not hits, "\n".join(hits)


def test_sources_name_the_license_in_the_first_two_lines() -> None:
    sources = [
        file for file in text_files() if file.suffix in SOURCES or file.name in NAMES
    ]
    assert sources
    missing = [
        named(file)
        for file in sources
        if HEADER not in file.read_text(encoding="utf-8").splitlines()[:2]
    ]
    assert not missing, f"put {HEADER!r} on top of: {missing}"


def test_license_text_is_complete() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text
