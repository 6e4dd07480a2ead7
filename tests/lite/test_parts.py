# SPDX-License-Identifier: Apache-2.0
"""The parts of `make lite` that need no download, each on a few bytes of its own."""

import io
import json
import re
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tools.lite import contents, licences, pyodide, site
from tools.lite.downloads import sha256, verified
from tools.lite.errors import LiteError
from tools.lite.pyodide import HERE, Release, collect, pinned
from tools.lite.wheels import lock, opened
from tools.release import ROOT

FILES = {"pyodide.mjs": b"core", "numpy.whl": b"wheel"}
RELEASE = Release("9.9", {n: sha256(c) for n, c in FILES.items()}, {"packages": {}})


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


def in_a_carrier(folder: Path) -> str:
    with zipfile.ZipFile(folder / "carrier.whl", "w") as archive:
        for name, content in FILES.items():
            archive.writestr(f"somewhere/pyodide/{name}", content)
            archive.writestr(f"elsewhere/{name}", b"not Pyodide's")
    return str(folder / "carrier.whl")


@pytest.mark.parametrize("place", [in_a_folder, in_an_archive, in_a_carrier])
def test_pyodide_comes_from_any_of_its_places(place: Any, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    folder = collect(RELEASE, place(tmp_path / "there"), tmp_path)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == FILES
    # What is complete is used again, wherever it came from.
    assert collect(RELEASE, "nowhere", tmp_path) == folder


def test_archive_is_downloaded_from_an_address(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    address = Path(in_an_archive(tmp_path / "there")).as_uri()
    folder = collect(RELEASE, address, tmp_path)
    assert len(list(folder.iterdir())) == 2


def test_another_file_is_refused_in_four_lines(tmp_path: Path) -> None:
    in_a_folder(tmp_path)
    (tmp_path / "numpy.whl").write_bytes(b"not what was published")
    with pytest.raises(LiteError) as refused:
        collect(RELEASE, str(tmp_path), tmp_path / "kept")
    summary, *lines = str(refused.value).splitlines()
    assert summary == "numpy.whl is not the file that was published"
    labels = [line.split(":")[0].strip() for line in lines]
    assert labels == ["expected", "found", "where", "do"]
    assert RELEASE.hashes["numpy.whl"] in lines[0]


@pytest.mark.parametrize(
    ("place", "told"),
    [
        (".", "files of Pyodide are missing"),
        ("no/such/place", "Pyodide is not where it is said to be"),
        ("file:///no/such.tar.bz2", "archive could not be downloaded"),
    ],
)
def test_a_wrong_place_is_named(
    place: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LiteError, match=told) as refused:
        collect(RELEASE, place, tmp_path / "kept")
    assert place in str(refused.value.where)


def wheel(folder: Path, name: str, *requirements: str) -> Path:
    file = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    lines = ["Name: " + name, "Version: 1.0"]
    lines += [f"Requires-Dist: {each}" for each in requirements]
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{name}/__init__.py", "")
        archive.writestr(f"{info}/METADATA", "\n".join([*lines, "", "words"]))
        archive.writestr(f"{info}/licenses/LICENSE", f"the licence of {name}")
    return file


def test_lock_lists_a_wheel_with_what_it_needs_in_a_browser(tmp_path: Path) -> None:
    elsewhere = "tensorflow; sys_platform != 'emscripten'"
    made = wheel(tmp_path, "Toy_Box", "NumPy>=1", elsewhere, "pytest; extra == 'test'")
    theirs = {"info": {"python": "3.14.0"}, "packages": {"numpy": {"name": "numpy"}}}
    entry = lock(theirs, [opened(made, "3.14")])["packages"]["toy-box"]
    assert entry["depends"] == ["numpy"]
    assert entry["imports"] == ["Toy_Box"]
    assert entry["sha256"] == sha256(made.read_bytes())


def test_lock_without_a_needed_wheel_is_refused(tmp_path: Path) -> None:
    made = wheel(tmp_path, "toy", "absent")
    with pytest.raises(LiteError, match=r"found: +no absent"):
        lock({"packages": {}}, [opened(made, "3.14")])


def test_licences_of_wheels_travel_along(tmp_path: Path) -> None:
    wheel(tmp_path, "toy")
    licences.write(tmp_path, tmp_path / "THIRD_PARTY.txt", ["numpy"])
    told = (tmp_path / "THIRD_PARTY.txt").read_text(encoding="utf-8")
    assert "toy 1.0" in told
    assert "the licence of toy" in told
    assert "Copyright (c) 2005" in told  # NumPy's
    assert "Mozilla Public License 2.0" in told


def notebook(*sources: tuple[str, list[str]], **metadata: Any) -> Any:
    new: Any = nbformat.v4
    cells = [new.new_markdown_cell("# A title\n\nwords", id="title")]
    for name, tags in sources:
        cells.append(new.new_code_cell("1", id=name, metadata={"tags": tags}))
    return new.new_notebook(cells=cells, metadata=metadata)


def test_note_stands_for_what_needs_tensorflow() -> None:
    made = contents.with_notes(notebook(("graph", ["tensorflow"]), ("sum", [])))
    graph, other = made.cells[1:]
    assert (graph.id, graph.source) == ("graph", contents.NOTE)
    assert graph.cell_type == "markdown"
    assert (other.id, other.cell_type) == ("sum", "code")


def test_start_page_says_what_is_here_and_what_is_not() -> None:
    told = contents.start_page(
        {
            "01_one": notebook(("a", ["tensorflow"])),
            "02_two": notebook(fedlearn_edu={"browser": False, "why": "threads"}),
            "play": notebook(),
            "00_why": notebook(),
        }
    )
    assert "- [01 A title](01_one/01_one.ipynb) (but for 1 cell, which needs an" in told
    assert "- 02 A title (threads)" in told
    assert "## Learning\n\n- [00 A title](00_why/00_why.ipynb), 10 minutes\n" in told
    assert "- [A title](play/play.ipynb)\n" in told
    assert "*Restart Kernel*" in told


def test_pins_agree_with_those_of_the_package() -> None:
    """But for wcwidth, which is compiled in later versions."""
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    wheels = (HERE / "wheels.txt").read_text(encoding="utf-8").splitlines()
    named = [line.split()[0] for line in wheels if not line.startswith("#")]
    assert [each for each in named if each not in pins] == ["wcwidth==0.2.14"]


def test_no_file_of_pyodide_is_without_a_hash() -> None:
    assert len(pinned().hashes) == 5 + len(pinned().lock["packages"])
    assert pyodide.SETTING == "FEDLEARN_EDU_PYODIDE"
    assert verified(b"", sha256(b""), "empty") == b""


def test_page_forgets_the_tabs_of_the_last_visit_before_it_begins(
    tmp_path: Path,
) -> None:
    page = tmp_path / "lab" / "index.html"
    page.parent.mkdir()
    page.write_text("<html><head><script>begin()</script></head></html>")
    site._add_scripts(tmp_path)
    first, *_, last = re.findall(r"<script>(.*?)</script>", page.read_text(), re.S)
    assert 'searchParams.set("workspace", `visit-' in first
    assert last == "begin()"
    closed = {"kernelShutdown": True}
    assert site._SETTINGS["@jupyterlab/notebook-extension:tracker"] == closed


def test_page_asks_no_index_and_keeps_progress() -> None:
    settings = json.dumps(site._CONFIG)
    assert '"disablePyPIFallback": true' in settings
    assert '"jedi"' in settings
    assert '"FEDLEARN_EDU_PROGRESS": "/drive/progress.json"' in settings
