# SPDX-License-Identifier: Apache-2.0
"""A leaderboard in files: what was run, and what came out.

A file has a JSON object in each line, which `Comparison.save` writes, one for each
process. Nothing proves a line: who wants to know runs the process again, as protocol,
seeds, data and versions are in it.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from fedlearn_edu.errors import short_traceback
from fedlearn_edu.learning.comparison import (
    LeaderboardError,
    Protocol,
    is_share,
    measured,
)
from fedlearn_edu.learning.history import aligned, aligned_left

__all__ = ["Leaderboard", "LeaderboardError", "merge"]

_HEADS = ("process", "by", "mean", "lowest", "highest", "MB down", "MB up")

Line = Mapping[str, Any]


@final
@dataclass(frozen=True, repr=False)
class Leaderboard:
    """The lines of several files.

    Attributes:
        protocols: lines by protocol, in the order of the files; only those of the same
            one can be compared. The best mean comes first, `nan` last.
        refused: the lines that were left out, and why: what they hold is not what
            `Comparison.save` writes.
    """

    protocols: tuple[tuple[Line, ...], ...]
    refused: tuple[str, ...]

    def __repr__(self) -> str:
        parts = [_as_text(number, g) for number, g in enumerate(self.protocols, 1)]
        if self.refused:
            parts.append("\n".join(["Left out:", *(f"  {r}" for r in self.refused)]))
        return "\n\n".join(parts) or "no lines"


@short_traceback
def merge(paths: Iterable[str | Path]) -> Leaderboard:
    """Reads files that `Comparison.save` wrote.

    Lines of another protocol, other seeds or other data are in a table of their own. A
    line that occurs twice counts once. An odd line is left out, and named.

    Raises:
        LeaderboardError: if there are lines, and all of them are odd.
        OSError: if there is no such file.
    """
    found: dict[str, dict[str, Line]] = {}
    refused = []
    for path in map(Path, paths):
        for number, text in enumerate(path.read_bytes().split(b"\n"), 1):
            if not text.strip():
                continue
            place = f"{path}, line {number}"
            line = _parsed(text)
            if line is None:
                start = text[:60].decode(errors="replace")
                refused.append(f"{place}: no line of a leaderboard: {start}")
            else:
                key = _canonical(line["protocol"])
                found.setdefault(key, {})[_canonical(line)] = line
    if refused and not found:
        raise LeaderboardError(
            "there is no line of a leaderboard",
            expected="lines as Comparison.save writes them",
            found=refused[0],
            do="pass files that compared.save(path) has written",
        )
    groups = (sorted(lines.values(), key=_rank) for lines in found.values())
    return Leaderboard(tuple(map(tuple, groups)), tuple(refused))


def _canonical(thing: Any) -> str:
    return json.dumps(thing, sort_keys=True)


def _parsed(text: bytes) -> dict[str, Any] | None:
    """The line, if all of it can be shown."""
    try:
        line: dict[str, Any] = json.loads(text.decode("utf-8-sig"))
        _ = _row(line), _rank(line), _title(line["protocol"])
    except (ValueError, TypeError, LookupError, AttributeError):
        return None
    except (ArithmeticError, RecursionError):  # a number too large, lists in lists
        return None
    return line


def _rank(line: Line) -> tuple[bool, float, str, str]:
    """Best first; no number last; what is equal by name."""
    mean = float(np.mean(line["finals"]))
    value = -mean if is_share(line["protocol"]["metric"]) else mean
    return np.isnan(mean), 0.0 if np.isnan(mean) else value, *_names(line)


def _names(line: Line) -> tuple[str, str]:
    """What people have written, without what would end a line of the table."""
    process, by = (" ".join(f"{line[name]}".split()) for name in ("process", "by"))
    return process, by


def _as_text(number: int, lines: tuple[Line, ...]) -> str:
    title = f"Protocol {number}: {_title(lines[0]['protocol'])}"
    rows = [_HEADS, *map(_row, lines)]
    left = [aligned_left([row[at] for row in rows]) for at in (0, 1)]
    right = aligned([list(row[2:]) for row in rows])
    return "\n".join([title, *map("  ".join, zip(*left, right, strict=True))])


def _title(protocol: Mapping[str, Any]) -> str:
    of = Protocol(**protocol)
    return f"test {of.metric}; {of.terms}; data {of.data[:8]}"


def _row(line: Line) -> tuple[str, ...]:
    finals, metric = line["finals"], line["protocol"]["metric"]
    return (
        *_names(line),
        *(measured(float(of(finals)), metric) for of in (np.mean, np.min, np.max)),
        *(f"{line[way] / 1e6:.2f}" for way in ("bytes_down", "bytes_up")),
    )
