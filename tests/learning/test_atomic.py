# SPDX-License-Identifier: Apache-2.0
"""Several writers of one file, in threads here and in other programs."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from fedlearn_edu.learning.atomic import append_lines, write_atomically

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
