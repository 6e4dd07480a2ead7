# SPDX-License-Identifier: Apache-2.0
"""A history is a tidy table that is never changed and is written in full or not."""

import copy
import math
import os
import pickle
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedlearn_edu.atomic import append_lines, write_atomically
from fedlearn_edu.learning.history import COLUMNS, History
from fedlearn_edu.learning.run_state import Run


def some_rows(count: int) -> History:
    rows = [
        {
            "round": i,
            "clients": 3,
            "dropped": 0,
            "late": 0,
            "seconds": 0.25,
            "loss": 1 / i,
        }
        for i in range(1, count + 1)
    ]
    return History.of(rows)


def test_rows_cannot_be_changed() -> None:
    row = {"round": 1}
    history = History.of([row])
    row["round"] = 5
    assert history.last["round"] == 1
    with pytest.raises(TypeError):
        history.last["round"] = 2  # type: ignore[index]


def test_columns_are_arrays_with_nan_where_nothing_was_measured() -> None:
    history = History.of([{"round": 1, "loss": 2.0}, {"round": 2}])
    np.testing.assert_array_equal(history["loss"], [2.0, math.nan])
    assert history["round"].tolist() == [1, 2]
    assert history["round"].dtype.kind == "i"


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("again", [copy.deepcopy, pickled])
def test_a_history_can_be_copied_and_pickled(again: Any) -> None:
    history = History.of([{"round": 1, "loss": 2.0}, {"round": 2, "accuracy": 0.5}])
    copied = again(Run(None, history=history)).history
    assert [dict(row) for row in copied] == [dict(row) for row in history]
    assert copied.columns == history.columns
    with pytest.raises(TypeError):
        copied.rows[0]["loss"] = 0.0


def test_without_pandas_there_is_a_dict_of_arrays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    table = some_rows(3).to_dict()
    assert list(table) == [*COLUMNS, "loss"]
    np.testing.assert_allclose(table["loss"], [1, 1 / 2, 1 / 3])
    with pytest.raises(ImportError, match=r"history\.to_dict\(\), arrays by name"):
        some_rows(3).to_frame()


def test_with_pandas_the_frame_is_one_of_pandas(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pandas = SimpleNamespace(DataFrame=lambda table: ("frame", list(table)))
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    assert some_rows(2).to_frame() == ("frame", [*COLUMNS, "loss"])


NUMBERS = st.floats(allow_nan=False) | st.integers(-(2**53), 2**53)


@given(st.lists(NUMBERS, max_size=5))
def test_numbers_in_a_csv_file_are_read_as_they_were(numbers: list[float]) -> None:
    path = Path(os.environ.get("TMPDIR", "/tmp")) / f"fedlearn_edu_{os.getpid()}.csv"
    try:
        History.of([{"loss": number} for number in numbers]).to_csv(path)
        lines = path.read_text().splitlines()
    finally:
        path.unlink(missing_ok=True)
    assert lines[0] == ",".join([*COLUMNS, *(["loss"] if numbers else [])])
    assert [float(line.rsplit(",", 1)[1]) for line in lines[1:]] == numbers


def test_what_was_not_measured_is_an_empty_field(tmp_path: Path) -> None:
    history = History.of([{"round": 1, "loss": math.nan}, {"round": 2}])
    history.to_csv(tmp_path / "new folder" / "h.csv")
    lines = (tmp_path / "new folder" / "h.csv").read_text().splitlines()
    assert lines[1:] == ["1,,,,,nan", "2,,,,,"]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "history.csv"
    some_rows(2).to_csv(path)
    before = path.read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        some_rows(5).to_csv(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_the_content_is_on_the_disk_before_the_file_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    real = {"fsync": os.fsync, "replace": os.replace}
    for name, function in real.items():

        def noted(*args: object, name: str = name, function: object = function) -> None:
            steps.append(name)
            function(*args)  # type: ignore[operator]

        monkeypatch.setattr(os, name, noted)
    write_atomically(tmp_path / "file", b"content")
    assert steps == ["fsync", "replace", "fsync"]
    assert (tmp_path / "file").read_bytes() == b"content"


def test_the_text_shows_the_first_and_the_last_rows() -> None:
    text = repr(some_rows(30))
    lines = text.splitlines()
    assert lines[0] == "History of 30 rounds"
    assert lines[1].split() == [*COLUMNS, "loss"]
    assert [line.split()[0] for line in lines[2:]] == [
        *"12345",
        "…",
        *map(str, range(26, 31)),
    ]


def test_the_text_is_no_wider_than_a_screen_and_says_what_it_leaves_out() -> None:
    row = {f"test{i}.accuracy_per_example": 0.5 for i in range(9)}
    text = repr(History.of([{"round": 1, "clients": 2, "late": 0, **row}]))
    assert max(map(len, text.splitlines()[:-1])) <= 88
    assert text.splitlines()[-1].startswith("(not shown: dropped, late, seconds, ")
    assert "test0.accuracy" in text
    assert "_per_example" in text


# ---------------------------------------------------------------- several writers

_LONG = "x" * 20_000


def test_a_file_that_many_append_to_has_all_lines(tmp_path: Path) -> None:
    file = tmp_path / "new" / "all.txt"
    other = get_context("spawn").Process(target=_append, args=(file, 1))
    other.start()
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda writer: _append(file, writer), range(2, 6)))
    other.join()
    found = Counter(file.read_text().splitlines())
    assert found == {f"{writer} {_LONG}": 10 for writer in range(1, 6)}


def _append(file: Path, writer: int) -> None:
    for _ in range(10):
        append_lines(file, [f"{writer} {_LONG}"])


def test_a_file_that_many_replace_is_that_of_one_of_them(tmp_path: Path) -> None:
    file = tmp_path / "one"

    def write(writer: int) -> None:
        for _ in range(10):
            write_atomically(file, f"{writer}".encode() * 20_000)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(4)))
    assert len(set(file.read_text())) == 1
    assert list(tmp_path.iterdir()) == [file]
