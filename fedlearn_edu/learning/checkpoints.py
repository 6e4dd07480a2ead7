# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: a run on disk, which resumes bit for bit.

A folder belongs to one run, and to one program at a time. Sampling and shuffling depend
on the number of the round alone, so that states and history are all a file has to hold.
It is an `.npz` that `np.load` reads: the arrays of the state by their paths, and
`metadata`, a text in JSON. Such files hold a checksum of each array. A file is foreign
if the run differs in what `RunConfig.identity` lists: process and settings, model,
types of states, data of each client, batch size, seed of the order, client sampling.
"""

import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu.atomic import TEMPORARY, exclusive_lock, write_atomically
from fedlearn_edu.errors import (
    FedLearnError,
    bad_argument,
    short_traceback,
    whole_number,
)
from fedlearn_edu.learning.history import History
from fedlearn_edu.learning.pytree import flatten, rebuild
from fedlearn_edu.learning.run_state import Run

_FILE = re.compile(r"round_(\d+)\.npz")
_METADATA = "metadata"
_DAMAGES = (
    zipfile.BadZipFile,
    ValueError,
    LookupError,  # no such array
    EOFError,
    NotImplementedError,
    RuntimeError,
)
"""What reading a file raises of which some bits are not as they were."""
_CAN_BE_SAVED = "biufcV"


class CheckpointError(FedLearnError, ValueError):
    """A checkpoint cannot be resumed, or a state cannot be saved in one."""


@final
class CheckpointWriteError(FedLearnError, OSError):
    """A checkpoint could not be written. Its `run` is what was to be saved."""

    run: Run


@final
@dataclass(frozen=True)
class Checkpoints:
    """Where a run is saved, and how often.

    Attributes:
        folder: of one run; it is made if it is not there. While a run uses it, others
            are refused, except on drives that cannot lock files.
        every: after how many rounds; the last round is saved in any case.
        keep: how many of the newest files stay; `None` for all.

    Raises:
        CheckpointError: if the folder is no path, or a number makes no sense.
    """

    folder: str | Path
    every: int = 1
    keep: int | None = 3

    @short_traceback
    def __post_init__(self) -> None:
        folder: Any = self.folder
        if not folder or not isinstance(folder, str | PathLike):
            expected = "the path of a folder"
            raise bad_argument(folder, "folder", CheckpointError, expected=expected)
        whole_number(self.every, "every", 1, CheckpointError)
        if self.keep is not None:
            whole_number(self.keep, "keep", 1, CheckpointError)

    @property
    def files(self) -> list[Path]:
        """The checkpoints in the folder, the oldest first."""
        found = Path(self.folder).glob("round_*.npz")
        return sorted(filter(Path.is_file, filter(_round_of, found)), key=_round_of)


@final
class Store:
    """The checkpoints of one run: the newest is read, further ones are written.

    Args:
        checkpoints: Where, and how often.
        identity: What the run is; a file must say the same.
        first: The run before its first round, for the structure of its states.
    """

    def __init__(
        self, checkpoints: Checkpoints, identity: Mapping[str, str], first: Run
    ) -> None:
        self._where, self._identity, self._first = checkpoints, identity, first
        self._folder, self._saved = Path(checkpoints.folder), 0
        _leaves(first)  # refuses now what could not be saved later

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keeps other runs out of the folder.

        Raises:
            CheckpointError: if another run uses it.
        """
        with ExitStack() as held:
            try:
                held.enter_context(exclusive_lock(self._folder / ".lock", patience_s=0))
            except TimeoutError:
                raise CheckpointError(
                    "another run goes on in this folder",
                    expected="one run at a time in a folder for checkpoints",
                    found="a run that has not ended, in this program or another one",
                    where=str(self._folder),
                    do="let it end, or shut down its kernel; or take another folder",
                ) from None
            yield

    def newest(self) -> Run | None:
        """The run as it was saved last; `None` if the folder holds none.

        Raises:
            CheckpointError: if that file is damaged, or of another run. Nothing in the
                folder is changed then.
        """
        files = self._where.files
        run = self._read(files) if files else None
        self._saved = run.rounds if run else 0
        for left_over in self._folder.glob(f"round_*.npz*{TEMPORARY}"):
            if left_over.is_file():
                left_over.unlink(missing_ok=True)
        return run

    def save_if_due(self, run: Run) -> None:
        """Saves after each `every` rounds."""
        if run.rounds % self._where.every == 0:
            self.save(run)

    def save(self, run: Run) -> None:
        """Saves, unless that is done already, and lets the oldest files go.

        Raises:
            CheckpointWriteError: if the disk does not take it.
        """
        if run.rounds == self._saved:
            return
        rows = [dict(row) for row in run.history]
        metadata = {"identity": self._identity, "rows": rows}
        content = encode(metadata, _leaves(run))
        path = self._folder / f"round_{run.rounds:06}.npz"
        try:
            write_atomically(path, content)
        except OSError as error:
            raise _unwritten(path, error, run) from error
        self._saved = run.rounds
        keep = self._where.keep
        for old in self._where.files[: -keep if keep else 0]:
            old.unlink(missing_ok=True)

    def _read(self, files: Sequence[Path]) -> Run:
        path = files[-1]
        try:
            metadata, arrays = decode(path.read_bytes())
            self._check(path, metadata["identity"], len(metadata["rows"]))
            state, kept = _states(self._first, arrays)
            history = History.of(metadata["rows"])
        except CheckpointError as error:
            error.do = error.do or _instead(files)
            raise
        except _DAMAGES as error:
            raise CheckpointError(
                f"{path.name} is damaged",
                expected="a checkpoint as this package writes it",
                found=f"what cannot be read: {error}",
                where=str(path),
                do=_instead(files),
            ) from None
        return replace(self._first, state=state, client_states=kept, history=history)

    def _check(self, path: Path, found: Mapping[str, str], rounds: int) -> None:
        """Raises `CheckpointError` for a file of another run, or of another name."""
        ours = self._identity
        differing = [name for name in ours if ours[name] != found.get(name)]
        if differing:
            raise CheckpointError(
                f"{path.name} is of another run: other {', '.join(differing)}",
                expected="; ".join(f"{name} {ours[name]}" for name in differing),
                found="; ".join(f"{name} {found.get(name)}" for name in differing),
                where=str(path),
                do="take another folder for this run, or run what was begun here",
            )
        if rounds != _round_of(path):
            raise CheckpointError(
                f"{path.name} has another name than it was given",
                expected=f"the state after round {_round_of(path)}",
                found=f"the state after round {rounds}",
                where=str(path),
            )


def _leaves(run: Run) -> dict[str, Any]:
    """All arrays of a run; those of the clients stacked, client by client."""
    leaves = {f"state/{path}": leaf for path, leaf in flatten(run.state).items()}
    clients = [flatten(state) for state in run.client_states or ()]
    for path in clients[0] if clients else ():
        name = f"clients/{path}"
        leaves[name] = np.stack([as_array(name, client[path]) for client in clients])
    return {path: as_array(path, leaf) for path, leaf in leaves.items()}


def _states(first: Run, arrays: Mapping[str, Any]) -> tuple[Any, Any]:
    """The states with the structure of the first ones, and these arrays."""
    state = _restored(first.state, "state", lambda path: arrays[path])
    if first.client_states is None:
        return state, None
    clients = [
        _restored(client, "clients", lambda path, i=i: arrays[path][i])
        for i, client in enumerate(first.client_states)
    ]
    return state, tuple(clients)


def _restored(tree: Any, prefix: str, read: Any) -> Any:
    leaves = flatten(tree).items()
    return rebuild(tree, {p: like(leaf, read(f"{prefix}/{p}")) for p, leaf in leaves})


def _round_of(path: Path) -> int:
    found = _FILE.fullmatch(path.name)
    return int(found[1]) if found else 0


def _instead(files: Sequence[Path]) -> str:
    """What to do about a newest file that cannot be used."""
    if len(files) == 1:
        return "move the file away to begin anew, or take another folder"
    return f"move the file away to go on from {files[-2].name}, or take another folder"


def _unwritten(path: Path, error: OSError, run: Run) -> CheckpointWriteError:
    refused = CheckpointWriteError(
        "a checkpoint cannot be written",
        found=error.strerror or type(error).__name__,
        where=str(path),
        do="make room, or choose another folder; error.run is what was to be saved",
    )
    refused.run = run
    return refused


# ------------------------------------------------------------------ the file


def encode(metadata: Mapping[str, Any], arrays: Mapping[str, Any]) -> bytes:
    """The content of a file."""
    archive, told = io.BytesIO(), {_METADATA: np.array(json.dumps(metadata))}
    np.savez(archive, allow_pickle=False, **arrays, **told)
    return archive.getvalue()


def decode(content: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Metadata and arrays of a file; one of `_DAMAGES` if it is not as it was."""
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        arrays = dict(archive)  # all: a checksum is compared when its array is read
    return json.loads(str(arrays.pop(_METADATA))), arrays


def as_array(path: str, leaf: Any) -> NDArray[Any]:
    """A leaf of a state as an array that a file can hold.

    Raises:
        CheckpointError: if it is a text, or something else without numbers.
    """
    array = np.asarray(leaf)
    if array.dtype.kind not in _CAN_BE_SAVED:
        raise CheckpointError(
            "only numbers can be saved",
            expected="a state made of numbers and arrays of them",
            found=f"{array.dtype} at {path}",
            do="leave out checkpoints, or keep texts outside of the state",
        )
    return array


def like(leaf: Any, array: NDArray[Any]) -> Any:
    """The array as what the leaf is: a number, or an array, of the same type."""
    dtype = np.asarray(leaf).dtype
    if array.dtype.kind == "V":  # NumPy's files forget the name of such types: bfloat16
        array = array.view(dtype)
    if isinstance(leaf, np.generic):
        return array[()]
    return array if isinstance(leaf, np.ndarray) else array.item()
