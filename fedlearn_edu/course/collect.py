# SPDX-License-Identifier: Apache-2.0
"""Copies what was handed in to where nbgrader looks: `TO/STUDENT/LESSON/LESSON.ipynb`.

Browsers and learning platforms rename files, and nbgrader passes over those. A notebook
names its lesson in its first cell; its folder or its own name says whose it is.
"""

import json
import os
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, final

from fedlearn_edu.course.lessons import LESSONS
from fedlearn_edu.errors import FedLearnError
from fedlearn_edu.learning.atomic import numbered

SUBMITTED: Final = Path("build/submitted")
"""Where `nbgrader_config.py` has what was handed in."""

_NAMES: Final = tuple(lesson.name for lesson in LESSONS)
_BEGIN: Final = re.compile(r"""\bbegin\(\s*["'](\w+)["']""")
_COPY: Final = re.compile(r"[ _-]*(\(\d+\)|copy ?\d*)$", re.IGNORECASE)
_ARCHIVES: Final = (".zip", ".gz", ".tar", ".7z", ".rar")

What = Literal["new", "newer", "same", "left"]


class NothingHandedInError(FedLearnError, FileNotFoundError):
    """The folder to collect from is not there."""


@final
@dataclass(frozen=True)
class Step:
    """What becomes of one file.

    Attributes:
        what: `new`; `newer` than what is there, which is kept as `LESSON.old`; the
            `same` as what is there; `left` where it is.
        file: what was handed in.
        target: where it goes, `None` if it is left.
        said: what else there is to know.
    """

    what: What
    file: Path
    target: Path | None = None
    said: str = ""


def plan(folder: Path, to: Path = SUBMITTED) -> list[Step]:
    """What is to be done. Of several files the newest counts.

    Raises:
        NothingHandedInError: if the folder is not there.
    """
    if not folder.is_dir():
        raise NothingHandedInError(
            "there is nothing to collect",
            expected="a folder with what was handed in",
            found=folder,
            do="name the folder into which you put, or unpacked, the notebooks",
        )
    steps: list[Step] = []
    found: dict[Path, list[Path]] = defaultdict(list)
    names: dict[str, set[str]] = defaultdict(set)
    for file in _handed_in(folder):
        try:
            lesson = _lesson_of(file)
            name = _student_of(file.relative_to(folder), lesson)
        except ValueError as error:
            steps.append(Step("left", file, said=str(error)))
            continue
        student = re.sub(r"[^\w.@-]+", "_", name).strip("_")
        names[student.casefold()].add(name)
        found[to / student / lesson / f"{lesson}.ipynb"].append(file)
    for target, files in found.items():
        same = sorted(names[target.parent.parent.name.casefold()])
        if len(same) > 1:
            said = f"not told apart: {', '.join(same)}"
            steps += [Step("left", file, said=said) for file in files]
        else:
            steps.append(_choose(target, files))
    return sorted(steps, key=lambda step: (step.what == "left", str(step.target)))


def apply(steps: Sequence[Step]) -> None:
    """Carries the plan out. What a newer file replaces stays beside it."""
    for step in steps:
        if step.target is None or step.what == "same":
            continue
        step.target.parent.mkdir(parents=True, exist_ok=True)
        part = step.target.with_suffix(".part")
        shutil.copy2(step.file, part)  # with its time, by which the newest is found
        if step.target.exists():
            os.replace(step.target, _old(step.target))
        os.replace(part, step.target)


def report(steps: Sequence[Step], folder: Path) -> str:
    """A line for each file, and how many there are of each kind."""
    if not steps:
        return f"no notebooks in {folder}"
    rows: list[tuple[str, ...]] = [("", "student", "lesson", "file")]
    for step in steps:
        whose = ("", "") if step.target is None else step.target.parts[-3:-1]
        said = f": {step.said}" * bool(step.said)
        is_inside = step.file.is_relative_to(folder)
        where = step.file.relative_to(folder) if is_inside else step.file
        rows.append((step.what, *whose, f"{where}{said}"))
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    lines = [
        "  ".join([*map(str.ljust, row[:-1], wide), row[-1]]).rstrip() for row in rows
    ]
    kinds = [step.what for step in steps]
    each = [f"{kinds.count(what)} {what}" for what in dict.fromkeys(kinds)]
    return "\n".join([*lines, ", ".join(each)])


# ------------------------------------------------------------------ one file


def _handed_in(folder: Path) -> Iterator[Path]:
    """Notebooks, `NAME.ipynb.txt` among them, and archives that may hold some."""
    for file in sorted(folder.rglob("*")):
        inside = file.relative_to(folder).parts
        hidden = any(part.startswith((".", "__MACOSX")) for part in inside)
        is_wanted = ".ipynb" in file.name or file.suffix.lower() in _ARCHIVES
        if is_wanted and not hidden and file.is_file():
            yield file


def _lesson_of(file: Path) -> str:
    """By its first cell, or by its name if that is gone; `ValueError` if by neither."""
    if file.suffix.lower() in _ARCHIVES:
        raise ValueError("an archive: unpack it first")
    try:
        cells = json.loads(file.read_bytes())["cells"]
        code = "\n".join("".join(cell["source"]) for cell in cells)
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise ValueError("not a notebook, or a damaged one") from None
    for name in [*_BEGIN.findall(code), *(n for n in _NAMES if n in file.name)]:
        if name in _NAMES:
            return str(name)
    raise ValueError("not a lesson of this course")


def _student_of(path: Path, lesson: str) -> str:
    """The outermost folder that is not named after a lesson, or part of the name."""
    folders = [each for each in path.parts[:-1] if _COPY.sub("", each) not in _NAMES]
    before, _, after = path.name.partition(".ipynb")[0].partition(lesson)
    # Platforms put a number behind the lesson if it is handed in again.
    own = before.strip(" _-.") or _COPY.sub("", after).strip(" _-.")
    name = folders[0] if folders else own
    if not re.search(r"\w", name):
        raise ValueError("whose? Put it into a folder with the student's name")
    return name


def _choose(target: Path, files: list[Path]) -> Step:
    """The newest of what was handed in and what is there already."""
    there = [target] if target.exists() and target not in files else []
    everything = sorted([*there, *files], key=_time, reverse=True)
    first = everything[0]
    others = [file for file in everything[1:] if not _are_alike(file, first)]
    if others and _time(others[0]) == _time(first):
        return Step("left", first, said=f"as old as another, {_dated(others[0])}")
    said = "; ".join([*(f"older: {_dated(f)}" for f in others), *_copies(first)])
    if target.exists() and _are_alike(first, target):
        return Step("same", first, target, said)
    return Step("newer" if target.exists() else "new", first, target, said)


def _copies(file: Path) -> Iterator[str]:
    """Cells that were copied or split, so that the lesson has several of one name."""
    cells = json.loads(file.read_bytes())["cells"]
    known = [cell.get("metadata", {}).get("nbgrader") or {} for cell in cells]
    names = Counter(about.get("grade_id") for about in known)
    for name, count in names.items():
        if name and count > 1:
            yield f"{count} cells are {name!r}, the last one counts"


def _time(file: Path) -> float:
    return file.stat().st_mtime


def _are_alike(one: Path, other: Path) -> bool:
    return one.read_bytes() == other.read_bytes()


def _dated(file: Path) -> str:
    when = datetime.fromtimestamp(_time(file)).isoformat(" ", "minutes")
    return f"{file.parent.name}/{file.name} ({when})"


def _old(target: Path) -> Path:
    """The first of `LESSON.old`, `LESSON.old2`, … that is free."""
    places = map(target.with_suffix, numbered(".old"))
    return next(place for place in places if not place.exists())
