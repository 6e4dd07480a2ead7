# SPDX-License-Identifier: Apache-2.0
"""`Comparison`: what several processes reached under one protocol, and what they sent.

`comparing` makes one, `viz.draw_comparison` draws it, `leaderboard` keeps it in a file.
"""

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu.atomic import append_lines
from fedlearn_edu.errors import FedLearnError, counted, short_traceback
from fedlearn_edu.learning.history import History, aligned, aligned_left

METRICS = (
    "accuracy_per_example",
    "mean_accuracy_over_clients",
    "loss_per_example",
    "mean_loss_over_clients",
)
HEADS = ("process", "mean", "lowest", "highest", "rounds", "MB down", "MB up")


_PACKAGES = ("fedlearn_edu", "numpy", "tensorflow")


class LeaderboardError(FedLearnError, ValueError):
    """A file cannot be a leaderboard, or none has a line of one."""


@final
@dataclass(frozen=True)
class Protocol:
    """What was the same for all processes.

    Attributes:
        metric: one of `METRICS`, on the test data.
        seeds: of which each process had one run.
        rounds: the most that a run may take.
        max_bytes: the most that a run may send, up and down together; `None` for no
            such limit.
        batch_size: as `run` takes it.
        client_sampling: in words, with the first seed.
        data: a SHA-256 of what the clients hold, under all seeds.
        test: the same of the test data.
    """

    metric: str
    seeds: tuple[int, ...]
    rounds: int
    max_bytes: int | None
    batch_size: int | None
    client_sampling: str
    data: str
    test: str

    @property
    def terms(self) -> str:
        """Seeds and limits, in words."""
        limit = "" if self.max_bytes is None else f" and {self.max_bytes / 1e6:g} MB"
        rounds = counted(self.rounds, "round")
        return f"seeds {', '.join(map(str, self.seeds))}; at most {rounds}{limit}"


@final
@dataclass(frozen=True, eq=False)
class Entry:
    """One process in a comparison.

    Attributes:
        name: by which it was handed in.
        settings: what the process says of itself.
        bytes_down: measured per round and client, from the server to the client.
        bytes_up: the same from the client to the server.
        histories: one for each seed, with columns `bytes_down` and `bytes_up`: of all
            clients that finished the round.
    """

    name: str
    settings: str
    bytes_down: int
    bytes_up: int
    histories: tuple[History, ...]

    def sent(self, direction: str) -> float:
        """Bytes of a whole run, `"down"` or `"up"`: the mean over seeds."""
        return float(np.mean([h[f"bytes_{direction}"].sum() for h in self.histories]))


@final
@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Several processes under one protocol; `compare` makes one.

    Attributes:
        entries: by name, in the order in which they were handed in.
        protocol: what was the same for all.
    """

    entries: Mapping[str, Entry]
    protocol: Protocol

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", MappingProxyType(dict(self.entries)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Comparison, (dict(self.entries), self.protocol)

    @property
    def finals(self) -> dict[str, NDArray[np.float64]]:
        """For each process the metric after the last round, `float64[seeds]`."""
        return {name: self.curves(name)[:, -1] for name in self.entries}

    def curves(self, name: str) -> NDArray[np.float64]:
        """`float64[seeds,rounds]`: the metric after each round that all seeds have.

        Runs with a limit of bytes may differ in rounds; each ends with its own last.
        """
        column = f"test.{self.protocol.metric}"
        found = [history[column] for history in self.entries[name].histories]
        shortest = min(map(len, found))
        return np.array([[*each[: shortest - 1], each[-1]] for each in found])

    @property
    def table(self) -> list[list[str]]:
        """The cells below `HEADS`, a row for each process."""
        return [self._row(entry) for entry in self.entries.values()]

    @property
    def title(self) -> str:
        """What was compared, in a line."""
        count = counted(len(self.entries), "process", "processes")
        return f"test {self.protocol.metric} of {count}; {self.protocol.terms}"

    @short_traceback
    def save(self, path: str | Path, *, by: str = "") -> Path:
        """Appends a line for each process to a leaderboard file, and returns the path.

        `leaderboard.merge` reads such files.

        Args:
            path: Of the file, `"team_a.jsonl"`; it is made if it is not there.
            by: Who hands it in.

        Raises:
            LeaderboardError: if the path is that of a folder.
        """
        path = Path(path)
        if path.is_dir():
            raise LeaderboardError(
                "lines are appended to a file",
                expected="a file",
                found=f"the folder {path}",
                where="path",
                do=f"save({str(path / 'team.jsonl')!r})",
            )
        lines = [self._line(entry, by) for entry in self.entries.values()]
        append_lines(path, map(json.dumps, lines))
        return path

    def _line(self, entry: Entry, by: str) -> dict[str, Any]:
        return {
            "process": entry.name,
            "by": by,
            "settings": entry.settings,
            "protocol": asdict(self.protocol),
            "finals": [float(each) for each in self.finals[entry.name]],
            "rounds": [len(history) for history in entry.histories],
            "bytes_down": entry.sent("down"),
            "bytes_up": entry.sent("up"),
            "versions": {"python": platform.python_version(), **_versions()},
        }

    def _row(self, entry: Entry) -> list[str]:
        finals = self.finals[entry.name]
        numbers = [finals.mean(), finals.min(), finals.max()]
        rounds = sorted({len(history) for history in entry.histories})
        sent = [f"{entry.sent(way) / 1e6:.2f}" for way in ("down", "up")]
        return [
            entry.name,
            *(measured(number, self.protocol.metric) for number in numbers),
            "-".join(map(str, rounds[:: max(1, len(rounds) - 1)])),
            *sent,
        ]

    def __repr__(self) -> str:
        rows = [list(HEADS), *self.table]
        names = aligned_left([name for name, *_ in rows])
        numbers = aligned([cells for _, *cells in rows])
        lines = map("  ".join, zip(names, numbers, strict=True))
        return "\n".join([f"Comparison: {self.title}", *lines])


def is_share(metric: str) -> bool:
    """Whether it is a share 0..1, of which more is better; a loss is neither."""
    return "accuracy" in metric


def measured(number: float, metric: str) -> str:
    """The value of a metric for people."""
    return f"{100 * number:.1f} %" if is_share(metric) else f"{number:.4g}"


def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # no TensorFlow, or nothing but a folder
            found[name] = "not installed"
    return found
