# SPDX-License-Identifier: Apache-2.0
"""The file of a learner's progress: what it keeps, and what it survives."""

import errno
import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from fedlearn_edu.course import records
from fedlearn_edu.course.records import Progress, Record

pytestmark = pytest.mark.usefixtures("kept")

TODAY = date.today().isoformat()


def in_the_file(path: Path) -> dict[str, Any]:
    exercises: dict[str, Any] = json.loads(path.read_text())["exercises"]
    return exercises


def test_checks_are_counted_until_one_passes(kept: Path) -> None:
    assert records.read() == Progress()
    assert not kept.parent.exists()
    for passed in (False, False, True):
        records.note_check("add", passed)
    before = kept.stat().st_ino
    for passed in (True, False):
        records.note_check("add", passed)
    assert kept.stat().st_ino == before, "nothing is written any more"
    assert json.loads(kept.read_text()) == {
        "version": 1,
        "exercises": {"add": {"tries": 3, "hints": 0, "passed": TODAY}},
    }
    assert set(kept.parent.iterdir()) == {kept, kept.with_name(f"{kept.name}.lock")}


def test_hints_are_kept_as_the_highest_rung() -> None:
    for rung in (1, 2, 1):
        records.note_hint("add", rung)
    assert records.read()["add"] == Record(hints=2)
    records.note_check("add", True)
    records.note_hint("add", 3)
    assert records.read()["add"] == Record(1, 2, TODAY), "after the pass it is done"


@pytest.mark.parametrize("name", ["off", "OFF", "", "while graded.json"])
def test_nothing_is_kept_if_it_is_off_or_a_notebook_is_graded(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(records.VARIABLE, name)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde" * ("graded" in name))
    monkeypatch.chdir(tmp_path)
    records.note_check("add", True)
    records.note_hint("add", 1)
    assert records.read() == Progress()
    assert list(tmp_path.iterdir()) == []


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
        kernel.join()
    tries = {name: record.tries for name, record in records.read().items()}
    assert tries == {"one": 20, "two": 20, "three": 20, "shared": 60}


HOLDS = """
import sys
from pathlib import Path
from fedlearn_edu.atomic import exclusive_lock
with exclusive_lock(Path(sys.argv[1]), 0):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(kept: Path) -> Iterator[subprocess.Popen[str]]:
    """A program that holds the lock of the file until its input ends."""
    lock = str(kept.with_name(f"{kept.name}.lock"))
    program = [sys.executable, "-c", HOLDS, lock]
    pipe = subprocess.PIPE
    with subprocess.Popen(program, stdin=pipe, stdout=pipe, text=True) as run:
        assert run.stdout
        assert run.stdout.readline() == "held\n"
        yield run


def test_in_a_browser_no_lock_that_was_left_behind_bars_the_way(
    holder: subprocess.Popen[str], kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FEDLEARN_EDU_PLATFORM", "emscripten")
    records.note_check("add", True)
    assert in_the_file(kept)["add"]["tries"] == 1


def test_drive_that_cannot_lock_keeps_progress_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unable(*_: object, **__: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(FileLock, "acquire", unable)
    records.note_check("add", True)
    records.note_check("mean", True)
    assert list(records.read()) == ["add", "mean"]


def test_file_that_another_program_holds_is_left_alone(
    holder: subprocess.Popen[str],
    kept: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(records, "_PATIENCE_S", 0)
    records.note_check("add", False)
    assert not kept.exists()
    assert capsys.readouterr().out == (
        "Your progress is not kept (another program is writing it: "
        f"{kept}). The lesson goes on.\n"
    )


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


def a_folder(kept: Path, _: pytest.MonkeyPatch) -> None:
    kept.mkdir(parents=True)


def no_folder(kept: Path, _: pytest.MonkeyPatch) -> None:
    kept.parent.write_text("a file where the folder should be")


def a_full_disk(kept: Path, patch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    records.note_check("before", True)
    patch.setattr(os, "replace", full)


@pytest.mark.parametrize(
    ("trouble", "said"),
    [(a_folder, ""), (no_folder, ""), (a_full_disk, "No space left on device")],
)
def test_file_that_cannot_be_written_is_said_once_and_disturbs_nobody(
    trouble: Callable[[Path, pytest.MonkeyPatch], None],
    said: str,
    kept: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    trouble(kept, monkeypatch)
    before = kept.read_bytes() if kept.is_file() else b""
    for _ in range(3):
        records.note_check("add", True)
        records.note_hint("add", 1)
    printed = capsys.readouterr()
    assert (printed.err, printed.out.count("\n")) == ("", 1)
    assert printed.out.startswith("Your progress is not kept (")
    assert said in printed.out
    assert str(kept) in printed.out
    assert (kept.read_bytes() if kept.is_file() else b"") == before
    assert not list(kept.parent.glob("*.tmp"))


def test_somebody_without_a_home_learns_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def homeless(_: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv(records.VARIABLE)
    monkeypatch.setattr(Path, "expanduser", homeless)
    records.note_check("add", True)
    assert records.read() == Progress()
