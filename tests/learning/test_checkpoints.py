# SPDX-License-Identifier: Apache-2.0
"""A run that was killed and called again ends bit for bit as one that was not."""

import errno
import os
import random
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock

from fedlearn_edu import atomic
from fedlearn_edu.learning import checkpoints
from fedlearn_edu.learning.checkpoints import (
    CheckpointError,
    Checkpoints,
    CheckpointWriteError,
    Store,
    decode,
    encode,
    like,
)
from fedlearn_edu.learning.config import Options
from fedlearn_edu.learning.errors import RunError
from fedlearn_edu.learning.process import LearningProcess
from fedlearn_edu.learning.run_state import Run
from fedlearn_edu.learning.training_loop import run
from fedlearn_edu.simulation import ClientSampling
from tests.architecture.repository import ROOT
from tests.learning.killed import digest, the_run
from tests.learning.small import (
    mean_process,
    numbers,
    same,
    small_data,
    small_lists,
    small_model,
)

PROCESS = mean_process()


def content_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def saved_run(
    saved: Path | Checkpoints,
    rounds: int = 3,
    data: Any = None,
    process: LearningProcess = PROCESS,
    **options: Any,
) -> Run:
    where = saved if isinstance(saved, Checkpoints) else Checkpoints(saved)
    how = Options(checkpoints=where, **options)
    return run(process, data or small_lists(), rounds, options=how)


# ---------------------------------------------------------------- files


LEAVES = OrderedDict(
    weights=np.arange(6, dtype=np.float32).reshape(2, 3),
    empty=np.zeros([0, 4], np.int64),
    number=np.float32(0.1),
    flag=np.bool_(True),
    plain=7,
    share=0.1,
    wave=np.array([1j], np.complex64),
)


def test_leaves_come_back_as_they_were() -> None:
    metadata, arrays = decode(encode({"rows": [{"loss": float("nan")}]}, LEAVES))
    assert str(metadata) == "{'rows': [{'loss': nan}]}"
    back = {name: like(leaf, arrays[name]) for name, leaf in LEAVES.items()}
    assert same(back, LEAVES)
    assert [type(leaf) for leaf in back.values()] == [type(x) for x in LEAVES.values()]


def test_numpy_reads_the_file_as_it_is(tmp_path: Path) -> None:
    saved_run(tmp_path)
    with np.load(tmp_path / "round_000003.npz", allow_pickle=False) as archive:
        assert {"state/weights/mean", "state/round_number", "metadata"} <= set(archive)


def test_a_state_that_cannot_be_saved_is_refused_before_the_first_round() -> None:
    with pytest.raises(CheckpointError, match="only numbers can be saved"):
        Store(Checkpoints("never made"), {}, Run({"name": "a text"}))
    assert not Path("never made").exists()


# ---------------------------------------------------------------- folders


def test_the_newest_files_are_kept(tmp_path: Path) -> None:
    how = Checkpoints(tmp_path / "new" / "folder", every=2, keep=2)
    saved_run(how, 9)
    names = [file.name for file in how.files]
    assert names == ["round_000008.npz", "round_000009.npz"]
    assert sorted(content_of(tmp_path / "new" / "folder")) == [".lock", *names]


def test_all_files_are_kept_if_asked_for(tmp_path: Path) -> None:
    how = Checkpoints(tmp_path, keep=None)
    saved_run(how, 5)
    assert len(how.files) == 5


def test_the_newest_is_the_one_of_the_most_rounds_not_of_the_last_name(
    tmp_path: Path,
) -> None:
    for name in ("round_1000000.npz", "round_999999.npz", "round_x.npz"):
        (tmp_path / name).touch()
    names = [file.name for file in Checkpoints(tmp_path).files]
    assert names == ["round_999999.npz", "round_1000000.npz"]


def test_a_run_that_is_complete_is_read_and_nothing_is_run(tmp_path: Path) -> None:
    made = saved_run(tmp_path)
    before = content_of(tmp_path)
    again = saved_run(tmp_path)
    assert same(again.state, made.state)
    assert list(again.history) == list(made.history)  # seconds too
    assert content_of(tmp_path) == before


def test_more_rounds_continue_and_fewer_are_refused(tmp_path: Path) -> None:
    saved_run(tmp_path, 3)
    assert same(saved_run(tmp_path, 5).state, run(PROCESS, small_lists(), 5).state)
    before = content_of(tmp_path)
    with pytest.raises(RunError, match="at most 4 rounds"):
        saved_run(tmp_path, 4)
    assert content_of(tmp_path) == before


def test_a_folder_has_one_run_at_a_time_and_a_killed_one_frees_it(
    tmp_path: Path,
) -> None:
    """In the same program too; the slip of that has its golden file."""
    program = """
import sys, tests.learning.killed as it
def hold(so_far):
    print("begun", flush=True)
    sys.stdin.read()
how = it.Options(checkpoints=it.Checkpoints(sys.argv[1]), callbacks=[hold])
it.training_loop.run(it.mean_process(), it.small_data(), 3, options=how)
"""
    command, pipe = [sys.executable, "-c", program, str(tmp_path)], subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, cwd=ROOT, text=True
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == "begun\n"
        before = content_of(tmp_path)
        with pytest.raises(CheckpointError, match="another run goes on"):
            saved_run(tmp_path, data=small_data())
        assert content_of(tmp_path) == before
        other.kill()
    resumed = saved_run(tmp_path, data=small_data())
    assert same(resumed.state, run(PROCESS, small_data(), 3).state)


def test_a_drive_that_cannot_lock_keeps_checkpoints_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unable(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(FileLock, "acquire", unable)
    saved_run(tmp_path)
    assert sorted(content_of(tmp_path)) == [f"round_{i:06}.npz" for i in (1, 2, 3)]


# ---------------------------------------------------------------- refusals


def flipped(content: bytes, position: int) -> bytes:
    other = bytes([content[position] ^ 1])
    return content[:position] + other + content[position + 1 :]


DAMAGES: list[Callable[[bytes], bytes]] = [
    *(lambda c, n=n: c[: len(c) * n // 4] for n in range(4)),
    lambda c: c[:-1],
    lambda c: flipped(c, c.index(b"metadata")),
    lambda c: flipped(c, c.rindex(b"round_number")),
    lambda c: flipped(c, len(c) // 2),
    lambda c: b"x" + c,
    lambda c: b"PK\x03\x04 my thesis",
]


def test_no_flipped_bit_is_read_as_another_state() -> None:
    content = encode({"rounds": 3}, {"w": np.arange(4.0)})
    whole = decode(content)
    for position in range(len(content)):
        try:
            metadata, arrays = decode(flipped(content, position))
        except checkpoints._DAMAGES:
            continue
        if arrays.keys() == whole[1].keys():
            assert (metadata, same(arrays, whole[1])) == (whole[0], True)


def test_a_damaged_file_is_refused_and_nothing_is_touched(tmp_path: Path) -> None:
    saved_run(tmp_path)
    (tmp_path / "round_000002.npz.tmp").write_bytes(b"left over")
    newest = tmp_path / "round_000003.npz"
    intact = newest.read_bytes()
    for damage in DAMAGES:
        newest.write_bytes(damage(intact))
        before = content_of(tmp_path)
        with pytest.raises(CheckpointError, match="is damaged") as error:
            saved_run(tmp_path, 6)
        assert str(newest) in str(error.value)
        assert "to go on from round_000002.npz" in str(error.value)
        assert content_of(tmp_path) == before


def test_a_renamed_file_is_refused(tmp_path: Path) -> None:
    saved_run(tmp_path)
    (tmp_path / "round_000003.npz").rename(tmp_path / "round_000007.npz")
    with pytest.raises(CheckpointError, match="the state after round 3"):
        saved_run(tmp_path, 9)


def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    options = Options(checkpoints=Checkpoints(tmp_path), shuffle_seed=1)
    run(PROCESS, small_data(), 2, options=options)
    before = content_of(tmp_path)
    others: list[tuple[str, dict[str, Any]]] = [
        ("settings", {"process": mean_process(0.2)}),
        ("client state", {"process": mean_process(keeps=True)}),
        ("process", {"process": replace(PROCESS, name="median")}),
        (
            "model",
            {"process": replace(PROCESS, model=replace(small_model(), loss=max))},
        ),
        ("data", {"data": small_data(seed=8)}),
        ("data", {"data": small_data(5)}),
        ("batch_size", {"batch_size": 3}),
        ("client_sampling", {"client_sampling": ClientSampling(count=2)}),
        ("shuffle_seed", {"options": replace(options, shuffle_seed=2)}),
    ]
    usual = {"process": PROCESS, "data": small_data(), "options": options}
    for text, other in others:
        asked: dict[str, Any] = usual | other
        with pytest.raises(CheckpointError, match=f"of another run: other {text}\n"):
            run(rounds=4, **asked)
    assert content_of(tmp_path) == before


def test_a_function_in_the_settings_is_the_same_in_the_next_program(
    tmp_path: Path,
) -> None:
    for address in ("0x7f01", "0x7f02"):
        settings = f"SGD(<function <lambda> at {address}>)"
        process = replace(PROCESS, settings=settings)
        saved_run(tmp_path, 2, process=process)


# ---------------------------------------------------------------- callbacks


def test_a_folder_that_is_called_like_a_checkpoint_is_none(tmp_path: Path) -> None:
    (tmp_path / "round_000009.npz").mkdir()
    (tmp_path / "round_000002.npz.tmp").mkdir()
    assert saved_run(tmp_path, 1).rounds == 1
    assert [file.name for file in Checkpoints(tmp_path).files] == ["round_000001.npz"]


def test_an_interrupted_run_is_saved(tmp_path: Path) -> None:
    def interrupt(so_far: Run) -> None:
        if so_far.rounds == 2:
            raise KeyboardInterrupt

    seldom = Checkpoints(tmp_path, every=100)
    assert saved_run(seldom, 5, callbacks=[interrupt]).stopped == "interrupted"
    resumed = saved_run(tmp_path, 5)
    assert same(resumed.state, run(PROCESS, small_lists(), 5).state)
    assert numbers(resumed) == numbers(run(PROCESS, small_lists(), 5))


def test_an_error_in_a_callback_does_not_lose_what_was_learned(tmp_path: Path) -> None:
    def broken(so_far: Run) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        saved_run(Checkpoints(tmp_path, every=100), 5, callbacks=[broken])
    assert [file.name for file in Checkpoints(tmp_path).files] == ["round_000001.npz"]


# ---------------------------------------------------------------- the disk, and SIGKILL


def test_a_full_disk_is_an_error_that_holds_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved_run(tmp_path, 2)
    before = content_of(tmp_path)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CheckpointWriteError, match="No space left") as error:
        saved_run(tmp_path, 4)
    assert isinstance(error.value, OSError)
    assert error.value.run.rounds == 3
    assert content_of(tmp_path) == before


def test_what_a_killed_process_left_over_is_cleaned_up(tmp_path: Path) -> None:
    saved_run(tmp_path, 2)
    (tmp_path / "round_000009.npz.tmp").write_bytes(b"half of it")
    saved_run(tmp_path, 3)
    assert not list(tmp_path.glob("*.tmp"))


class Killed(BaseException):
    """What a process sees that is killed: nothing, and no clean-up."""


@pytest.mark.parametrize("call", ["fsync", "replace", "fsync of the folder"])
@pytest.mark.parametrize("is_after", [False, True])
def test_whenever_the_write_ends_the_folder_can_be_gone_on_from(
    call: str, is_after: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved_run(tmp_path, 2)
    home: Any = atomic if call == "fsync of the folder" else os
    name = "_sync_folder" if call == "fsync of the folder" else call
    real = getattr(home, name)

    def killing(*arguments: Any) -> None:
        if is_after:
            real(*arguments)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(home, name, killing)
        with pytest.raises(Killed):
            saved_run(tmp_path, 4)
    assert same(saved_run(tmp_path, 4).state, run(PROCESS, small_lists(), 4).state)
    assert not list(tmp_path.glob("*.tmp"))


def start(folder: Path, point: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.learning.killed"]
    return subprocess.run(
        [*command, str(folder), str(point)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_killed_at_any_point_and_resumed_a_run_ends_bit_for_bit_the_same(
    tmp_path: Path,
) -> None:
    whole = start(tmp_path / "whole", 0)
    points, expected = whole.stdout.split()
    assert expected == digest(the_run(None))
    chance = random.Random(11)
    for attempt in range(3):
        folder = tmp_path / str(attempt)
        killed = start(folder, chance.randrange(1, int(points)))
        assert killed.returncode == -9, killed.stderr
        # There are fewer points in what is left, so this one may not come.
        killed = start(folder, chance.randrange(1, int(points)))
        assert killed.returncode in (0, -9), killed.stderr
        resumed = start(folder, 0)
        assert resumed.stderr == ""
        assert resumed.stdout.split()[1] == expected
        assert not list(folder.glob("*.tmp"))
