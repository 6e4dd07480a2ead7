# SPDX-License-Identifier: Apache-2.0
"""What a learner has done so far, kept in one small file on this machine.

The environment variable `FEDLEARN_EDU_PROGRESS` names the file; `off`, or nothing,
keeps no progress; unset, it is `~/.fedlearn_edu/progress.json`. While a notebook is
being graded nothing is read and nothing is written. If the file cannot be used, the
lesson goes on without it, and the reason is printed in one line, once.
"""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, final

from fedlearn_edu.atomic import exclusive_lock, write_atomically

VARIABLE = "FEDLEARN_EDU_PROGRESS"
_VERSION = 1
_PATIENCE_S = 1.0


@final
@dataclass(frozen=True)
class Record:
    """What one exercise took, up to the first answer that passed.

    Attributes:
        tries: checks, the one that passed included.
        hints: how far up the ladder of hints; 0 for none.
        passed: the day of the first pass as `YYYY-MM-DD`; `None` before it.
    """

    tries: int = 0
    hints: int = 0
    passed: str | None = None


@final
class Progress(dict[str, Record]):
    """The names of exercises, and what each of them took.

    >>> progress = Progress({"add": Record(tries=2, passed="2026-11-22")})
    >>> progress["add"].tries, progress.of("mean")
    (2, Record(tries=0, hints=0, passed=None))
    """

    def of(self, exercise: str) -> Record:
        """The record of an exercise, an empty one if it was never tried."""
        return self.get(exercise, Record())


def file() -> Path | None:
    """Where progress is kept; `None` if it is not."""
    named = os.environ.get(VARIABLE, "~/.fedlearn_edu/progress.json")
    if os.environ.get("NBGRADER_EXECUTION") or named.lower() in ("", "off"):
        return None
    try:
        return Path(named).expanduser()
    except RuntimeError:  # there is no home folder
        return None


def note_check(exercise: str, passed: bool) -> None:
    """Counts a check; after the first one that passed, the record stays as it is."""
    day = date.today().isoformat() if passed else None
    _note(exercise, lambda r: replace(r, tries=r.tries + 1, passed=day))


def note_hint(exercise: str, rung: int) -> None:
    """Keeps the highest hint that was shown; the first is 1."""
    _note(exercise, lambda record: replace(record, hints=max(record.hints, rung)))


def read() -> Progress:
    """What the file says now; nothing if there is none, or it cannot be read."""
    path = file()
    if path is None:
        return Progress()
    try:
        return _read(path)
    except OSError as error:
        _say_once(f"Your progress cannot be read ({error.strerror}: {path}).")
        return Progress()


# ------------------------------------------------------------------ the file


def _note(exercise: str, change: Callable[[Record], Record]) -> None:
    path = file()
    if path is None:
        return
    try:
        with exclusive_lock(path.with_name(f"{path.name}.lock"), _PATIENCE_S):
            progress = _read(path)
            before = progress.of(exercise)
            after = before if before.passed else change(before)
            if after != before:
                _write(path, Progress({**progress, exercise: after}))
    except OSError as error:
        why = error.strerror or "another program is writing it"
        _say_once(f"Your progress is not kept ({why}: {path}).")


def _read(path: Path) -> Progress:
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return Progress()
    try:
        return _parsed(json.loads(text))
    except (ValueError, TypeError, AttributeError, KeyError):
        aside = path.replace(path.with_name(f"{path.name}.broken"))
    _say_once(f"Your progress file was damaged, and is set aside as {aside}.")
    return Progress()


def _parsed(content: Any) -> Progress:
    if content["version"] != _VERSION:
        raise ValueError(content["version"])
    return Progress({n: _record(**r) for n, r in content["exercises"].items()})


def _record(tries: int, hints: int, passed: str | None) -> Record:
    if not (type(tries) is type(hints) is int and tries >= 0 and hints >= 0):
        raise ValueError((tries, hints))
    if passed is not None:
        date.fromisoformat(passed)
    return Record(tries, hints, passed)


def _write(path: Path, progress: Progress) -> None:
    exercises = {name: asdict(record) for name, record in progress.items()}
    content = {"version": _VERSION, "exercises": exercises}
    text = json.dumps(content, indent=1, sort_keys=True) + "\n"
    write_atomically(path, text.encode())


@cache
def _say_once(line: str) -> None:
    sys.stdout.write(f"{line} The lesson goes on.\n")
