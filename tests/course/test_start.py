# SPDX-License-Identifier: Apache-2.0
"""`fedlearn-edu start`: lessons arrive, are renewed, and nobody's work is lost."""

import itertools
import json
import platform
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fedlearn_edu.course import start
from fedlearn_edu.course.start import Delivery, LessonsNotFoundError, deliver

LESSON = "01_hello/01_hello.ipynb"
BESIDE = "01_hello/01_hello.new.ipynb"


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A lesson with a picture, a second lesson, and what an editor left behind."""
    folder = tmp_path / "release"
    put(folder, LESSON, "release 1")
    put(folder, "01_hello/images/who.png", "a picture")
    put(folder, "02_types/02_types.ipynb", "types 1")
    put(folder, "02_types/.ipynb_checkpoints/02_types-checkpoint.ipynb", "junk")
    return folder


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    return tmp_path / "mine"


def put(folder: Path, name: str, content: str) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)


def found(folder: Path) -> dict[str, str]:
    files = (file for file in folder.rglob("*") if file.is_file())
    names = {file.relative_to(folder).as_posix(): file.read_text() for file in files}
    return {name: text for name, text in names.items() if name != start.MEMORY}


def what(deliveries: list[Delivery]) -> dict[str, str]:
    return {each.name: each.what for each in deliveries}


def test_notebook_arrives_with_the_python_that_opens_it(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or JupyterLab would write that, and call it unsaved before anything is done."""
    deliver(start.find_release(), mine)
    for file in (LESSON, start.INDEX, "explorers.ipynb"):
        metadata = json.loads((mine / file).read_bytes())["metadata"]
        assert metadata["language_info"]["version"] == platform.python_version()
        assert metadata["kernelspec"]["display_name"] == "Python 3 (ipykernel)"
    put(mine, LESSON, (mine / LESSON).read_text().replace("You will", "I will"))
    monkeypatch.setattr(sys, "version", "3.99.1 (a newer one makes no newer lesson)")
    told = what(deliver(start.find_release(), mine))
    assert {told.pop(LESSON), *told.values()} == {"yours", "unchanged"}


def test_lessons_arrive_with_all_their_files(release: Path, mine: Path) -> None:
    put(mine, "notes.txt", "mine")
    delivered = deliver(release, mine)
    assert found(mine) == {
        LESSON: "release 1",
        "01_hello/images/who.png": "a picture",
        "02_types/02_types.ipynb": "types 1",
        "notes.txt": "mine",
    }
    assert set(what(delivered).values()) == {"new"}
    before = (mine / LESSON).stat().st_ino
    assert set(what(deliver(release, mine)).values()) == {"unchanged"}
    assert (mine / LESSON).stat().st_ino == before
    memory = json.loads((mine / start.MEMORY).read_text())
    assert memory["version"] == 1
    assert {len(checksum) for checksum in memory["delivered"].values()} == {64}
    assert not list(mine.rglob("*.tmp"))


# What is done to a lesson, in turn; the golden file has what came of each step.
SCENES = [
    "deliver, release, deliver, delete mine, deliver",
    "deliver, edit mine, deliver, release, deliver",
    "deliver, edit mine, release, deliver, release, deliver, edit beside, deliver, "
    "release, deliver",
    "deliver, edit mine, release, deliver, delete beside, deliver, release, deliver",
    "deliver, edit mine, release, deliver, move beside, deliver, release, deliver",
    "deliver, release, delete memory, deliver",
]


def test_deliveries_are_as_in_their_golden_file(
    release: Path, mine: Path, golden: Callable[[str, str], None]
) -> None:
    told = []
    for number, scene in enumerate(SCENES):
        told.append(f"--- {scene}")
        folder = mine / str(number)
        put(release, LESSON, "release 1")
        for place, step in enumerate(scene.split(", ")):
            delivered = do(step, place, release, folder)
            told += [f"{step}: {each.name} is {each.what}" for each in delivered]
            if not delivered:
                told.append(step)
        kept = sorted(found(folder).items())
        told += [f"  {name}: {text}" for name, text in kept if "01_hello/01" in name]
    golden("course/deliveries.txt", "\n".join(told))


def do(step: str, number: int, release: Path, folder: Path) -> list[Delivery]:
    """Does it, and gives what was delivered of the first lesson."""
    verb, _, what = step.partition(" ")
    name = {"mine": LESSON, "beside": BESIDE, "memory": start.MEMORY}.get(what, "")
    match verb:
        case "deliver":
            return [d for d in deliver(release, folder) if "ipynb" in d.name][:-1]
        case "release":
            put(release, LESSON, f"release of step {number}")
        case "edit":
            put(folder, name, f"my answer of step {number}")
        case "delete":
            (folder / name).unlink()
        case "move":
            (folder / name).replace(folder / LESSON)
    return []


@pytest.mark.parametrize("memory", ["", "{", "[]", '{"delivered": 3}'])
def test_with_a_damaged_memory_everything_that_differs_is_yours(
    memory: str, release: Path, mine: Path
) -> None:
    deliver(release, mine)
    put(release, LESSON, "release 2")
    (mine / start.MEMORY).write_text(memory)
    assert what(deliver(release, mine))[BESIDE] == "beside"
    assert (found(mine)[LESSON], found(mine)[BESIDE]) == ("release 1", "release 2")


def test_no_order_of_events_loses_work(release: Path, mine: Path) -> None:
    """Every text a learner has typed is still somewhere, unless she deleted it."""
    for events in itertools.product(("edit", "release", "deliver"), repeat=4):
        folder = mine / "-".join(events)
        typed: set[str] = set()
        for number, event in enumerate((*events, "deliver")):
            text = f"{event} {number} of {events}"
            if event == "edit":
                for name in [n for n in found(folder) if n.startswith("01_hello/01")]:
                    typed -= {found(folder)[name]}
                    put(folder, name, f"{text} {name}")
                    typed.add(f"{text} {name}")
            elif event == "release":
                put(release, LESSON, text)
            else:
                deliver(release, folder)
        assert typed <= set(found(folder).values()), events


@pytest.mark.parametrize("below", ["", "deeper/still"])
def test_file_in_place_of_the_folder_is_refused(
    below: str, release: Path, tmp_path: Path
) -> None:
    (tmp_path / "occupied").write_text("mine")
    with pytest.raises(LessonsNotFoundError, match="cannot be put there") as refused:
        deliver(release, tmp_path / "occupied" / below)
    error = refused.value
    assert None not in (error.expected, error.found, error.where, error.do)


def test_report_is_short(release: Path, mine: Path) -> None:
    first = start.report(deliver(release, mine), mine).splitlines()
    assert first[0] == f"{LESSON}: new"
    assert first[-1] == f"3 files in {mine}"
    assert len(first) == 4
    put(mine, LESSON, "my answer")
    again = start.report(deliver(release, mine), mine)
    assert again == f"3 files in {mine}, 1 with your work inside"
    put(release, LESSON, "release 2")
    newer = start.report(deliver(release, mine), mine)
    assert f"{BESIDE}: newer than yours, and beside it" in newer


def test_packaged_lessons_come_before_those_of_the_repository(
    release: Path, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start, "_PACKAGED", mine)
    monkeypatch.setattr(start, "_REPOSITORY", mine)
    with pytest.raises(LessonsNotFoundError, match="the lessons are not here") as said:
        start.find_release()
    error = said.value
    assert None not in (error.expected, error.found, error.where, error.do)
    monkeypatch.setattr(start, "_REPOSITORY", release)
    assert start.find_release() == release
    put(mine, LESSON, "packaged")
    assert start.find_release() == mine


def test_folder_with_lessons_is_taken_if_you_stand_in_it(
    tmp_path: Path, release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert start.here() == Path("fedlearn-lessons")
    deliver(release, start.here())
    monkeypatch.chdir(tmp_path / "fedlearn-lessons")
    assert start.here() == Path()


def test_jupyterlab_opens_the_map_and_says_where_it_is(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[list[str]] = []
    monkeypatch.setattr("subprocess.call", opened.append)
    start.open_lab(mine, ["--port=1"])
    address = "--LabApp.default_url=/lab/tree/index.ipynb"
    assert [command[3:] for command in opened] == [[str(mine), address, "--port=1"]]
