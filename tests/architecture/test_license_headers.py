# SPDX-License-Identifier: Apache-2.0
"""Every source file says its licence in one line, and the whole text is there."""

from tests.architecture.repository import ROOT, named, text_files

HEADER = "# SPDX-License-Identifier: Apache-2.0"
SOURCES = {".py", ".sh", ".toml", ".yml", ".yaml", ".cff"}
NAMES = {"Makefile", "run", "constraints.txt"}


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
