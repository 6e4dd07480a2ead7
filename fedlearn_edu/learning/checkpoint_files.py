# SPDX-License-Identifier: Apache-2.0
"""The file of one checkpoint: what is in it, byte for byte.

    fedlearn_edu checkpoint 1       a line with the version of the format
    9f86d081884c7d659a2feaa0…       a line with the SHA-256 of all that follows
    PK…                             an .npz of NumPy: arrays by name, never a pickle

One of the arrays, `metadata`, is a text in JSON. So `np.load` reads the file once the
two lines are cut off.
"""

import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu.errors import FedLearnError

_NAME = b"fedlearn_edu checkpoint "
_FIRST_LINE = _NAME + b"1\n"
_METADATA = "metadata"
_CAN_BE_SAVED = "biufcV"


class CheckpointError(FedLearnError, ValueError):
    """A checkpoint cannot be gone on from, or a state cannot be put into one."""


def encode(metadata: Mapping[str, Any], leaves: Mapping[str, Any]) -> bytes:
    """The content of a file.

    Raises:
        CheckpointError: if a leaf is no array of numbers.
    """
    arrays = {path: as_array(path, leaf) for path, leaf in leaves.items()}
    text = np.frombuffer(json.dumps(metadata).encode(), np.uint8)
    archive = io.BytesIO()
    np.savez(archive, allow_pickle=False, **{**arrays, _METADATA: text})
    rest = archive.getvalue()
    return b"".join([_FIRST_LINE, _checksum(rest), rest])


def decode(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Metadata and arrays of a file.

    Raises:
        CheckpointError: if it is no checkpoint, of another version, or damaged.
    """
    content = path.read_bytes()
    first_line, _, rest = content.partition(b"\n")
    if not first_line.startswith(_NAME):
        raise _refused(path, "begins like no checkpoint", _what_begins(content))
    if first_line + b"\n" != _FIRST_LINE:
        raise _refused(
            path, "has another version", first_line.decode("ascii", "replace")
        )
    length = len(_checksum(b""))
    if rest[:length] != _checksum(rest[length:]):
        raise _refused(path, "is damaged", "a checksum that is not that of the content")
    with np.load(io.BytesIO(rest[length:]), allow_pickle=False) as archive:
        arrays = dict(archive)
    return json.loads(arrays.pop(_METADATA).tobytes()), arrays


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


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode() + b"\n"


def _what_begins(content: bytes) -> str:
    return f"{content[:20]!r}" if content else "an empty file"


def _refused(path: Path, how: str, found: str) -> CheckpointError:
    return CheckpointError(
        f"{path.name} {how}",
        expected="a checkpoint as this package writes it",
        found=found,
        where=str(path),
    )
