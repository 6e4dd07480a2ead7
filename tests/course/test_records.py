# SPDX-License-Identifier: Apache-2.0
"""The file of a learner's progress: what it keeps, and what it survives."""

import json
import multiprocessing
import os
from datetime import date
from pathlib import Path

import pytest

from fedlearn_edu.course import records
from fedlearn_edu.course.records import Progress, Record

TODAY = date.today().isoformat()


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of its own for each test; nobody listens, nothing was said yet."""
    path = tmp_path / "deep" / "progress.json"
    monkeypatch.setenv(records.VARIABLE, str(path))
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    monkeypatch.setattr(records, "_listeners", [])
    monkeypatch.setattr(records, "_said", set())
    return path


def test_nothing_is_known_and_nothing_written_at_first(kept: Path) -> None:
    assert records.read() == Progress()
    assert not kept.parent.exists()


def test_checks_are_counted_until_one_passes() -> None:
    for passed in (False, False, True, True, False):
        records.note_check("add", passed)
    assert records.read() == Progress({"add": Record(3, 0, TODAY)})


def test_hints_are_kept_as_the_highest_rung() -> None:
    for rung in (1, 2, 1):
        records.note_hint("add", rung)
    assert records.read()["add"] == Record(hints=2)
    records.note_check("add", True)
    records.note_hint("add", 3)
    assert records.read()["add"] == Record(1, 2, TODAY), "after the pass it is done"


def test_progress_is_a_mapping_that_knows_what_was_not_tried() -> None:
    records.note_check("add", False)
    found = records.read()
    assert dict(found) == {"add": Record(1)}
    assert found.of("mean") == Record()
    with pytest.raises(KeyError):
        found["mean"]


def test_running_a_finished_lesson_again_leaves_the_file_alone(kept: Path) -> None:
    records.note_check("add", True)
    before = kept.stat().st_ino
    records.note_check("add", True)
    assert kept.stat().st_ino == before


def test_file_can_be_read_by_people(kept: Path) -> None:
    records.note_check("add", False)
    assert json.loads(kept.read_text()) == {
        "version": 1,
        "exercises": {"add": {"tries": 1, "hints": 0, "passed": None}},
    }
    assert [each.name for each in kept.parent.iterdir()] == [kept.name]


@pytest.mark.parametrize("name", ["off", "OFF", ""])
def test_nothing_is_kept_if_it_is_off(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(records.VARIABLE, name)
    monkeypatch.chdir(tmp_path)
    records.note_check("add", True)
    records.note_hint("add", 1)
    records.forget()
    assert records.read() == Progress()
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_while_a_notebook_is_graded(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    records.note_check("add", True)
    records.note_hint("add", 1)
    assert not kept.parent.exists()


def test_home_is_where_it_is_kept_if_nothing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(records.VARIABLE)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert records.file() == tmp_path / ".fedlearn_edu" / "progress.json"


def test_what_another_kernel_wrote_meanwhile_stays(kept: Path) -> None:
    records.note_check("add", True)
    content = json.loads(kept.read_text())
    content["exercises"]["mean"] = {"tries": 4, "hints": 1, "passed": "2026-01-02"}
    kept.write_text(json.dumps(content))
    records.note_check("sum", False)
    assert list(records.read()) == ["add", "mean", "sum"]


def _note_many(exercise: str, path: str) -> None:
    os.environ[records.VARIABLE] = path
    for _ in range(20):
        records.note_check(exercise, False)
        records.note_check("shared", False)


@pytest.mark.slow
def test_kernels_that_write_at_once_lose_nothing(kept: Path) -> None:
    context = multiprocessing.get_context("spawn")
    names = ["one", "two", "three"]
    kernels = [
        context.Process(target=_note_many, args=(name, str(kept))) for name in names
    ]
    for kernel in kernels:
        kernel.start()
    for kernel in kernels:
        kernel.join(120)
    tries = {name: record.tries for name, record in records.read().items()}
    assert tries == {"one": 20, "two": 20, "three": 20, "shared": 60}


def test_lock_of_a_kernel_that_died_is_taken_over(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "_PATIENCE_S", 0.05)
    kept.parent.mkdir()
    lock = kept.with_name("progress.json.lock")
    lock.touch()
    records.note_check("add", True)
    assert records.read()["add"].passed == TODAY
    assert not lock.exists()


BROKEN = [
    "",
    "{",
    "[]",
    "null",
    '{"version": 2, "exercises": {}}',
    '{"version": 1, "exercises": {"add": 3}}',
    '{"version": 1, "exercises": {"add": {"tries": "x", "hints": 0, "passed": null}}}',
    '{"version": 1, "exercises": {"add": {"tries": -1, "hints": 0, "passed": null}}}',
    '{"version": 1, "exercises": {"add": {"tries": 1, "hints": 0, "passed": "now"}}}',
    "\x00\xff",
]


@pytest.mark.parametrize("content", BROKEN)
def test_damaged_file_is_set_aside_and_learning_goes_on(
    content: str, kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept.parent.mkdir()
    kept.write_text(content, encoding="latin-1")
    records.note_check("add", True)
    assert records.read() == Progress({"add": Record(1, 0, TODAY)})
    aside = kept.with_name("progress.json.broken")
    assert aside.read_text(encoding="latin-1") == content
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.count("\n") == 1
    assert f"set aside as {aside}. The lesson goes on." in printed.out


def test_second_damaged_file_does_not_replace_the_first(kept: Path) -> None:
    kept.parent.mkdir()
    for content in ("first", "second"):
        kept.write_text(content)
        records.read()
    asides = sorted(kept.parent.iterdir())
    assert [each.read_text() for each in asides] == ["first", "second"]


def test_folder_that_cannot_be_written_is_said_once_and_disturbs_nobody(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept.parent.write_text("a file where the folder should be")
    for _ in range(3):
        records.note_check("add", True)
        records.note_hint("add", 1)
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.count("\n") == 1
    assert printed.out.startswith("Your progress is not kept (")
    assert str(kept) in printed.out


def test_file_that_is_a_folder_disturbs_nobody(
    kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept.mkdir(parents=True)
    assert records.read() == Progress()
    records.note_check("add", True)
    records.forget()
    assert kept.is_dir()
    assert "The lesson goes on." in capsys.readouterr().out


def test_disk_that_fills_up_leaves_the_old_file(
    kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    records.note_check("add", True)
    before = kept.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    records.note_check("mean", True)
    assert kept.read_bytes() == before
    assert [each.name for each in kept.parent.iterdir()] == [kept.name]
    assert "No space left on device" in capsys.readouterr().out


def test_somebody_without_a_home_learns_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def homeless(_: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv(records.VARIABLE)
    monkeypatch.setattr(Path, "expanduser", homeless)
    records.note_check("add", True)
    assert records.read() == Progress()


def test_forgetting_begins_anew(kept: Path) -> None:
    records.note_check("add", True)
    records.forget()
    assert not kept.exists()
    records.forget()
    assert records.read() == Progress()


def test_listeners_hear_each_change_until_they_leave() -> None:
    heard: list[Progress] = []
    leave = records.subscribe(heard.append)
    records.note_hint("add", 1)
    records.note_check("add", True)
    records.note_check("add", True)
    records.forget()
    assert [each.of("add") for each in heard] == [
        Record(0, 1),
        Record(1, 1, TODAY),
        Record(),
    ]
    leave()
    leave()
    records.note_check("add", True)
    assert len(heard) == 3


def test_listener_that_fails_is_dropped_and_the_check_goes_on() -> None:
    calls = []

    def gone(found: Progress) -> None:
        calls.append(found)
        raise RuntimeError("the display is closed")

    records.subscribe(gone)
    records.note_check("add", False)
    records.note_check("add", True)
    assert len(calls) == 1
    assert records.read()["add"].passed == TODAY
