# SPDX-License-Identifier: Apache-2.0
"""Atomic file writes, and a lock file that admits one program at a time."""

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from fedlearn_edu.capabilities import is_browser

TEMPORARY = ".tmp"
"""How the names of unfinished files end; one that was left behind may be deleted."""


def write_atomically(path: Path, content: bytes) -> None:
    """Writes a file so that under its name there is the old content or the new one.

    The content goes into a temporary file beside it, all the way to the disk, which
    then takes the name. The folder is made if it is not there. Several writers at once
    have a temporary file each; the last one's content stays.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = f"{os.getpid()}-{threading.get_ident()}"
    temporary = path.with_name(f"{path.name}.{writer}{TEMPORARY}")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def append_lines(path: Path, lines: Iterable[str], patience_s: float = 30.0) -> None:
    """Adds lines to a file, one writer after the other; none is lost, here or there.

    The folder and the file are made if they are not there.

    Raises:
        Timeout: an `OSError`, if others are still writing after these seconds.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = path.with_name(f"{path.name}.lock")
    with exclusive_lock(lock, patience_s), path.open("a+b") as file:
        file.seek(-min(1, file.seek(0, os.SEEK_END)), os.SEEK_END)
        is_cut = file.read() not in (b"", b"\n")  # a writer before was killed
        file.write("".join(["\n" * is_cut, *(f"{x}\n" for x in lines)]).encode())
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Brings the names to the disk too; only POSIX lets a folder be opened for that."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def exclusive_lock(lock: Path, patience_s: float) -> Iterator[OSError | None]:
    """Holds the lock; others that ask for it, here or in other programs, wait.

    The operating system releases it when a program ends, however it ends; the empty
    file stays and means nothing. Where files cannot be locked, as on some network
    drives, or none can be written, this proceeds without a lock and yields the error.
    In a browser no system would release it, so there is none: an end would bar the way.

    Raises:
        Timeout: if the lock is still taken after these seconds.
    """
    if is_browser():
        yield None
        return
    from filelock import FileLock, Timeout  # warns where there are no locks

    held, refused = FileLock(lock, poll_interval=0.01, fallback_to_soft=False), None
    try:
        held.acquire(timeout=patience_s)
    except Timeout:
        raise
    except OSError as error:
        refused = error
    try:
        yield refused
    finally:
        held.release()


def numbered(mark: str) -> Iterator[str]:
    """`mark`, `mark2`, `mark3`, …: ends of the names of files that are kept."""
    return (mark if number == 1 else f"{mark}{number}" for number in count(1))
