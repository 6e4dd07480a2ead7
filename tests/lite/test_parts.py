# SPDX-License-Identifier: Apache-2.0
"""The parts of `make lite` that need no download, each on a few bytes of its own."""

from hashlib import sha256
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tools.lite import contents
from tools.lite.pyodide import HERE, SETTING, LiteError, Release, collect, pinned
from tools.release import ROOT

RELEASE = Release("9.9", {"pyodide.mjs": sha256(b"core").hexdigest()}, {})


def test_only_what_was_published_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SETTING, str(tmp_path))
    file = tmp_path / "pyodide.mjs"
    with pytest.raises(LiteError, match="no file"):
        collect(RELEASE, tmp_path)
    file.write_bytes(b"another")
    with pytest.raises(LiteError, match="not the file that was published"):
        collect(RELEASE, tmp_path)
    file.write_bytes(b"core")
    assert collect(RELEASE, tmp_path) == [file]


def test_note_stands_for_what_needs_tensorflow() -> None:
    new: Any = nbformat.v4
    install = "No `fedlearn_edu`? See *Install* in the README."
    cells = [new.new_markdown_cell(f"# A title\n\nwords\n\n{install}")]
    cells += [new.new_code_cell("1", metadata={"tags": ["tensorflow"]})]
    title, graph = contents.for_a_browser(new.new_notebook(cells=cells)).cells
    assert title.source == "# A title\n\nwords"
    assert (graph.source, graph.cell_type) == (contents.NOTE, "markdown")


def test_start_page_leads_to_what_is_here() -> None:
    told = contents.start_page()
    assert "| 01 [What can a server learn without seeing the data?](01_hello/" in told
    assert "| 13 Where do the clients run? (not here: its clients are other" in told


def test_pins_agree_and_have_a_hash() -> None:
    """But for wcwidth, which is compiled in later versions."""
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    wheels = (HERE / "wheels.txt").read_text(encoding="utf-8").splitlines()
    named = [line.split()[0] for line in wheels if not line.startswith("#")]
    assert [each for each in named if each not in pins] == ["wcwidth==0.2.14"]
    assert len(pinned().hashes) == 5 + len(pinned().lock["packages"])
